"""The chart of one metric against the number of guests."""

import collections.abc
import statistics

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import chart_style

#: The maximum number of repetitions in a chart; more become boxes.
MOST_POINTS = 200
#: Half the width of the marks of one number of guests, in guests.
_HALF = 0.36
#: The width over which repetitions are spread, in guests.
_SPREAD = 0.42
#: The size of a chart, and the left, right, top and bottom end of its axes.
_WIDTH, _HEIGHT = 320, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 32, 314, 20, 184
#: The number of guests up to which each has its mark on the axis.
_MOST_TICKS = 12

#: Numbers of guests and values.
Points = collections.abc.Sequence[tuple[float, float]]


class _Axes:
    """The axes of a chart with what is drawn on them.

    :param series: The metric.
    :param name: The prefix of identifiers.
    :param top: The largest value.
    """

    def __init__(self, series: shares.Series, name: str, top: float) -> None:
        self.first = min(share.guests for share in series.shares) - 0.6
        self.last = max(share.guests for share in series.shares) + 0.6
        self.top = top
        self._name = name
        self._elements: list[markupsafe.Markup] = []

    def x(self, guests: float) -> float:
        """Return the horizontal position of a number of guests."""
        share = (guests - self.first) / (self.last - self.first)
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        return round(_BOTTOM - value / self.top * (_BOTTOM - _TOP), 1)

    def add_path(self, style: str, path: str, gid: str = "") -> None:
        """Add a path in positions of the chart.

        :param style: The classes.
        :param gid: The identifier within the chart; "" for none.
        """
        self._elements.append(
            markupsafe.Markup('<path{}{} d="{}"/>').format(
                self._identify(gid), _classify(style), path
            )
        )

    def add_line(self, style: str, points: Points, gid: str = "") -> None:
        """Add a line through points, if there are any."""
        if points:
            places = [f"{self.x(x):g} {self.y(y):g}" for x, y in points]
            self.add_path(style, f"M{'L'.join(places)}", gid)

    def add_text(
        self, style: str, x: float, y: float, text: str, gid: str = ""
    ) -> None:
        """Add a text at a position of the chart."""
        self._elements.append(
            markupsafe.Markup('<text{}{} x="{:g}" y="{:g}">{}</text>').format(
                self._identify(gid),
                _classify(style),
                x,
                y,
                sanitize.printable(text),
            )
        )

    def add_mark(
        self, style: str, point: tuple[float, float], mark: str, gid: str
    ) -> None:
        """Add a character as a mark at a point."""
        x, y = point
        self.add_text(f"mark {style}", self.x(x), self.y(y) + 4, mark, gid)

    def render(self, part: str, label: str) -> markupsafe.Markup:
        """Return the chart as SVG markup.

        :param label: The label for screen readers.
        """
        return markupsafe.Markup(
            '<svg class="curve" viewBox="0 0 {} {}" role="img" '
            'aria-label="{}"><g{}>{}</g></svg>'
        ).format(
            _WIDTH,
            _HEIGHT,
            sanitize.printable(label),
            self._identify(part),
            markupsafe.Markup().join(self._elements),
        )

    def _identify(self, gid: str) -> markupsafe.Markup:
        """Return the attribute of an identifier, or ""."""
        attribute = markupsafe.Markup(' id="{}-{}"')
        return (
            attribute.format(self._name, gid) if gid else markupsafe.Markup()
        )


def draw(series: shares.Series, name: str) -> markupsafe.Markup:
    """Return an SVG chart of the rate of each guest, and of their total."""
    label = f"{series.row.metric.name}: {sentences.curve(series)}"
    charts = [_draw_each(series, name).render("each", f"{label} (each)")]
    if any(share.total is not None for share in series.shares):
        total = _draw_total(series, name)
        charts.append(total.render("total", f"{label} (total)"))
    return chart_style.arrange(charts)


def has_boxes(series: collections.abc.Iterable[shares.Series]) -> bool:
    """Return whether a metric has more repetitions than a chart."""
    return any(
        sum(len(share.repetitions) for share in each.shares) > MOST_POINTS
        for each in series
    )


def _draw_each(series: shares.Series, name: str) -> _Axes:
    """Return axes with the rate of each guest in percent."""
    limits = {
        share.guests: limit * 100
        for share in series.measured
        if (limit := sentences.limit_of(series, share)) is not None
    }
    top = max(
        100.0,
        *limits.values(),
        *(
            100 * value
            for share in series.shares
            for value in (
                *share.repetitions,
                share.value or 0,
                share.bare or 0,
                *(share.ends or ()),
            )
        ),
    )
    axes = _Axes(series, name, top * 1.06)
    whole = sentences.reference_label(series)
    _draw_frame(axes, series, f"each guest, % of {whole}")
    _draw_repetitions(axes, series, "repetitions", 100)
    _draw_curve(axes, series, "bare", "bare", 100)
    _draw_curve(axes, series, "value", "mean", 100)
    for share in series.measured:
        gid = str(share.guests)
        _draw_marker(axes, share, series, gid)
        if series.row.statistic == "worst" and share.worst is not None:
            point = (share.guests, share.worst * 100)
            axes.add_mark("none", point, "▼", f"{gid}-worst")
        if (limit := limits.get(share.guests)) is not None:
            ends = (share.guests - _HALF, share.guests + _HALF)
            line = [(end, limit) for end in ends]
            axes.add_line("limit", line, f"{gid}-limit")
    return axes


