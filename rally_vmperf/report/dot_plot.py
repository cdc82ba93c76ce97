"""The chart of losses with their intervals and limits, one per line.

Positions are percentages of the width, so that the chart fits any page.
"""

import collections.abc
import dataclasses
import math

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

#: The loss in percent above which the axis is logarithmic, so that small
#: losses remain visible next to one of several thousand.
_FAR = 150.0
_LINEAR_BELOW = 10.0
#: The share of the range that remains free on both sides.
_MARGIN = 0.04
#: The maximum number of lines.
MOST = 200


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the chart.

    :param comparison: The loss with its interval; None draws an empty line.
    :param status: The status whose colour and marker the loss has, a key of
        ``chart_style.GLYPHS``.
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


@dataclasses.dataclass(frozen=True)
class _Axis:
    """The horizontal axis.

    :param low: The smallest figure, or 0.
    :param high: The largest figure, or 0.
    """

    low: float
    high: float

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis is logarithmic except around zero."""
        return max(-self.low, self.high) > _FAR

    @property
    def ticks(self) -> list[float]:
        """The losses with a label."""
        if self.is_logarithmic:
            sizes = [_LINEAR_BELOW * 10**power for power in range(10)]
            ticks = [-size for size in reversed(sizes)] + [0.0, *sizes]
            return [tick for tick in ticks if self.low <= tick <= self.high]
        return chart_style.list_ticks(self.low, self.high)

    def position(self, percent: float) -> float:
        """Return the position of a loss in percent of the width."""
        low, high, place = map(
            self._scale, (self.low, self.high, min(percent, self.high))
        )
        share = (place - low) / (high - low or 1.0)
        share = min(max(share, 0.0), 1.0)
        return 100 * (_MARGIN + share * (1 - 2 * _MARGIN))

    def _scale(self, percent: float) -> float:
        """Return a loss on a logarithmic axis, if it is one."""
        size = abs(percent) / _LINEAR_BELOW
        if not self.is_logarithmic:
            return percent
        return math.copysign(
            size if size < 1 else 1 + math.log10(size), percent
        )


def draw(
    lines: collections.abc.Sequence[Line], name: str, axis: str, title: str
) -> markupsafe.Markup:
    """Return a chart with a loss, its interval and limits per line.

    :param name: The prefix of identifiers in the chart.
    :param axis: The title of the axis, with what its right side means in
        brackets at the end.
    :param title: The label for screen readers.
    """
    if not lines:
        return markupsafe.Markup()
    note = ""
    if len(lines) > MOST:
        note = (
            f"The first {MOST} of {len(lines)} are drawn; the table has all."
        )
        lines = lines[:MOST]
    ends = [0.0, *(end for line in lines for end in line.figures)]
    scale = _Axis(min(ends), max(ends))
    labels = markupsafe.Markup().join(
        markupsafe.Markup('<text x="{}%" y="14">{}</text>').format(
            _shorten(scale.position(tick)), f"{tick:g}"
        )
        for tick in scale.ticks
    )
    logarithmic = ", logarithmic" if scale.is_logarithmic else ""
    return markupsafe.Markup(
        '<div class="dots" role="img" aria-label="{}">{}'
        '<div class="axis"><svg>{}</svg><small>{}</small><small>{}</small>'
        "</div></div>"
    ).format(
        sanitize.printable(f"{title} {note}".strip()),
        markupsafe.Markup().join(
            _draw_line(line, scale, f"{name}-{position}")
            for position, line in enumerate(lines)
        ),
        labels,
        sanitize.printable(axis.replace(" (", f"{logarithmic} (", 1)),
        note,
    )


def _draw_line(line: Line, scale: _Axis, name: str) -> markupsafe.Markup:
    """Return the label, the marks and the figure of a line as markup."""
    marks = [
        _draw_stroke("zero" if tick == 0 else "tick", scale, tick, tick)
        for tick in scale.ticks
    ]
    text = ""
    if (comparison := line.comparison) is not None:
        text = f"{units.show_percent(comparison.overhead_percent)} %"
        if comparison.low is not None and comparison.high is not None:
            marks.append(
                _draw_stroke(
                    f"interval {line.status}",
                    scale,
                    comparison.low,
                    comparison.high,
                    f"{name}-interval",
                )
            )
    marks += [
        _draw_stroke(
            "limit", scale, limit, limit, f"{name}-limit{number or ''}"
        )
        for number, limit in enumerate(line.limits)
        if comparison is not None
    ]
    if comparison is not None:
        marks.append(
            markupsafe.Markup(
                '<text id="{}-overhead" class="{}" x="{}%" y="16">{}</text>'
            ).format(
                name,
                line.status,
                _shorten(scale.position(comparison.overhead_percent)),
                chart_style.GLYPHS[line.status],
            )
        )
    return markupsafe.Markup(
        "<p><span>{}</span><svg>{}</svg><b>{}</b></p>"
    ).format(
        sanitize.printable(line.label), markupsafe.Markup().join(marks), text
    )


def _draw_stroke(
    kind: str, scale: _Axis, start: float, end: float, name: str = ""
) -> markupsafe.Markup:
    """Return a line from a loss to another; a vertical one if they equal."""
    first, last = map(scale.position, (start, end))
    top, bottom = ("0", "100%") if start == end else ("11", "11")
    identifier = markupsafe.Markup(' id="{}"').format(name) if name else ""
    return markupsafe.Markup(
        '<line{} class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>'
    ).format(identifier, kind, _shorten(first), _shorten(last), top, bottom)


def _shorten(position: float) -> str:
    """Return a position with as many digits as a screen shows."""
    return f"{position:.2f}".rstrip("0").rstrip(".")
