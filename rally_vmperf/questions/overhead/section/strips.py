"""Small charts of all samples of bare metal and each guest."""

import collections
import collections.abc
import typing as t

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.judging.results import figure_result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

_COLUMNS = 3
#: The width of the repetitions as a share of a machine's column.
_SPREAD = 0.6
_LONGEST_NAME = 12

MetricSamples = collections.abc.Iterable[sample.MetricSamples]
Series = list[tuple[str, str, list[float]]]


def draw(
    shown: collections.abc.Sequence[figure_result.FigureResult], name: str
) -> markupsafe.Markup:
    """Return an SVG chart with the samples of each metric over time.

    :param shown: The rows with samples.
    :param name: The prefix of identifiers in the chart.
    """
    if not shown:
        return markupsafe.Markup()
    with chart_style.settings(name):
        drawn, panels = chart_style.create_panels(
            name, [row.metric.name for row in shown], _COLUMNS, 1.75
        )
        for axes, row in zip(panels, shown, strict=True):
            _draw_panel(axes, row)
        return chart_style.to_svg(
            drawn, "Samples of bare metal and of each guest"
        )


def _draw_panel(axes: t.Any, row: figure_result.FigureResult) -> None:
    """Draw the samples of one metric, a column of points per source."""
    series = _list_series("bare metal ", chart_style.BARE, row.bare)
    series += _list_series("", chart_style.GUEST, row.guest)
    values = [value for _, _, samples in series for value in samples]
    factor, unit = units.scale_for(values, row.metric.unit)
    for column, (_, colour, samples) in enumerate(series):
        axes.plot(
            chart_style.spread_horizontally(column, len(samples), _SPREAD),
            [value * factor for value in samples],
            "o",
            color=colour,
            markersize=3.5,
            alpha=0.85,
            clip_on=False,
        )
    scale = sanitize.printable(unit) or "count"
    axes.set_ylabel(f"{scale}\n({row.metric.better} is better)", fontsize=7)
    axes.set_xticks(
        range(len(series)),
        [label for label, _, _ in series],
        rotation=90 if len(series) > 4 else 0,
    )
    axes.set_xlim(-0.6, max(1, len(series)) - 0.4)
    axes.ticklabel_format(axis="y", useOffset=False, style="plain")
    axes.grid(axis="y")
    axes.set_ylim(*_axis_range([value * factor for value in values]))


def _axis_range(values: list[float]) -> tuple[float, float]:
    """Return both ends of the axis: from zero if values are far apart.

    Otherwise, the axis is narrow and shows scatter and drift.
    """
    low, high = min(values), max(values)
    if low <= high / 2:
        return 0, high * 1.12 or 1.0
    margin = 0.2 * (high - low) or 0.1 * high
    return low - margin, high + margin


def _list_series(prefix: str, colour: str, side: MetricSamples) -> Series:
    """Return the label, the colour and the values of each source."""
    values_by_source: dict[str, list[float]] = collections.defaultdict(list)
    for samples in side:
        # A percentile over all machines has no source.
        by_source = samples.by_source or {"all": [*samples.values]}
        for source, values in by_source.items():
            values_by_source[source] += values
    if prefix and len(values_by_source) == 1:
        (only_values,) = values_by_source.values()
        return [(prefix.strip(), colour, only_values)]
    return [
        (_short_label(source, prefix), colour, values)
        for source, values in values_by_source.items()
    ]


def _short_label(source: str, prefix: str) -> str:
    """Return the name of a guest or a copy, shortened for an axis."""
    name = sanitize.printable(source)
    name = name.removeprefix("copy-") if prefix else name
    return f"{'bare ' if prefix else ''}{name[:_LONGEST_NAME]}"
