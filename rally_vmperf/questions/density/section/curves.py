# SPDX-License-Identifier: Apache-2.0
"""The charts of rates against the number of guests."""

import collections.abc

import markupsafe

from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report.charts import dots
from rally_vmperf.report.charts import lines
from rally_vmperf.report.charts import style

#: The maximum number of repetitions in a chart; more become boxes.
MOST_POINTS = 200
#: The maximum number of levels of a metric in the chart of all metrics; the
#: charts of each metric have all levels.
_MOST_LEVELS = 8
#: The largest end of an interval, in rates of a solo guest or of the guest. A
#: longer one would hide the differences between levels, and is cut.
_MAX_INTERVAL_RATIO = 1.5
#: Half the width of the marks of one number of guests, in guests.
_HALF = 0.36
#: The space on both sides of the levels, in guests.
_SIDE = 0.6
#: The size of the name of a load, as a share of that of a chart.
_NAME_SHARE = 0.09
#: The width over which repetitions are spread, in guests.
_SPREAD = 0.42

Metrics = collections.abc.Sequence[shares.ShareSeries]


def draw_all(metrics: Metrics, name: str) -> markupsafe.Markup:
    """Return a chart with the loss of a guest for each metric and level.

    The reference has no loss, and no line of its own.

    :param metrics: The measured metrics.
    :param name: The identifier of the chart.
    """
    levels = list_levels(metrics)
    label = "Loss of each guest, all metrics: " + "; ".join(
        f"{series.row.metric.name}, {sentences.curve(series)}"
        for series in metrics
    )
    references = dict.fromkeys(map(sentences.reference_label, metrics))
    return dots.draw(
        [dot for series in metrics for dot in _list_dots(series, levels)],
        name,
        f"loss of each guest in percent of {', or of '.join(references)} "
        "(right: more)",
        label,
        reference=0.0,
    )


