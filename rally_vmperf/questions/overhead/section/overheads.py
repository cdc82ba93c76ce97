"""The drawing of all overheads with their intervals and limits."""

import collections.abc
import typing as t

import markupsafe
from matplotlib import figure

from rally_vmperf.measurement import rows
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import look

#: Overhead in percent from which the axis is logarithmic, so that the ones
#: near their limits stay apart beside one of several thousand.
_FAR = 150.0
_LINEAR_BELOW = 10.0


def draw(
    shown: collections.abc.Sequence[rows.Row], name: str
) -> markupsafe.Markup:
    """Return a line per metric: overhead, interval, limit.

    :param shown: rows with figures
    :param name: of the drawing; its identifiers begin with it
    """
    if not shown:
        return markupsafe.Markup()
    with look.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.9 + 0.3 * len(shown)), layout="constrained"
        )
        axes = drawn.add_subplot()
        axes.axvline(0, color=look.INK, linewidth=1)
        for position, row in enumerate(shown):
            if row.comparison is not None:
                _line(
                    axes, position, row, row.comparison, f"{name}-{position}"
                )
        _scale(axes, shown)
        look.by_metric(axes, [row.metric.name for row in shown], 0.6)
        scale = ", logarithmic" if axes.get_xscale() == "symlog" else ""
        axes.set_xlabel(
            f"overhead in percent of bare metal{scale} "
            "(right: the guest is worse)"
        )
        return look.svg(drawn, "Overhead of each metric with its interval")


def _line(
    axes: t.Any,
    position: int,
    row: rows.Row,
    comparison: loss.Comparison,
    gid: str,
) -> None:
    colour, mark = look.VERDICTS[row.status or "none"]
    value = comparison.overhead_percent
    if comparison.low is not None and comparison.high is not None:
        axes.plot(
            [comparison.low, comparison.high],
            [position, position],
            color=colour,
            linewidth=2,
            solid_capstyle="butt",
            marker="|",
            markersize=8,
            gid=f"{gid}-interval",
        )
    axes.plot(
        [value],
        [position],
        color=colour,
        marker=mark,
        markersize=7,
        markeredgecolor="white",
        markeredgewidth=0.8,
        linestyle="none",
        gid=f"{gid}-overhead",
    )
    if row.limit is not None:
        ends = [position - 0.38, position + 0.38]
        look.limit(axes, [row.limit] * 2, ends, f"{gid}-limit")
    axes.annotate(
        f"{units.show_percent(value)} %",
        (1.01, position),
        xycoords=("axes fraction", "data"),
        va="center",
        annotation_clip=False,
    )


def _scale(axes: t.Any, shown: collections.abc.Iterable[rows.Row]) -> None:
    """Scale the axis to hold everything; compress it for distant values."""
    ends = [0.0]
    for row in shown:
        found = row.comparison
        if found is not None:
            candidates = (found.overhead_percent, found.low, found.high)
            ends += [end for end in candidates if end is not None]
        if row.limit is not None:
            ends.append(row.limit)
    low, high = min(ends), max(ends)
    if max(-low, high) > _FAR:
        axes.set_xscale("symlog", linthresh=_LINEAR_BELOW)
        axes.set_xlim(1.5 * low - 1, 1.5 * high + 1)
        marks = [size for size in _marks() if low <= size <= 1.5 * high]
        axes.set_xticks(marks, [f"{size:g}" for size in marks])
        axes.minorticks_off()
    else:
        margin = 0.04 * (high - low) or 1.0
        axes.set_xlim(low - margin, high + margin)


def _marks() -> list[float]:
    """Return the ticks of a logarithmic axis."""
    sizes = [5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0]
    sizes += [10.0**power for power in range(4, 12)]
    return [-size for size in reversed(sizes)] + [0.0, *sizes]
