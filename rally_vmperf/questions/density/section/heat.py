"""The heat map of each guest at each level in each repetition."""

import collections.abc
import math
import typing as t

import markupsafe
from matplotlib import cm
from matplotlib import colors
from matplotlib import patches

from rally_vmperf import sanitize
from rally_vmperf.questions.density.section import cells
from rally_vmperf.report import chart_style

#: The maximum number of guests in the chart; tables have all guests.
MOST_GUESTS = 48
#: The maximum number of columns at which cells have figures.
_MOST_FIGURES = 14
#: The gap between numbers of guests, in columns.
_APART = 0.6
_LONGEST_NAME = 26
#: The height of a row in inches, and the same if there are many rows.
_HEIGHT, _LOW = 0.19, 0.125
_MANY = 12


def draw(
    strips: collections.abc.Sequence[cells.Strip], name: str
) -> markupsafe.Markup:
    """Return an SVG heat map: a panel per metric, a row per guest.

    :param name: The prefix of identifiers in the chart.
    """
    shown = [strip for strip in strips if strip.cells]
    if not shown:
        return markupsafe.Markup()
    shade = _create_shade(shown)
    charts = []
    with chart_style.settings(name):
        for position, strip in enumerate(shown):
            rows = min(len(strip.guests), MOST_GUESTS)
            height = _HEIGHT if rows <= _MANY else _LOW
            drawn, axes = chart_style.create_panel(
                f"{name}-{position}",
                strip.series.row.metric.name,
                1 + height * rows,
            )
            _draw_panel(axes, strip, shade)
            _draw_key(drawn, shade)
            charts.append(
                chart_style.to_svg(
                    drawn,
                    "Rate of each guest in percent of a solo guest, by number "
                    f"of guests and repetition: {_describe(strip)}",
                )
            )
    return chart_style.arrange(charts)


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


def _draw_panel(axes: t.Any, strip: cells.Strip, shade: t.Any) -> None:
    """Draw a metric's cells: a row per guest, a column per repetition."""
    positions = _compute_positions(strip.columns)
    rows = strip.guests[:MOST_GUESTS]
    figures = len(strip.columns) <= _MOST_FIGURES
    for line, (guest, _) in enumerate(rows):
        for column, position in positions.items():
            cell = strip.cells.get((guest, column))
            if cell is not None:
                _draw_cell(axes, cell, position, line, shade, figures)
    axes.set_yticks(
        range(len(rows)), [_format_label(*names) for names in rows]
    )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-0.6, max(positions.values()) + 0.6)
    levels: dict[int, list[float]] = {}
    for (guests, _), position in positions.items():
        levels.setdefault(guests, []).append(position)
    axes.set_xticks(
        [sum(group) / len(group) for group in levels.values()],
        [str(guests) for guests in levels],
    )
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _draw_cell(
    axes: t.Any,
    cell: cells.Cell,
    position: float,
    line: int,
    shade: t.Any,
    figures: bool,
) -> None:
    """Draw one cell as a rectangle, with its percentage if ``figures``."""
    axes.add_patch(
        patches.Rectangle(
            (position - 0.5, line - 0.45),
            1,
            0.9,
            facecolor="white"
            if cell.share is None
            else shade.to_rgba(cell.share),
            edgecolor=chart_style.BARE if cell.share is None else "white",
            hatch={"sound": None, "void": "xxx", "missing": "///"}[cell.state],
            linewidth=0.4,
        )
    )
    if figures and cell.share is not None:
        void = cell.state == "void"
        ink = chart_style.INK if shade.norm(cell.share) >= 0.55 else "white"
        axes.annotate(
            f"{cell.share * 100:.0f}",
            (position, line),
            ha="center",
            va="center",
            fontsize=6.5,
            color=chart_style.BARE if void else ink,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.6}
            if void
            else None,
        )


def _compute_positions(
    columns: collections.abc.Iterable[tuple[int, int]],
) -> dict[tuple[int, int], float]:
    """Return the horizontal position of each column, as a dict."""
    positions: dict[tuple[int, int], float] = {}
    position, last = 0.0, None
    for column in columns:
        if last is not None:
            position += 1 if column[0] == last else 1 + _APART
        positions[column], last = position, column[0]
    return positions


def _format_label(guest: str, host: str) -> str:
    """Return the name of a guest and of its host as a short text."""
    label = sanitize.printable(f"{guest} on {host}" if host else guest)
    return label if len(label) <= _LONGEST_NAME else label[:25] + "…"


def _draw_key(drawn: t.Any, shade: t.Any) -> None:
    """Draw the legend of the colours and hatches above the figure."""
    low, high = shade.get_clim()
    step = 1 if high - low < 0.75 else 2
    boxes = [
        patches.Patch(
            facecolor=shade.to_rgba(tenths / 10), label=f"{tenths * 10} %"
        )
        for tenths in range(round(low * 10), round(high * 10) + 1, step)
    ]
    boxes += [
        patches.Patch(
            facecolor="white",
            edgecolor=chart_style.BARE,
            hatch=hatch,
            label=label,
        )
        for hatch, label in (("///", "missing"), ("xxx", "void"))
    ]
    chart_style.draw_legend(
        drawn, boxes, ncols=6, fontsize=7, handlelength=1.2
    )


def _describe(strip: cells.Strip) -> str:
    """Return the numbers of cells of a metric by state, as text."""
    return (
        f"{strip.series.row.metric.name}, {len(strip.cells)} cells, "
        f"{strip.number('missing')} missing, {strip.number('void')} void"
    )
