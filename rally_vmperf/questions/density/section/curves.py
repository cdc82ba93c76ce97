"""The drawing of one metric against the number of guests."""

import collections.abc
import typing as t

import markupsafe
import numpy
from matplotlib import figure

from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import chart_style

#: Half the width of what stands at one number of guests.
_HALF = 0.36
#: Width over which repetitions are spread.
_SPREAD = 0.42
#: The width and the height in inches.
_SIZE = (3.2, 2.3)
#: The same in all drawings, so that they stand in line.
_MARGINS = {
    "left": 0.1,
    "right": 0.99,
    "bottom": 0.17,
    "top": 0.9,
}
#: Numbers of guests up to which each has its mark on the axis.
_MOST_TICKS = 12
#: Straight pieces that the law is drawn in.
_STEPS = 60


def draw(series: shares.Series, name: str) -> markupsafe.Markup:
    """Return an SVG chart of the rate of each guest, and of their total.

    :param name: The prefix of identifiers in the chart.
    """
    label = f"{series.row.metric.name}: {sentences.curve(series)}"
    draws = [("each", _draw_each)]
    if any(share.total is not None for share in series.shares):
        draws.append(("total", _draw_total))
    charts = []
    with chart_style.settings(name):
        for part, draw_part in draws:
            drawn = figure.Figure(figsize=_SIZE)
            drawn.subplots_adjust(**_MARGINS)
            draw_part(drawn.add_subplot(gid=f"{name}-{part}"), series, name)
            charts.append(chart_style.to_svg(drawn, f"{label} ({part})"))
    return chart_style.arrange(charts)


def _draw_each(axes: t.Any, series: shares.Series, name: str) -> None:
    """Draw the rate of each guest over the numbers of guests on axes."""
    for share in series.shares:
        _draw_repetitions(
            axes, share, [value * 100 for value in share.repetitions]
        )
    _draw_line(axes, series, "bare", "s", f"{name}-bare", 100)
    _draw_line(axes, series, "value", "", f"{name}-mean", 100)
    for share in series.measured:
        gid = f"{name}-{share.guests}"
        _draw_marker(axes, share, series, gid)
        if series.row.statistic == "worst" and share.worst is not None:
            axes.plot(
                [share.guests],
                [share.worst * 100],
                "v",
                color=chart_style.GUEST,
                markersize=5,
                gid=f"{gid}-worst",
            )
        limit = sentences.limit_of(series, share)
        if limit is not None:
            ends = [share.guests - _HALF, share.guests + _HALF]
            chart_style.draw_limit(
                axes, ends, [limit * 100] * 2, f"{gid}-limit"
            )
    _draw_fit(axes, series, each=True)
    whole = sentences.reference_label(series)
    _finish_axes(axes, series, f"each guest, % of {whole}")


def _draw_total(axes: t.Any, series: shares.Series, name: str) -> None:
    """Draw the total rate over the numbers of guests on axes."""
    ends = [0, 2 * max(share.guests for share in series.shares)]
    axes.plot(ends, ends, color=chart_style.FAINT, linewidth=1)
    top = 1.0
    for share in series.shares:
        _draw_repetitions(axes, share, share.totals)
        top = max(top, *share.totals, share.total or 0, share.bare_total or 0)
    _draw_line(axes, series, "bare_total", "s", f"{name}-bare-total")
    _draw_line(axes, series, "total", "o", f"{name}-sum")
    top = max(top, _draw_fit(axes, series, each=False))
    _draw_peak(axes, series, f"{name}-peak")
    _finish_axes(
        axes,
        series,
        f"{sentences.total_of(series)}: {sentences.unit(series)}",
    )
    axes.set_ylim(0, top * 1.15)


def _draw_repetitions(
    axes: t.Any,
    share: shares.Share,
    values: collections.abc.Sequence[float],
) -> None:
    """Draw the repetitions around their mean, in order of time."""
    axes.plot(
        chart_style.spread_horizontally(share.guests, len(values), _SPREAD),
        values,
        "o",
        color=chart_style.BARE if share.void else chart_style.GUEST,
        markersize=3.2,
        markeredgewidth=0,
        alpha=0.3,
    )


