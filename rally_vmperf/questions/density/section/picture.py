"""The drawing of all metrics at each number of guests."""

import collections.abc
import typing as t

import markupsafe
import matplotlib
from matplotlib import colors
from matplotlib import figure
from matplotlib import patches

from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import look

#: Numbers of guests that are drawn at most; the curves show all.
_MOST = 8


def draw(
    drawn_of: collections.abc.Sequence[shares.Series], name: str
) -> markupsafe.Markup:
    """Return a bar for each metric and number of guests.

    :param drawn_of: metrics that were measured
    :param name: of the drawing; its identifiers begin with it
    """
    if not drawn_of:
        return markupsafe.Markup()
    levels = some(sorted({x.guests for one in drawn_of for x in one.shares}))
    thick = 0.15 if len(levels) <= 4 else 0.1
    group = thick * len(levels) + 0.14
    with look.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.8 + group * len(drawn_of)), layout="constrained"
        )
        axes = drawn.add_subplot()
        shades = colours(len(levels))
        for position, series in enumerate(drawn_of):
            _group(axes, series, levels, shades, position, thick / group)
        axes.axvline(100, color=look.INK, linewidth=1)
        look.by_metric(axes, [one.row.metric.name for one in drawn_of], 0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(
            "rate of each guest in percent of "
            + ", or of ".join(dict.fromkeys(map(sentences.whole, drawn_of)))
        )
        boxes = [
            patches.Patch(
                facecolor=one, label=units.number_of("guest", guests)
            )
            for guests, one in zip(levels, shades, strict=True)
        ]
        look.legend(
            drawn,
            boxes,
            ncols=min(8, len(boxes)),
            fontsize=8,
            handlelength=1.2,
        )
        return look.svg(
            drawn,
            "Rate of each guest, all metrics: "
            + "; ".join(
                f"{one.row.metric.name}, {sentences.curve(one)}"
                for one in drawn_of
            ),
        )


def some(levels: list[int]) -> list[int]:
    """Return the numbers of guests to draw, the first and last included."""
    if len(levels) <= _MOST:
        return levels
    last = len(levels) - 1
    positions = {round(step * last / (_MOST - 1)) for step in range(_MOST)}
    return [levels[position] for position in sorted(positions)]


def colours(number: int) -> list[str]:
    """Return shades from light to dark, that keep their order in print."""
    shades = matplotlib.colormaps["Blues"]
    return [
        colors.to_hex(shades(0.3 + 0.6 * position / max(1, number - 1)))
        for position in range(number)
    ]


def _group(
    axes: t.Any,
    series: shares.Series,
    levels: list[int],
    shades: list[str],
    position: int,
    thick: float,
) -> None:
    top = position - thick * (len(levels) - 1) / 2
    known = {one.guests: one for one in series.shares}
    for index, guests in enumerate(levels):
        share, at = known.get(guests), top + index * thick
        if share is None or share.value is None:
            axes.annotate(
                f"{units.number_of('guest', guests)}: not measured",
                (1, at),
                va="center",
                fontsize=6,
                color=look.BARE,
            )
            continue
        axes.barh(
            at,
            share.value * 100,
            thick * 0.92,
            color="white" if share.void else shades[index],
            edgecolor=shades[index] if share.void else "none",
            hatch="////" if share.void else None,
            linewidth=0.5,
        )
        if share.ends is not None:
            for colour, width in (("white", 2.4), (look.INK, 1)):
                axes.plot(
                    [end * 100 for end in share.ends],
                    [at, at],
                    color=colour,
                    linewidth=width,
                )
        axes.annotate(
            f"{share.value * 100:.0f}",
            (max((share.value, *(share.ends or ()))) * 100, at),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.4},
        )