def list_levels(metrics: Metrics) -> list[int]:
    """Return the numbers of guests in the chart of all metrics, a list."""
    levels = {
        share.guests
        for series in metrics
        for share in series.shares
        if share.guests != series.base
    }
    most = max(2, min(_MOST_LEVELS, dots.MOST // max(1, len(metrics))))
    return style.select_evenly(sorted(levels), most)


def _list_dots(
    series: shares.ShareSeries, levels: collections.abc.Container[int]
) -> list[dots.Dot]:
    """Return the loss of a metric at each level, with interval and limit."""
    shown: list[dots.Dot] = []
    for share in series.shares:
        if share.guests == series.base or share.guests not in levels:
            continue
        label = units.number_of("guest", share.guests)
        limit = sentences.limit_of(series, share)
        longest = _MAX_INTERVAL_RATIO * max(1.0, share.value or 0)
        shown.append(
            dots.Dot(
                label=label if shown else f"{series.row.metric.name}, {label}",
                value=None if share.value is None else _loss(share.value),
                ends=tuple(
                    _loss(min(end, longest))
                    for end in reversed(share.ends or ())
                ),
                status=_status(series, share),
                limits=() if limit is None else (_loss(limit),),
                text="not measured" if share.value is None else "",
            )
        )
    return shown


def draw_loads(
    by_load: collections.abc.Mapping[str, shares.ShareSeries],
    metric: str,
    name: str,
) -> markupsafe.Markup:
    """Return a chart of the loss of a metric, with a line for each load.

    :param by_load: The metric by load.
    :param metric: The name of the metric.
    :param name: The identifier of the chart.
    """
    shown = [
        line
        for series in by_load.values()
        for line in _list_load_lines(series)
    ]
    heights = [0.0, *(height for line in shown for _, height in line.points)]
    (limit, *_) = (series.row.limit for series in by_load.values())
    levels = sorted(
        {share.guests for each in by_load.values() for share in each.shares}
    )
    space = max(_SIDE / 2, _NAME_SHARE * (levels[-1] - levels[0]))
    low, high = levels[0] - space, levels[-1] + 2 * space
    if limit is not None:
        heights.append(limit)
        points = [(low, limit), (high, limit)]
        shown.append(lines.ChartLine(style="limit", points=points))
    axis = lines.ChartAxis(low=min(heights), high=max(heights) * 1.06 or 1.0)
    shown += _list_load_names(by_load, levels[-1] + space, axis)
    label = f"Loss of {metric}, in percent: " + "; ".join(
        f"at {load}, {sentences.curve(series)}"
        for load, series in by_load.items()
    )
    return lines.draw(
        f"{metric}: loss of each guest, %",
        shown,
        lines.ChartAxis(
            low=low,
            high=high,
            labels={level: str(level) for level in levels},
            title="guests",
        ),
        axis,
        label=label,
        name=name,
    )


def _list_load_names(
    by_load: collections.abc.Mapping[str, shares.ShareSeries],
    place: float,
    axis: lines.ChartAxis,
) -> collections.abc.Iterator[lines.ChartLine]:
    """Yield the name of each load at the end of its line, none over another.

    :param place: The horizontal position.
    :param axis: The vertical axis.
    """
    ends = {
        load: _loss(values[-1])
        for load, series in by_load.items()
        if (
            values := [
                share.value
                for share in series.measured
                if share.value is not None
            ]
        )
    }
    lowest = axis.low
    for load, height in sorted(ends.items(), key=lambda end: end[1]):
        height = max(height, lowest)
        lowest = height + _NAME_SHARE * (axis.high - axis.low)
        yield lines.ChartLine(
            style="void",
            points=[(place, height)],
            mark=load.removesuffix(" load"),
        )


def _list_load_lines(
    series: shares.ShareSeries,
) -> collections.abc.Iterator[lines.ChartLine]:
    """Yield the line of a load, and the mark of each level."""
    points: list[tuple[float, float]] = []
    marks = []
    for share in series.measured:
        if share.value is None:
            continue
        point = (share.guests, _loss(share.value))
        points.append(point)
        status = _status(series, share)
        marks.append(
            lines.ChartLine(
                style=status, points=[point], mark=style.GLYPHS[status]
            )
        )
    yield lines.ChartLine(style="guest", points=points)
    yield from marks


def _loss(share: float) -> float:
    """Return the loss of a rate in percent, from its share."""
    return (1 - share) * 100


def draw(series: shares.ShareSeries, name: str) -> markupsafe.Markup:
    """Return a chart of the rate of each guest, and one of their total."""
    charts = [_draw_each(series, f"{name}-each")]
    if any(share.total is not None for share in series.shares):
        charts.append(_draw_total(series, f"{name}-total"))
    return style.arrange(charts)


def has_boxes(metrics: collections.abc.Iterable[shares.ShareSeries]) -> bool:
    """Return whether a metric has more repetitions than a chart."""
    return any(
        sum(len(share.repetitions) for share in series.shares) > MOST_POINTS
        for series in metrics
    )


def _draw_each(series: shares.ShareSeries, name: str) -> markupsafe.Markup:
    """Return the chart of the rate of each guest in percent."""
    shown = _list_repetitions(series, "repetitions", 100)
    shown += _list_curves(series, "bare", "bare", 100)
    shown += _list_curves(series, "value", "mean", 100)
    heights = [
        100.0,
        *(height for line in shown for _, height in line.points),
    ]
    longest = _MAX_INTERVAL_RATIO * max(heights)
    for share in series.measured:
        gid = str(share.guests)
        percent = 100 * (share.value or 0)
        status = _status(series, share)
        if share.ends is not None:
            ends = [(share.guests, end * 100) for end in share.ends]
            classes = f"interval {status}"
            shown.append(
                lines.ChartLine(
                    style=classes, points=ends, name=f"{gid}-interval"
                )
            )
            heights.append(min(100 * share.ends[1], longest))
        mark = "□" if share.void else style.GLYPHS[status]
        shown.append(
            lines.ChartLine(
                style=status,
                points=[(share.guests, percent)],
                mark=mark,
                name=gid,
            )
        )
        if series.row.statistic == "worst" and share.slowest is not None:
            point = (share.guests, share.slowest * 100)
            shown.append(
                lines.ChartLine(
                    style="none",
                    points=[point],
                    mark="▼",
                    name=f"{gid}-slowest",
                )
            )
        if (limit := sentences.limit_of(series, share)) is not None:
            line = [
                (share.guests + side, limit * 100) for side in (-_HALF, _HALF)
            ]
            shown.append(
                lines.ChartLine(
                    style="limit", points=line, name=f"{gid}-limit"
                )
            )
            heights.append(limit * 100)
    title = f"each guest, % of {sentences.reference_label(series)}"
    return _draw_chart(series, shown, title, max(heights) * 1.06, name)


def _draw_total(series: shares.ShareSeries, name: str) -> markupsafe.Markup:
    """Return the chart of the total rate in solo guests."""
    shown = _list_repetitions(series, "totals", 1)
    shown += _list_curves(series, "bare_total", "bare", 1)
    shown += _list_curves(series, "total", "sum", 1)
    top = 1.15 * max(
        1.0, *(height for line in shown for _, height in line.points)
    )
    start, end = (
        min(series.shares[place].guests + side, top)
        for place, side in ((0, -_SIDE), (-1, _SIDE))
    )
    whole = [(start, start), (end, end)]
    shown.insert(0, lines.ChartLine(style="whole", points=whole))
    shown += [
        lines.ChartLine(
            style="none", points=[(share.guests, share.total)], mark="●"
        )
        for share in series.shares
        if share.total is not None and not share.void
    ]
    title = f"{sentences.total_of(series)}: {sentences.unit(series)}"
    return _draw_chart(series, shown, title, top, name)


def _draw_chart(
    series: shares.ShareSeries,
    shown: list[lines.ChartLine],
    title: str,
    top: float,
    name: str,
) -> markupsafe.Markup:
    """Return a chart over guests; shade levels that are void or missing."""
    levels = [share.guests for share in series.shares]
    low, high = min(levels) - _SIDE, max(levels) + _SIDE
    shades = [
        lines.ChartLine(
            style="shade",
            points=[
                (share.guests + side, height)
                for side, height in (
                    *((-_HALF, 0), (-_HALF, top)),
                    *((_HALF, top), (_HALF, 0)),
                )
            ],
        )
        for share in series.shares
        if share.void or share.value is None
    ]
    label = f"{series.row.metric.name}: {sentences.curve(series)} ({title})"
    return lines.draw(
        title,
        [*shades, *shown],
        lines.ChartAxis(
            low=low,
            high=high,
            labels={level: str(level) for level in levels},
            title="guests",
        ),
        lines.ChartAxis(low=0, high=top),
        label=label,
        name=name,
    )


def _list_repetitions(
    series: shares.ShareSeries, field: str, factor: float
) -> list[lines.ChartLine]:
    """Return the repetitions around their mean in order of time, or boxes.

    :param field: The property of a share with its repetitions.
    """
    with_box = has_boxes([series])
    return [
        line
        for share in series.shares
        for line in lines.draw_samples(
            [rate * factor for rate in getattr(share, field)],
            share.guests,
            _SPREAD,
            "guest faint",
            with_box=with_box,
        )
    ]


def _list_curves(
    series: shares.ShareSeries, field: str, name: str, factor: float
) -> list[lines.ChartLine]:
    """Return the line through the measured points that are not void.

    :param field: The property of a share; that of bare metal starts with
        "bare", and its points have marks.
    """
    is_bare = field.startswith("bare")
    points = [
        (share.guests, getattr(share, field) * factor)
        for share in series.shares
        if getattr(share, field) is not None and (is_bare or not share.void)
    ]
    classes = "bare" if is_bare else "guest"
    shown = [lines.ChartLine(style=classes, points=points, name=name)]
    if is_bare:
        shown.append(lines.ChartLine(style="void", points=points, mark="▪"))
    return shown


def _status(series: shares.ShareSeries, share: shares.Share) -> str:
    """Return the status of a level as a key of the marks."""
    status = series.row.statuses.get(share.guests) or "none"
    return "void" if share.void else status
