"""The chart of losses with their intervals and limits, one per line."""

import collections.abc
import dataclasses
import math
import typing as t

import markupsafe
from matplotlib import figure

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

#: The loss in percent above which the axis is logarithmic, so that small
#: losses remain visible next to one of several thousand.
_FAR = 150.0
_LINEAR_BELOW = 10.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the chart.

    :param comparison: The loss with its interval; None draws an empty line.
    :param status: The status whose colour and marker the loss has, a key of
        ``chart_style.VERDICTS``.
    :param limits: The limits in percent.
    """

    label: str
    comparison: loss.Comparison | None
    status: str
    limits: tuple[float, ...] = ()

    @property
    def figures(self) -> list[float]:
        """The limits, the loss and the finite ends of its interval."""
        comparison = self.comparison
        if comparison is None:
            return list(self.limits)
        ends = (comparison.overhead_percent, comparison.low, comparison.high)
        return [
            *self.limits,
            *(end for end in ends if end is not None and math.isfinite(end)),
        ]


def draw(
    lines: collections.abc.Sequence[Line], name: str, axis: str, title: str
) -> markupsafe.Markup:
    """Return an SVG chart with a loss, its interval and limits per line.

    :param name: The prefix of identifiers in the chart.
    :param axis: The title of the axis, with what its right side means in
        brackets at the end.
    :param title: The label for screen readers.
    """
    if not lines:
        return markupsafe.Markup()
    with chart_style.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.9 + 0.3 * len(lines)), layout="constrained"
        )
        axes = drawn.add_subplot()
        axes.axvline(0, color=chart_style.INK, linewidth=1)
        for position, line in enumerate(lines):
            if line.comparison is not None:
                _draw_line(
                    axes, position, line, line.comparison, f"{name}-{position}"
                )
        _set_scale(axes, lines)
        chart_style.label_metrics(axes, [line.label for line in lines], 0.6)
        scale = ", logarithmic" if axes.get_xscale() == "symlog" else ""
        axes.set_xlabel(axis.replace(" (", f"{scale} (", 1))
        return chart_style.to_svg(drawn, title)


def _draw_line(
    axes: t.Any,
    position: int,
    line: Line,
    comparison: loss.Comparison,
    gid: str,
) -> None:
    """Draw the loss, the interval and the limits of one line."""
    percent = comparison.overhead_percent
    if comparison.low is not None:
        axes.plot(
            [comparison.low, comparison.high],
            [position, position],
            color=chart_style.VERDICTS[line.status][0],
            linewidth=2,
            solid_capstyle="butt",
            marker="|",
            markersize=8,
            gid=f"{gid}-interval",
        )
    chart_style.draw_mark(
        axes, percent, position, line.status, f"{gid}-overhead"
    )
    for number, limit in enumerate(line.limits):
        ends = [position - 0.38, position + 0.38]
        chart_style.draw_limit(
            axes, [limit] * 2, ends, f"{gid}-limit{number or ''}"
        )
    axes.annotate(
        f"{units.show_percent(percent)} %",
        (1.01, position),
        xycoords=("axes fraction", "data"),
        va="center",
        annotation_clip=False,
    )


def _set_scale(axes: t.Any, lines: collections.abc.Iterable[Line]) -> None:
    """Scale the axis to all values; use a logarithm for large ones."""
    ends = [0.0, *(end for line in lines for end in line.figures)]
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
