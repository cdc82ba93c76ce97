"""The chart of all overheads with their intervals and limits."""

import collections.abc
import typing as t

import markupsafe
from matplotlib import figure

from rally_vmperf.judging import rows
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

#: The overhead in percent above which the axis is logarithmic, so that small
#: overheads remain visible next to one of several thousand.
_FAR = 150.0
_LINEAR_BELOW = 10.0


def draw(
    shown: collections.abc.Sequence[rows.FigureResult], name: str
) -> markupsafe.Markup:
    """Return an SVG chart of overhead, interval and limit per metric.

    :param shown: The rows with figures.
    :param name: The prefix of identifiers in the chart.
    """
    if not shown:
        return markupsafe.Markup()
    with chart_style.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.9 + 0.3 * len(shown)), layout="constrained"
        )
        axes = drawn.add_subplot()
        axes.axvline(0, color=chart_style.INK, linewidth=1)
        for position, row in enumerate(shown):
            if row.comparison is not None:
                _draw_row(
                    axes, position, row, row.comparison, f"{name}-{position}"
                )
        _set_scale(axes, shown)
        chart_style.label_metrics(
            axes, [row.metric.name for row in shown], 0.6
        )
        scale = ", logarithmic" if axes.get_xscale() == "symlog" else ""
        axes.set_xlabel(
            f"overhead in percent of bare metal{scale} "
            "(right: the guest is worse)"
        )
        return chart_style.to_svg(
            drawn, "Overhead of each metric with its interval"
        )


def _draw_row(
    axes: t.Any,
    position: int,
    row: rows.FigureResult,
    comparison: loss.Comparison,
    gid: str,
) -> None:
    """Draw the overhead, the interval and the limit of one metric."""
    colour, mark = chart_style.VERDICTS[row.status or "none"]
    percent = comparison.overhead_percent
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
        [percent],
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
        chart_style.draw_limit(axes, [row.limit] * 2, ends, f"{gid}-limit")
    axes.annotate(
        f"{units.show_percent(percent)} %",
        (1.01, position),
        xycoords=("axes fraction", "data"),
        va="center",
        annotation_clip=False,
    )


def _set_scale(
    axes: t.Any, shown: collections.abc.Iterable[rows.FigureResult]
) -> None:
    """Scale the axis to all values; use a logarithm for large ones."""
    ends = [0.0]
    for row in shown:
        comparison = row.comparison
        if comparison is not None:
            candidates = (
                comparison.overhead_percent,
                comparison.low,
                comparison.high,
            )
            ends += [end for end in candidates if end is not None]
        if row.limit is not None:
            ends.append(row.limit)
    low, high = min(ends), max(ends)
    if max(-low, high) > _FAR:
        axes.set_xscale("symlog", linthresh=_LINEAR_BELOW)
        axes.set_xlim(1.5 * low - 1, 1.5 * high + 1)
        marks = [
            size for size in _tick_positions() if low <= size <= 1.5 * high
        ]
        axes.set_xticks(marks, [f"{size:g}" for size in marks])
        axes.minorticks_off()
    else:
        margin = 0.04 * (high - low) or 1.0
        axes.set_xlim(low - margin, high + margin)


def _tick_positions() -> list[float]:
    """Return the ticks of a logarithmic axis as a list of numbers."""
    sizes = [5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0]
    sizes += [10.0**power for power in range(4, 12)]
    return [-size for size in reversed(sizes)] + [0.0, *sizes]