def _draw_line(
    axes: t.Any,
    series: shares.Series,
    field: str,
    mark: str,
    gid: str,
    factor: float = 1,
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
    if points:
        axes.plot(
            *zip(*points, strict=True),
            color=chart_style.BARE if is_bare else chart_style.GUEST,
            linewidth=1.5,
            linestyle=(0, (4, 2)) if is_bare else "-",
            marker=mark,
            markersize=4,
            gid=gid,
        )


def _draw_marker(
    axes: t.Any, share: shares.Share, series: shares.Series, gid: str
) -> None:
    """Draw the mean guest and its interval; the marker is the verdict."""
    status = series.row.statuses.get(share.guests) or "none"
    status = "void" if share.void else status
    if share.ends is not None:
        axes.plot(
            [share.guests] * 2,
            [end * 100 for end in share.ends],
            color=chart_style.VERDICTS[status][0],
            linewidth=2,
            marker="_",
            markersize=7,
            solid_capstyle="butt",
            gid=f"{gid}-interval",
        )
    chart_style.draw_mark(
        axes, share.guests, (share.value or 0.0) * 100, status, gid, share.void
    )


def _finish_axes(axes: t.Any, series: shares.Series, title: str) -> None:
    """Set the title, the limits and the ticks; hatch void levels."""
    axes.set_title(title, loc="left", fontsize=8)
    levels = [share.guests for share in series.shares]
    for share in series.shares:
        if share.void or share.value is None:
            axes.axvspan(
                share.guests - _HALF,
                share.guests + _HALF,
                facecolor="none",
                edgecolor=chart_style.FAINT,
                hatch="////",
                linewidth=0,
                zorder=0.5,
            )
    axes.set_xlim(min(levels) - 0.6, axis_end(series) + 0.6)
    if len(levels) <= _MOST_TICKS:
        axes.set_xticks(_separate_ticks(levels, axis_end(series)))
    axes.set_xlabel("guests", fontsize=8)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
    axes.tick_params(labelsize=7)
    axes.grid(axis="y")


def _separate_ticks(levels: list[int], reach: float) -> list[int]:
    """Return the levels to label so that labels do not overlap, a list."""
    labelled: list[int] = []
    for level in reversed(levels):
        if not labelled or labelled[-1] - level >= reach / 24:
            labelled.append(level)
    return labelled


def axis_end(series: shares.Series) -> float:
    """Return the number of guests at which the axis of the chart ends.

    The fitted law is drawn up to twice the largest level at most, which shows
    the prediction and a peak that is near.
    """
    largest = max(share.guests for share in series.shares)
    law, fits = series.row.usl, series.row.max_guests
    if law is None:
        return largest
    ends = [largest * 1.3]
    if law.peak is not None:
        ends.append(law.peak + 0.5)
    if fits is not None and fits.predicted is not None:
        ends.append(fits.predicted)
    return min(2.0 * largest, max(ends))


def _draw_fit(axes: t.Any, series: shares.Series, each: bool) -> float:
    """Draw the fitted law on axes; return its largest value as a number.

    :param each: Whether to draw the rate of each guest, not the total.
    """
    law = series.row.usl
    if law is None:
        return 0.0
    first = min(share.guests for share in series.shares)
    last = max(law.largest, axis_end(series))
    top = 0.0
    for start, end, style in (
        (first, law.largest, "-"),
        (law.largest, last, (0, (3, 2))),
    ):
        guests = numpy.linspace(start, end, _STEPS + 1).tolist()
        values = [series.predict(law, number) for number in guests]
        if each:
            pairs = zip(values, guests, strict=True)
            values = [total / number * 100 for total, number in pairs]
        top = max(top, *values)
        axes.plot(
            guests,
            values,
            color=chart_style.LAW,
            linewidth=0.9,
            linestyle=style,
        )
    return top


def _draw_peak(axes: t.Any, series: shares.Series, gid: str) -> None:
    """Mark the largest total if it is within the chart."""
    law = series.row.usl
    if law is None or law.peak is None or law.peak > axis_end(series):
        return
    left = law.peak > (1 + axis_end(series)) / 2
    axes.plot(
        [law.peak] * 2,
        [0, series.predict(law, law.peak)],
        color=chart_style.LAW,
        linewidth=0.9,
        linestyle=(0, (1, 2)),
        gid=gid,
    )
    axes.annotate(
        f"peak at {law.peak:.1f}",
        (law.peak, 0),
        xytext=(-3 if left else 3, 4),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=7,
        color=chart_style.LAW,
        bbox={"facecolor": "white", "linewidth": 0, "pad": 0.6},
    )
