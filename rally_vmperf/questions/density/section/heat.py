"""The heat map of each guest at each level in each repetition."""

import collections.abc
import math
import typing as t

import markupsafe
import matplotlib
from matplotlib import colors
from matplotlib import figure
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
    columns = 2 if all(len(strip.columns) <= 45 for strip in shown) else 1
    lines = math.ceil(len(shown) / columns)
    rows = max(min(len(strip.guests), MOST_GUESTS) for strip in shown)
    height = _HEIGHT if rows <= _MANY else _LOW
    shade = _build_shade(shown)
    with chart_style.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.35 + (0.6 + height * rows) * lines),
            layout="constrained",
        )
        for position, strip in enumerate(shown):
            axes = drawn.add_subplot(lines, columns, position + 1)
            axes.set_gid(f"{name}-{position}")
            _draw_panel(axes, strip, shade)
        _draw_key(drawn, shade)
        return chart_style.to_svg(
            drawn,
            "Rate of each guest in percent of a solo guest, by number of "
            "guests and repetition: " + "; ".join(map(_describe, shown)),
        )


class _Shade:
    """A mapping of shares to colours, the same in all strips."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self._map = matplotlib.colormaps["cividis"]

    def of(self, share: float) -> str:
        """Return the colour that represents a share, as text."""
        position = (share - self.low) / (self.high - self.low)
        return str(colors.to_hex(self._map(min(1.0, max(0.0, position)))))

    def ink(self, share: float) -> str:
        """Return the readable colour of text on the colour of a share."""
        position = (share - self.low) / (self.high - self.low)
        return "white" if position < 0.55 else chart_style.INK


def _build_shade(strips: collections.abc.Iterable[cells.Strip]) -> _Shade:
    """Return the colour scale that covers the shares of all strips."""
    rates = [
        cell.share
        for strip in strips
        for cell in strip.cells.values()
        if cell.share is not None
    ]
    low = math.floor(min(rates, default=0.0) * 10) / 10
    high = math.ceil(max(rates, default=1.0) * 10) / 10
    return _Shade(min(low, 0.9), min(1.5, max(1.0, high)))


def _draw_panel(axes: t.Any, strip: cells.Strip, shade: _Shade) -> None:
    """Draw a metric's cells: a row per guest, a column per repetition."""
    positions = _compute_positions(strip.columns)
    rows = strip.guests[:MOST_GUESTS]
    figures = len(strip.columns) <= _MOST_FIGURES
    for line, (guest, _) in enumerate(rows):
        for column, position in positions.items():
            cell = strip.cells.get((guest, column))
            if cell is not None:
                _draw_cell(axes, cell, position, line, shade, figures)
    axes.set_title(
        sanitize.printable(strip.series.row.metric.name),
        loc="left",
        fontweight="bold",
    )
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
    axes.tick_params(labelsize=7)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _draw_cell(
    axes: t.Any,
    cell: cells.Cell,
    position: float,
    line: int,
    shade: _Shade,
    figures: bool,
) -> None:
    """Draw one cell as a rectangle, with its percentage if ``figures``."""
    void = cell.state != "sound"
    axes.add_patch(
        patches.Rectangle(
            (position - 0.5, line - 0.45),
            1,
            0.9,
            facecolor="white" if cell.share is None else shade.of(cell.share),
            edgecolor=chart_style.BARE if cell.share is None else "white",
            hatch={"sound": None, "void": "xxx", "missing": "///"}[cell.state],
            linewidth=0.4,
        )
    )
    if figures and cell.share is not None:
        axes.annotate(
            f"{cell.share * 100:.0f}",
            (position, line),
            ha="center",
            va="center",
            fontsize=6.5,
            color=chart_style.BARE if void else shade.ink(cell.share),
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


def _draw_key(drawn: t.Any, shade: _Shade) -> None:
    """Draw the legend of the colours and hatches above the figure."""
    step = 1 if shade.high - shade.low < 0.75 else 2
    tenths = range(round(shade.low * 10), round(shade.high * 10) + 1, step)
    sizes = [size / 10 for size in tenths]
    boxes = [
        patches.Patch(facecolor=shade.of(size), label=f"{size * 100:.0f} %")
        for size in sizes
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
        drawn, boxes, ncols=len(boxes), fontsize=7, handlelength=1.6
    )


def _describe(strip: cells.Strip) -> str:
    """Return the numbers of cells of a metric by state, as text."""
    return (
        f"{strip.series.row.metric.name}, {len(strip.cells)} cells, "
        f"{strip.number('missing')} missing, {strip.number('void')} void"
    )
