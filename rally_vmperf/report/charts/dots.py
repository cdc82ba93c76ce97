# SPDX-License-Identifier: Apache-2.0
"""The chart of figures with their intervals and limits, one per line.

Positions are percentages of the width, so that the chart fits any page.
"""

import collections.abc
import dataclasses
import math

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import units
from rally_vmperf.report.charts import style

#: The distance from the reference above which the axis is logarithmic, so that
#: small distances remain visible next to one of several thousand percent.
_FAR = 150.0
_LINEAR_BELOW = 10.0
#: The share of the range that remains free on both sides.
_MARGIN = 0.04
#: The maximum number of lines.
MOST = 200
#: The number of lines from which the axis has its figures on top as well.
_LONG = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dot:
    """A line of the chart.

    :param label: The label; empty for that of the line above.
    :param value: The figure in percent; None draws an empty line.
    :param ends: The ends of its interval; empty without one.
    :param status: The status whose colour and marker the figure has, a key of
        ``style.GLYPHS``.
    :param limits: The limits in percent.
    :param text: The text at the end of the line; empty for the figure.
    """

    label: str
    value: float | None
    ends: tuple[float, ...] = ()
    status: str = "none"
    limits: tuple[float, ...] = ()
    text: str = ""

    @property
    def figures(self) -> list[float]:
        """The limits, the figure and the finite ends of its interval."""
        figures = [*self.limits, *self.ends]
        if self.value is not None:
            figures.append(self.value)
        return [figure for figure in figures if math.isfinite(figure)]


def from_comparison(
    label: str,
    comparison: loss.Comparison,
    status: str,
    limits: tuple[float, ...] = (),
    sign: int = 1,
) -> Dot:
    """Return the dot of a loss with its interval.

    :param limits: The limits of the loss in percent.
    :param sign: 1 for a loss, -1 for a gain.
    """
    ends: tuple[float, ...] = ()
    if comparison.low is not None and comparison.high is not None:
        ends = (sign * comparison.low, sign * comparison.high)[::sign]
    return Dot(
        label=label,
        value=sign * comparison.overhead_percent,
        ends=ends,
        status=status,
        limits=tuple(sign * limit for limit in limits),
    )


@dataclasses.dataclass(frozen=True)
class _Axis:
    """The horizontal axis.

    :param low: The smallest figure, or the reference.
    :param high: The largest figure, or the reference.
    :param reference: The figure of no difference.
    """

    low: float
    high: float
    reference: float

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis is logarithmic except around the reference."""
        ends = (self.reference - self.low, self.high - self.reference)
        return max(ends) > _FAR

    @property
    def ticks(self) -> list[float]:
        """The figures with a label."""
        if not self.is_logarithmic:
            return style.list_ticks(self.low, self.high)
        sizes = [_LINEAR_BELOW * 10**power for power in range(10)]
        distances = [-size for size in reversed(sizes)] + [0.0, *sizes]
        ticks = [self.reference + distance for distance in distances]
        return [tick for tick in ticks if self.low <= tick <= self.high]

    def position(self, figure: float) -> float:
        """Return the position of a figure in percent of the width."""
        low, high, place = map(
            self._scale, (self.low, self.high, min(figure, self.high))
        )
        share = (place - low) / (high - low or 1.0)
        share = min(max(share, 0.0), 1.0)
        return round(100 * (_MARGIN + share * (1 - 2 * _MARGIN)), 2)

    def _scale(self, figure: float) -> float:
        """Return a figure on a logarithmic axis, if it is one."""
        distance = figure - self.reference
        size = abs(distance) / _LINEAR_BELOW
        if not self.is_logarithmic:
            return distance
        return math.copysign(
            size if size < 1 else 1 + math.log10(size), distance
        )


def draw(
    dots: collections.abc.Sequence[Dot],
    name: str,
    axis: str,
    title: str,
    reference: float = 0.0,
) -> markupsafe.Markup:
    """Return a chart with a figure, its interval and limits per line.

    :param name: The prefix of identifiers in the chart.
    :param axis: The title of the axis, with what its right side means in
        brackets at the end.
    :param title: The label for screen readers.
    :param reference: The figure of no difference, which has a solid line.
    """
    if not dots:
        return markupsafe.Markup()
    note = ""
    if len(dots) > MOST:
        note = f"The first {MOST} of {len(dots)} are drawn; the table has all."
        dots = dots[:MOST]
    ends = [reference, *(end for dot in dots for end in dot.figures)]
    scale = _Axis(min(ends), max(ends), reference)
    grid = [
        _draw_stroke("zero" if tick == reference else "tick", scale, tick)
        for tick in dict.fromkeys([*scale.ticks, reference])
    ]
    labels = markupsafe.Markup().join(
        style.create_element(
            "text", f"{tick:g}", x=f"{scale.position(tick):g}%", y="14"
        )
        for tick in scale.ticks
    )
    logarithmic = ", logarithmic" if scale.is_logarithmic else ""
    top = markupsafe.Markup()
    if len(dots) >= _LONG:
        top = markupsafe.Markup(
            '<div class="axis"><svg>{}</svg></div>'
        ).format(labels)
    return markupsafe.Markup(
        '<div class="dots" id="{}" role="img" aria-label="{}">{}{}'
        '<div class="axis"><svg>{}</svg><small>{}</small><small>{}</small>'
        "</div></div>"
    ).format(
        name,
        sanitize.printable(f"{title} {note}".strip()),
        top,
        markupsafe.Markup().join(
            _draw_dot(dot, scale, grid, f"{name}-{position}")
            for position, dot in enumerate(dots)
        ),
        labels,
        sanitize.printable(axis.replace(" (", f"{logarithmic} (", 1)),
        note,
    )


def _draw_dot(
    dot: Dot, scale: _Axis, grid: list[markupsafe.Markup], name: str
) -> markupsafe.Markup:
    """Return the label, the marks and the figure of a line as markup.

    :param grid: The lines of the axis.
    """
    marks = grid.copy()
    text = dot.text
    if dot.value is not None:
        text = text or f"{units.show_percent(dot.value)} %"
        if dot.ends:
            marks.append(
                _draw_stroke(
                    f"interval {dot.status}",
                    scale,
                    *dot.ends,
                    name=f"{name}-interval",
                )
            )
        marks += [
            _draw_stroke(
                "limit", scale, limit, name=f"{name}-limit{number or ''}"
            )
            for number, limit in enumerate(dot.limits)
        ]
        marks.append(
            style.create_element(
                "text",
                style.GLYPHS[dot.status],
                id=f"{name}-figure",
                style=dot.status,
                x=f"{scale.position(dot.value):g}%",
                y="16",
            )
        )
    line = style.create_element("span", dot.label)
    line += style.create_element("svg", markupsafe.Markup().join(marks))
    return style.create_element("p", line + style.create_element("b", text))


def _draw_stroke(
    kind: str, scale: _Axis, *ends: float, name: str = ""
) -> markupsafe.Markup:
    """Return a line from a figure to another; a vertical one at one."""
    first, *_, last = (f"{scale.position(end):g}%" for end in (*ends, *ends))
    is_vertical = len(ends) == 1
    return style.create_element(
        "line",
        id=name,
        style=kind,
        x1=first,
        x2=last,
        y1="0" if is_vertical else "11",
        y2="100%" if is_vertical else "11",
    )
