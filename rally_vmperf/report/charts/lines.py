# SPDX-License-Identifier: Apache-2.0
"""The chart of lines over a number: guests, seconds, a share, or a column.

All that a chart shows is a line with a style: curves, intervals, limits,
areas, the points and the boxes of samples.
"""

import collections.abc
import dataclasses
import math
import statistics

import markupsafe

from rally_vmperf.report.charts import style

#: The size of a chart, and the left, right, top and bottom end of its axes.
_WIDTH, _HEIGHT = 320, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 314, 6, 166
#: The width of a character of a label.
_CHARACTER = 6.2
#: The minimum distance of labels on a vertical axis.
_LABEL_HEIGHT = 12

#: Positions on both axes.
Points = collections.abc.Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChartLine:
    """A line through points, or a mark at each of them.

    :param style: The classes of colour, width and dashes in ``page.css``.
    :param name: The identifier within the chart; empty for none.
    :param mark: The character at each point; empty for a line.
    :param is_scattered: Whether the points are dots without a line.
    """

    style: str
    points: Points
    name: str = ""
    mark: str = ""
    is_scattered: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChartAxis:
    """An axis; what lies beyond its ends is drawn at the ends.

    :param labels: The values that have a label, in ascending order; None
        for round numbers.
    """

    low: float
    high: float
    labels: collections.abc.Mapping[float, str] | None = None
    title: str = ""
    is_logarithmic: bool = False

    @property
    def ticks(self) -> dict[float, str]:
        """The labels by value."""
        if self.labels is not None:
            return {**self.labels}
        ticks = style.list_ticks(self.low, self.high)
        if self.is_logarithmic:
            first, last = (
                math.floor(math.log10(end)) for end in (self.low, self.high)
            )
            ticks = [
                factor * 10.0**power
                for power in range(first, last + 1)
                for factor in (1, 2, 5)
                if self.low <= factor * 10.0**power <= self.high
            ]
        return {tick: f"{tick:g}" for tick in ticks}

    def place(self, number: float, start: float, end: float) -> float:
        """Return the position of a number between two positions."""
        low, high = self.low, self.high
        number = min(max(number, low), high)
        if self.is_logarithmic:
            low, high, number = map(math.log, (low, high, number))
        share = (number - low) / (high - low or 1.0)
        return round(start + share * (end - start), 1)


def draw(
    title: str,
    lines: collections.abc.Iterable[ChartLine],
    x: ChartAxis,
    y: ChartAxis,
    *,
    label: str,
    name: str,
    note: str = "",
) -> markupsafe.Markup:
    """Return a chart as HTML with SVG.

    :param label: The label for screen readers.
    :param name: The identifier of the chart, and the prefix of others.
    :param note: The text after the title.
    """
    elements = [*_draw_frame(x, y)]
    for line in lines:
        elements += _draw_line(line, x, y, name)
    chart = style.create_element(
        "svg",
        markupsafe.Markup().join(elements),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=label,
        id=name,
    )
    head = style.create_element("b", title)
    if note:
        head += markupsafe.Markup(" ") + style.create_element("small", note)
    return style.create_element("div", head + chart, style="chart")


def draw_samples(
    samples: collections.abc.Sequence[float],
    centre: float,
    width: float,
    colour: str = "guest",
    *,
    with_box: bool,
) -> list[ChartLine]:
    """Return samples as points in the order of time, or as a box, lines.

    :param centre: The position on the horizontal axis.
    :param width: The width on that axis.
    :param with_box: True for the extremes, the quartiles and the median.
    """
    if with_box and len(samples) > 1:
        first, median, third = statistics.quantiles(
            samples, method="inclusive"
        )
        left, right = centre - width / 2, centre + width / 2
        box = (
            *((centre, min(samples)), (centre, first), (left, first)),
            *((left, median), (right, median), (left, median)),
            *((left, third), (centre, third), (centre, max(samples))),
            *((centre, third), (right, third), (right, first)),
            (centre, first),
        )
        return [ChartLine(style=f"{colour} box", points=box)]
    step = width / max(1, len(samples) - 1)
    start = centre - width / 2 if len(samples) > 1 else centre
    points = [
        (start + place * step, sample) for place, sample in enumerate(samples)
    ]
    return [
        ChartLine(style=f"{colour} points", points=points, is_scattered=True)
    ]


def _draw_line(
    line: ChartLine, x: ChartAxis, y: ChartAxis, name: str
) -> list[markupsafe.Markup]:
    """Return the elements of a line."""
    places = [
        (x.place(first, _LEFT, _RIGHT), y.place(second, _BOTTOM, _TOP))
        for first, second in line.points
    ]
    identifier = line.name and f"{name}-{line.name}"
    if line.mark:
        return [
            style.create_element(
                "text",
                line.mark,
                style=f"mark {line.style}",
                x=f"{left:g}",
                y=f"{top + 4:g}",
                id=identifier,
            )
            for left, top in places
        ]
    texts = [f"{left:g} {top:g}" for left, top in places]
    path = f"M{'L'.join(texts)}"
    if line.is_scattered:
        path = "".join(f"M{text}h0" for text in texts)
    return [
        style.create_element("path", style=line.style, d=path, id=identifier)
        for _ in texts[:1]
    ]


def _draw_frame(
    x: ChartAxis, y: ChartAxis
) -> collections.abc.Iterator[markupsafe.Markup]:
    """Yield the grid, the labels that have room, and the title below."""
    lowest = math.inf
    for tick, text in y.ticks.items():
        top = y.place(tick, _BOTTOM, _TOP)
        if lowest - top >= _LABEL_HEIGHT:
            lowest = top
            yield style.create_element("path", d=f"M{_LEFT} {top:g}H{_RIGHT}")
            yield _draw_text(text, _LEFT - 4, top + 3, "right")
    leftmost = math.inf
    for tick, text in reversed(x.ticks.items()):
        half = _CHARACTER * len(text) / 2
        centre = min(x.place(tick, _LEFT, _RIGHT), _WIDTH - half)
        if centre + half <= leftmost:
            leftmost = centre - half
            yield _draw_text(text, centre, _BOTTOM + 14)
    yield _draw_text(x.title, (_LEFT + _RIGHT) // 2, _HEIGHT - 6)


def _draw_text(
    text: str, x: float, y: float, classes: str = ""
) -> markupsafe.Markup:
    """Return a text at a position of the chart."""
    return style.create_element(
        "text", text, style=classes, x=f"{x:g}", y=f"{y:g}"
    )
