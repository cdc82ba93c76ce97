"""Small drawings of all samples: bare metal beside each guest."""

import collections.abc
import math
import typing as t

import markupsafe
from matplotlib import figure

from rally_vmperf import sanitize
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import rows
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import look

_COLUMNS = 3
#: Share of a machine's column that its repetitions spread over.
_SPREAD = 0.6
_LONGEST_NAME = 12

Gathered = collections.abc.Iterable[gathering.Gathered]
Series = list[tuple[str, str, list[float]]]


def draw(
    shown: collections.abc.Sequence[rows.Row], name: str
) -> markupsafe.Markup:
    """Return a panel per metric; samples stand in the order of time.

    :param shown: rows that have samples
    :param name: of the drawing; its identifiers begin with it
    """
    if not shown:
        return markupsafe.Markup()
    lines = math.ceil(len(shown) / _COLUMNS)
    with look.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 1.75 * lines), layout="constrained"
        )
        for place, row in enumerate(shown):
            axes = drawn.add_subplot(lines, _COLUMNS, place + 1)
            axes.set_gid(f"{name}-{place}")
            _panel(axes, row)
        return look.svg(drawn, "Samples of bare metal and of each guest")


def _panel(axes: t.Any, row: rows.Row) -> None:
    series = _series("bare metal ", look.BARE, row.bare)
    series += _series("", look.GUEST, row.guest)
    values = [value for _, _, own in series for value in own]
    factor, unit = units.scale_for(values, row.metric.unit)
    for column, (_, colour, own) in enumerate(series):
        axes.plot(
            look.abreast(column, len(own), _SPREAD),
            [value * factor for value in own],
            color=colour,
            marker="o",
            markersize=3.5,
            alpha=0.85,
            linestyle="none",
            clip_on=False,
        )
    scale = sanitize.printable(unit) or "count"
    name = sanitize.printable(row.metric.name)
    axes.set_title(name, loc="left", fontweight="bold")
    axes.set_ylabel(f"{scale}\n({row.metric.better} is better)", fontsize=7)
    axes.set_xticks(
        range(len(series)),
        [label for label, _, _ in series],
        rotation=90 if len(series) > 4 else 0,
    )
    axes.tick_params(labelsize=7)
    axes.set_xlim(-0.6, max(1, len(series)) - 0.4)
    axes.ticklabel_format(axis="y", useOffset=False, style="plain")
    axes.grid(axis="y")
    axes.set_ylim(*_reach([value * factor for value in values]))


def _reach(values: list[float]) -> tuple[float, float]:
    """Return the ends of the axis: from zero only if values are far apart.

    It shows how samples scatter and drift.
    """
    low, high = min(values), max(values)
    if low <= high / 2:
        return 0, high * 1.12 or 1.0
    margin = 0.2 * (high - low) or 0.1 * high
    return low - margin, high + margin


def _series(prefix: str, colour: str, side: Gathered) -> Series:
    """Return label, colour and values of each source, in order."""
    found: dict[str, list[float]] = {}
    for entry in side:
        for one in entry.observations:
            found.setdefault(one.source, []).append(one.sample.value)
        if not entry.observations:
            # Of a percentile that no machine has on its own.
            found.setdefault("all", []).extend(entry.values)
    if prefix and len(found) == 1:
        return [(prefix.strip(), colour, next(iter(found.values())))]
    return [
        (_short(source, prefix), colour, values)
        for source, values in found.items()
    ]


def _short(source: str, prefix: str) -> str:
    name = sanitize.printable(source)
    name = name.removeprefix("copy-") if prefix else name
    return f"{'bare ' if prefix else ''}{name[:_LONGEST_NAME]}"
