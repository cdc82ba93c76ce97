"""The chart of all metrics at each number of guests."""

import collections.abc
import typing as t

import markupsafe
import matplotlib
from matplotlib import colors
from matplotlib import figure
from matplotlib import patches

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import chart_style

#: The maximum number of levels in the chart; the curves have all.
_MOST = 8


def draw(
    metrics: collections.abc.Sequence[shares.Series], name: str
) -> markupsafe.Markup:
    """Return an SVG chart with a bar for each metric and level.

    :param metrics: The measured metrics.
    :param name: The prefix of identifiers in the chart.
    """
    if not metrics:
        return markupsafe.Markup()
    levels = chart_style.select_evenly(
        sorted(
            {share.guests for series in metrics for share in series.shares}
        ),
        _MOST,
    )
    thick = 0.15 if len(levels) <= 4 else 0.1
    group = thick * len(levels) + 0.34
    with chart_style.settings(name):
        drawn = figure.Figure(
            figsize=(chart_style.WIDTH, 0.9 + group * len(metrics)),
            layout="constrained",
        )
        axes = drawn.add_subplot()
        shades = colours(len(levels))
        for position, series in enumerate(metrics):
            _draw_group(axes, series, levels, shades, position, thick / group)
        axes.axvline(100, color=chart_style.INK, linewidth=1)
        axes.set_ylim(len(metrics) - 0.5, -0.6)
        axes.set_yticks([])
        axes.grid(axis="x")
        axes.set_xlim(left=0)
        axes.set_xlabel(
            "rate of each guest in percent of "
            + ", or of ".join(
                dict.fromkeys(map(sentences.reference_label, metrics))
            ),
            fontsize=7,
        )
        boxes = [
            patches.Patch(
                facecolor=shade, label=units.number_of("guest", guests)
            )
            for guests, shade in zip(levels, shades, strict=True)
        ]
        chart_style.draw_legend(
            drawn,
            boxes,
            ncols=min(4, len(boxes)),
            fontsize=7,
            handlelength=1.2,
        )
        return chart_style.to_svg(
            drawn,
            "Rate of each guest, all metrics: "
            + "; ".join(
                f"{series.row.metric.name}, {sentences.curve(series)}"
                for series in metrics
            ),
        )


def colours(number: int) -> list[str]:
    """Return several shades from light to dark, as a list of colours."""
    shades = matplotlib.colormaps["Blues"]
    return [
        colors.to_hex(shades(0.3 + 0.6 * position / max(1, number - 1)))
        for position in range(number)
    ]


def _draw_group(
    axes: t.Any,
    series: shares.Series,
    levels: list[int],
    shades: list[str],
    position: int,
    thickness: float,
) -> None:
    """Draw the bars of one metric, one for each number of guests."""
    top = position - thickness * (len(levels) - 1) / 2
    axes.annotate(
        sanitize.printable(series.row.metric.name),
        (0, top - thickness),
        xytext=(2, 0),
        textcoords="offset points",
        fontsize=7,
        fontweight="bold",
    )
    shares_by_guests = {share.guests: share for share in series.shares}
    for index, guests in enumerate(levels):
        share, height = shares_by_guests.get(guests), top + index * thickness
        if share is None or share.value is None:
            axes.annotate(
                f"{units.number_of('guest', guests)}: not measured",
                (1, height),
                va="center",
                fontsize=6,
                color=chart_style.BARE,
            )
            continue
        axes.barh(
            height,
            share.value * 100,
            thickness * 0.92,
            color="white" if share.void else shades[index],
            edgecolor=shades[index] if share.void else "none",
            hatch="////" if share.void else None,
            linewidth=0.5,
        )
        if share.ends is not None:
            for colour, width in (("white", 2.4), (chart_style.INK, 1)):
                axes.plot(
                    [end * 100 for end in share.ends],
                    [height, height],
                    color=colour,
                    linewidth=width,
                )
        axes.annotate(
            f"{share.value * 100:.0f}",
            (max((share.value, *(share.ends or ()))) * 100, height),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.4},
        )