def _draw_total(series: shares.Series, name: str) -> _Axes:
    """Return axes with the total rate in solo guests."""
    top = 1.15 * max(
        1.0,
        *(
            value
            for share in series.shares
            for value in (
                *share.totals,
                share.total or 0,
                share.bare_total or 0,
            )
        ),
    )
    axes = _Axes(series, name, top)
    title = f"{sentences.total_of(series)}: {sentences.unit(series)}"
    _draw_frame(axes, series, title)
    end = min(axes.last, top)
    axes.add_line("", [(axes.first, max(axes.first, 0)), (end, end)])
    _draw_repetitions(axes, series, "totals", 1)
    _draw_curve(axes, series, "bare_total", "bare-total", 1)
    _draw_curve(axes, series, "total", "sum", 1)
    for share in series.shares:
        if share.total is not None and not share.void:
            axes.add_mark("none", (share.guests, share.total), "●", "")
    return axes


def _draw_repetitions(
    axes: _Axes, series: shares.Series, field: str, factor: float
) -> None:
    """Draw the repetitions around their mean in order of time, or boxes.

    :param field: The property of a share with its repetitions.
    """
    with_boxes = has_boxes([series])
    for share in series.shares:
        values = [value * factor for value in getattr(share, field)]
        if with_boxes and len(values) > 1:
            _draw_box(axes, share.guests, values)
            continue
        places = chart_style.spread_horizontally(
            share.guests, len(values), _SPREAD
        )
        path = "".join(
            f"M{axes.x(place):g} {axes.y(value):g}h0"
            for place, value in zip(places, values, strict=True)
        )
        if path:
            axes.add_path("points", path)


def _draw_box(axes: _Axes, guests: int, values: list[float]) -> None:
    """Draw the extremes and the quartiles of the repetitions."""
    first, _, third = statistics.quantiles(values, method="inclusive")
    bottom, lower, upper, top = map(
        axes.y, (min(values), first, third, max(values))
    )
    centre, left, right = map(
        axes.x, (guests, guests - _SPREAD / 2, guests + _SPREAD / 2)
    )
    axes.add_path(
        "box",
        f"M{centre:g} {bottom:g}V{lower:g}M{centre:g} {upper:g}V{top:g}"
        f"M{left:g} {lower:g}H{right:g}V{upper:g}H{left:g}Z",
    )


def _draw_curve(
    axes: _Axes, series: shares.Series, field: str, gid: str, factor: float
) -> None:
    """Draw a line through the measured points that are not void.

    :param field: The property of a share; that of bare metal starts with
        "bare".
    """
    is_bare = field.startswith("bare")
    points = [
        (share.guests, getattr(share, field) * factor)
        for share in series.shares
        if getattr(share, field) is not None and (is_bare or not share.void)
    ]
    axes.add_line("bare" if is_bare else "guest", points, gid)
    for point in points if is_bare else ():
        axes.add_mark("void", point, "▪", "")


def _draw_marker(
    axes: _Axes, share: shares.Share, series: shares.Series, gid: str
) -> None:
    """Draw the mean guest and its interval; the marker is the verdict."""
    status = series.row.statuses.get(share.guests) or "none"
    status = "void" if share.void else status
    if share.ends is not None:
        ends = [(share.guests, end * 100) for end in share.ends]
        axes.add_line(f"interval {status}", ends, f"{gid}-interval")
    mark = "□" if share.void else chart_style.GLYPHS[status]
    axes.add_mark(status, (share.guests, (share.value or 0) * 100), mark, gid)


def _draw_frame(axes: _Axes, series: shares.Series, title: str) -> None:
    """Draw title, grid and ticks; shade levels that are void or missing."""
    for share in series.shares:
        if share.void or share.value is None:
            left, right = (
                axes.x(share.guests + side) for side in (-_HALF, _HALF)
            )
            axes.add_path(
                "shade",
                f"M{left:g} {_TOP}H{right:g}V{_BOTTOM}H{left:g}Z",
            )
    for tick in chart_style.list_ticks(0, axes.top):
        height = axes.y(tick)
        axes.add_path("", f"M{_LEFT} {height:g}H{_RIGHT}")
        axes.add_text("right", _LEFT - 4, height + 3, f"{tick:g}")
    levels = [share.guests for share in series.shares]
    labels = _separate_ticks(levels)
    for level in labels[:: -(-len(labels) // _MOST_TICKS)]:
        axes.add_text("", axes.x(level), _BOTTOM + 14, str(level))
    middle = (_LEFT + _RIGHT) // 2
    axes.add_text("", middle, _HEIGHT - 6, "guests")
    axes.add_text("title", 2, 12, title)


def _separate_ticks(levels: list[int]) -> list[int]:
    """Return the levels to label so that labels do not overlap, a list."""
    labelled: list[int] = []
    for level in reversed(levels):
        if not labelled or labelled[-1] - level >= levels[-1] / 24:
            labelled.append(level)
    return labelled


def _classify(style: str) -> markupsafe.Markup:
    """Return the attribute of classes, or ""."""
    attribute = markupsafe.Markup(' class="{}"')
    return attribute.format(style) if style else markupsafe.Markup()
