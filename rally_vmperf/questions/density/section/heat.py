"""The heat map of each guest at each level in each repetition.

Positions are percentages of the width, so that the chart fits any page.
"""

import collections.abc
import math
import typing as t

import markupsafe
from matplotlib import cm
from matplotlib import colors

from rally_vmperf import sanitize
from rally_vmperf.questions.density.section import cells
from rally_vmperf.report import chart_style

#: The maximum number of cells of a metric; more become means.
MOST_CELLS = 200
#: The maximum number of columns at which cells have figures.
_MOST_FIGURES = 14
#: The maximum number of levels with a label.
_MOST_LABELS = 16
#: The gap between numbers of guests, in columns.
_APART = 0.6
_LONGEST_NAME = 26
#: The marks of cells without a colour.
_MARKS = {"sound": "", "void": "■", "missing": "?"}


def draw(
    strips: collections.abc.Iterable[cells.Strip], name: str
) -> markupsafe.Markup:
    """Return a heat map: a panel per metric, a row per guest.

    :param name: The prefix of identifiers in the chart.
    """
    shown = [strip for strip in strips if strip.cells]
    if not shown:
        return markupsafe.Markup()
    shade = _create_shade(shown)
    return markupsafe.Markup('<div class="heat">{}{}</div>').format(
        _draw_key(shade),
        markupsafe.Markup().join(
            _draw_panel(strip, shade, f"{name}-{position}")
            for position, strip in enumerate(shown)
        ),
    )


def has_means(strips: collections.abc.Iterable[cells.Strip]) -> bool:
    """Return whether a metric has more cells than a chart."""
    return any(len(strip.cells) > MOST_CELLS for strip in strips)


def _create_shade(
    strips: collections.abc.Iterable[cells.Strip],
) -> t.Any:
    """Return a mapping to colours that covers the shares of all strips."""
    rates = [
        cell.share
        for strip in strips
        for cell in strip.cells.values()
        if cell.share is not None
    ]
    low = min(math.floor(min(rates, default=0.0) * 10) / 10, 0.9)
    high = max(math.ceil(max(rates, default=1.0) * 10) / 10, 1.0)
    scale = colors.Normalize(low, min(1.5, high), clip=True)
    return cm.ScalarMappable(scale, "cividis")


def _draw_panel(
    strip: cells.Strip, shade: t.Any, name: str
) -> markupsafe.Markup:
    """Return a metric's cells: a row per guest, a column per repetition."""
    label = (
        "Rate of each guest in percent of a solo guest, by number of guests "
        f"and repetition: {_describe(strip)}"
    )
    strip = strip.merge(MOST_CELLS)
    lefts, width = _compute_positions(strip.columns)
    with_figures = len(strip.columns) <= _MOST_FIGURES
    rows = [
        markupsafe.Markup("<p><span>{}</span><svg>{}</svg></p>").format(
            _format_label(guest, host),
            markupsafe.Markup().join(
                _draw_cell(cell, left, width, shade, with_figures)
                for column, left in lefts.items()
                if (cell := strip.cells.get((guest, column)))
            ),
        )
        for guest, host in strip.guests
    ]
    levels: dict[int, list[float]] = {}
    for (guests, _), left in lefts.items():
        levels.setdefault(guests, []).append(left + width / 2)
    labels = markupsafe.Markup().join(
        markupsafe.Markup('<text x="{:.4g}%" y="13">{}</text>').format(
            sum(levels[guests]) / len(levels[guests]), guests
        )
        for guests in chart_style.select_evenly([*levels], _MOST_LABELS)
    )
    return markupsafe.Markup(
        '<figure id="{}" role="img" aria-label="{}"><b>{}</b>{}'
        "<p><span>guests</span><svg>{}</svg></p></figure>"
    ).format(
        name,
        sanitize.printable(label),
        sanitize.printable(strip.series.row.metric.name),
        markupsafe.Markup().join(rows),
        labels,
    )


def _draw_cell(
    cell: cells.Cell, left: float, width: float, shade: t.Any, figure: bool
) -> markupsafe.Markup:
    """Return a cell as a rectangle, with its percentage if ``figure``."""
    mark, fill = _MARKS[cell.state], "none"
    if not mark and cell.share is not None:
        fill = colors.to_hex(shade.to_rgba(cell.share))
        mark = f"{cell.share * 100:.0f}" if figure else ""
    rectangle = markupsafe.Markup(
        '<rect x="{:.4g}%" width="{:.4g}%" height="100%" fill="{}"/>'
    ).format(left, width, fill)
    if not mark:
        return rectangle
    ink = "var(--ink)" if fill == "none" else _choose_ink(fill)
    return rectangle + markupsafe.Markup(
        '<text x="{:.4g}%" y="13" fill="{}">{}</text>'
    ).format(left + width / 2, ink, mark)


def _choose_ink(fill: str) -> str:
    """Return black or white, whichever has more contrast with a colour.

    The threshold follows from the contrast of WCAG 2, (a + 0.05) / (b + 0.05).
    """
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in colors.to_rgb(fill)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#fff"


def _compute_positions(
    columns: collections.abc.Iterable[tuple[int, int]],
) -> tuple[dict[tuple[int, int], float], float]:
    """Return the left ends of columns and their width in percent."""
    positions: dict[tuple[int, int], float] = {}
    position, last = 0.0, None
    for column in columns:
        if last is not None:
            position += 1 if column[0] == last else 1 + _APART
        positions[column], last = position, column[0]
    width = 100 / (position + 1)
    lefts = {column: place * width for column, place in positions.items()}
    return lefts, width


def _format_label(guest: str, host: str) -> str:
    """Return the name of a guest and of its host as a short text."""
    label = f"{guest} on {host}" if host else guest
    return chart_style.shorten(label, _LONGEST_NAME)


def _draw_key(shade: t.Any) -> markupsafe.Markup:
    """Return the legend of the colours and marks."""
    low, high = shade.get_clim()
    step = 1 if high - low < 0.75 else 2
    boxes = markupsafe.Markup().join(
        markupsafe.Markup('<i style="background:{}"></i> {} % ').format(
            colors.to_hex(shade.to_rgba(tenths / 10)), tenths * 10
        )
        for tenths in range(round(low * 10), round(high * 10) + 1, step)
    )
    marks = ", ".join(
        f"{mark} {state}" for state, mark in _MARKS.items() if mark
    )
    return markupsafe.Markup("<p>{} {}</p>").format(boxes, marks)


def _describe(strip: cells.Strip) -> str:
    """Return the numbers of cells of a metric by state, as text."""
    return (
        f"{strip.series.row.metric.name}, {len(strip.cells)} cells, "
        f"{strip.number('missing')} missing, {strip.number('void')} void"
    )
