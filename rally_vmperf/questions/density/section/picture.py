"""The chart of all metrics at each number of guests.

Positions are percentages of the width, so that the chart fits any page.
"""

import collections.abc

import markupsafe
import matplotlib
from matplotlib import colors

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import chart_style

#: The maximum number of levels in the chart, and of bars; the curves have all
#: levels.
_MOST, MOST_BARS = 8, 200
#: The height of a bar in pixels, with the gap below it.
_HEIGHT, _STEP = 11, 14
#: The share of the width that remains free for figures.
_FREE = 0.1


def draw(
    metrics: collections.abc.Sequence[shares.Series], name: str
) -> markupsafe.Markup:
    """Return a chart with a bar for each metric and level.

    :param metrics: The measured metrics.
    :param name: The identifier of the chart.
    """
    if not metrics:
        return markupsafe.Markup()
    levels = list_levels(metrics)
    shown = [
        share
        for series in metrics
        for share in series.shares
        if share.guests in levels
    ]
    ends = [
        100 * end
        for share in shown
        for end in (share.value or 0, *(share.ends or ()))
    ]
    scale = 100 * (1 - _FREE) / max(100.0, *ends)
    shades = dict(zip(levels, colours(len(levels)), strict=True))
    key = markupsafe.Markup().join(
        markupsafe.Markup('<i style="background:{}"></i> {} ').format(
            shade, units.number_of("guest", guests)
        )
        for guests, shade in shades.items()
    )
    ticks = chart_style.list_ticks(0, 100 / scale)
    axis = markupsafe.Markup().join(
        markupsafe.Markup('<text x="{:.4g}%" y="13">{:g}</text>').format(
            tick * scale, tick
        )
        for tick in ticks
    )
    lines = markupsafe.Markup().join(
        markupsafe.Markup(
            '<line class="{}" x1="{:.4g}%" x2="{:.4g}%" y1="0" y2="100%"/>'
        ).format(
            "whole" if tick == 100 else "tick",
            tick * scale,
            tick * scale,
        )
        for tick in ticks
    )
    label = "Rate of each guest, all metrics: " + "; ".join(
        f"{series.row.metric.name}, {sentences.curve(series)}"
        for series in metrics
    )
    references = dict.fromkeys(map(sentences.reference_label, metrics))
    return markupsafe.Markup(
        '<div class="bars" id="{}" role="img" aria-label="{}"><p>{}</p>{}'
        "<p><span></span><svg>{}</svg></p>"
        "<small>rate of each guest in percent of {}</small></div>"
    ).format(
        name,
        sanitize.printable(label),
        key,
        markupsafe.Markup().join(
            _draw_group(series, shades, scale, lines) for series in metrics
        ),
        axis,
        ", or of ".join(references),
    )


def list_levels(
    metrics: collections.abc.Sequence[shares.Series],
) -> list[int]:
    """Return the numbers of guests that have bars, as a list."""
    levels = {share.guests for series in metrics for share in series.shares}
    most = max(2, min(_MOST, MOST_BARS // len(metrics)))
    return chart_style.select_evenly(sorted(levels), most)


def colours(number: int) -> list[str]:
    """Return several shades from light to dark, as a list of colours."""
    shades = matplotlib.colormaps["Blues"]
    return [
        colors.to_hex(shades(0.25 + 0.5 * position / max(1, number - 1)))
        for position in range(number)
    ]


def _draw_group(
    series: shares.Series,
    shades: dict[int, str],
    scale: float,
    lines: markupsafe.Markup,
) -> markupsafe.Markup:
    """Return the bars of one metric, one for each number of guests.

    :param shades: The colours by number of guests.
    :param scale: The percentage of the width that is one percent.
    :param lines: The lines of the axis.
    """
    shares_by_guests = {share.guests: share for share in series.shares}
    bars = markupsafe.Markup().join(
        _draw_bar(shares_by_guests.get(guests), guests, shade, scale, index)
        for index, (guests, shade) in enumerate(shades.items())
    )
    return markupsafe.Markup(
        '<p><span>{}</span><svg height="{}">{}{}</svg></p>'
    ).format(
        sanitize.printable(series.row.metric.name),
        len(shades) * _STEP,
        lines,
        bars,
    )


def _draw_bar(
    share: shares.Share | None,
    guests: int,
    shade: str,
    scale: float,
    index: int,
) -> markupsafe.Markup:
    """Return the bar of a level, its interval and its figure."""
    top = index * _STEP + 1
    if share is None or share.value is None:
        text = f"{units.number_of('guest', guests)}: not measured"
        return _draw_text(0, top, text)
    percent = share.value * 100
    bar = markupsafe.Markup(
        '<rect class="{}" y="{}" width="{:.4g}%" height="{}" fill="{}"/>'
    ).format(
        "void" if share.void else "bar",
        top,
        percent * scale,
        _HEIGHT,
        "none" if share.void else shade,
    )
    ends = [end * 100 for end in share.ends or ()]
    if ends:
        middle = top + _HEIGHT / 2
        for style in ("halo", "interval"):
            bar += markupsafe.Markup(
                '<line class="{}" x1="{:.4g}%" x2="{:.4g}%" y1="{}" y2="{}"/>'
            ).format(style, ends[0] * scale, ends[1] * scale, middle, middle)
    return bar + _draw_text(
        max(percent, *ends, 0) * scale, top, f"{percent:.0f}"
    )


def _draw_text(x: float, top: int, text: str) -> markupsafe.Markup:
    """Return a text that starts at a position."""
    return markupsafe.Markup(
        '<text x="{:.4g}%" y="{}" dx="4">{}</text>'
    ).format(x, top + _HEIGHT - 2, text)
