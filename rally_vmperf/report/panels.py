"""Charts of distributions and time series, one panel per metric."""

import collections.abc
import dataclasses
import functools
import math
import typing as t

import markupsafe
from matplotlib import figure
from matplotlib import lines

from rally_vmperf import sanitize
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

#: The maximum number of panels in a chart; the record has all metrics.
MOST = 24
#: The maximum number of points of single repetitions in a panel.
MOST_POINTS = 200
#: The maximum number of conditions in a panel, evenly selected.
MOST_CONDITIONS = 4
#: The maximum length of a condition in a legend in characters.
_MAX_LABEL_CHARACTERS = 20

_DASHES = (0, (4, 2))
#: The percentiles with a tick on the axis.
_MARKS = (0, *sample.PERCENTILES)

Repetitions = collections.abc.Iterable[repetition.Repetition]
#: The colour, the dashes and the width of a line.
Style = dict[str, str | float | tuple[int, tuple[int, int]]]
KindT = t.TypeVar("KindT", merged.Distribution, merged.TimeSeries)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve(t.Generic[KindT]):
    """The curves of a metric under a condition.

    :param condition: The label; empty if there is only one condition.
    :param guest: The curve of each counted repetition.
    :param bare: The curve of bare metal over its repetitions, or None.
    """

    condition: str
    colour: str
    guest: list[KindT]
    bare: KindT | None

    @property
    def sides(self) -> list[KindT]:
        """The curves of the guests and of bare metal, as a list."""
        sides = self.guest.copy()
        if self.bare is not None:
            sides.append(self.bare)
        return sides


Panels = dict[sample.Metric, list[Curve[KindT]]]


def distributions(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return a chart of percentiles per metric as SVG markup.

    :param name: The prefix of identifiers in the chart.
    """
    panels: Panels[merged.Distribution] = _create_panels(
        repetitions, lambda side: side.distributions
    )
    return _draw(panels, _draw_distribution, "Distributions", name)


def over_time(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return a chart of values over time per metric as SVG markup.

    :param name: The prefix of identifiers in the chart.
    """
    panels: Panels[merged.TimeSeries] = _create_panels(
        repetitions, lambda side: side.time_series
    )
    return _draw(panels, _draw_over_time, "Values over time", name)


def _create_panels(
    repetitions: Repetitions,
    select: t.Callable[
        [repetition.Condition | repetition.Reference], tuple[KindT, ...]
    ],
) -> Panels[KindT]:
    """Return the curves of each metric as a dict, in condition order."""
    conditions: dict[str, list[repetition.Condition]] = {}
    for measured in repetitions:
        for condition in measured.conditions if measured.counted else ():
            if select(condition):
                label = _label_axes(condition.axes)
                conditions.setdefault(label, []).append(condition)
    panels: Panels[KindT] = {}
    labels = chart_style.select_evenly(list(conditions), MOST_CONDITIONS)
    for index, label in enumerate(labels):
        guest: dict[sample.Metric, list[KindT]] = {}
        for condition in conditions[label]:
            for recording in select(condition):
                guest.setdefault(recording.metric, []).append(recording)
        bare = {
            recording.metric: recording
            for recording in select(conditions[label][0].reference)
        }
        colour = chart_style.CONDITIONS[index] if label else chart_style.GUEST
        for metric, recordings in guest.items():
            curve = Curve(
                condition=label,
                colour=colour,
                guest=recordings,
                bare=bare.get(metric),
            )
            panels.setdefault(metric, []).append(curve)
    return dict(list(panels.items())[:MOST])


def _label_axes(axes: repetition.Axes) -> str:
    """Return the parameters of a condition as text, as in "guests: 4"."""
    return ", ".join(f"{axis}: {position}" for axis, position in axes.items())


def _draw(
    panels: Panels[KindT],
    draw: t.Callable[[t.Any, sample.Metric, list[Curve[KindT]]], None],
    title: str,
    name: str,
) -> markupsafe.Markup:
    """Return a panel per metric, drawn by a function, as SVG markup."""
    if not panels:
        return markupsafe.Markup()
    charts = []
    with chart_style.settings(name):
        for position, (metric, curves) in enumerate(panels.items()):
            drawn, axes = chart_style.create_panel(
                f"{name}-{position}", metric.name, 2.5
            )
            draw(axes, metric, curves)
            axes.grid()
            _draw_legend(drawn, curves)
            label = f"{title} of guests and of bare metal: {metric.name}"
            charts.append(chart_style.to_svg(drawn, label))
    return chart_style.arrange(charts)


def _style_bare(curve: Curve[KindT], curves: list[Curve[KindT]]) -> Style:
    """Return the colour and the dashes of a bare-metal curve, as a dict."""
    colour = curve.colour if len(curves) > 1 else chart_style.BARE
    return {"color": colour, "linestyle": _DASHES, "linewidth": 1.5}


def _draw_legend(drawn: figure.Figure, curves: list[Curve[KindT]]) -> None:
    """Draw the legend of colours and dashes."""
    colours = {curve.condition or "guests": curve.colour for curve in curves}
    boxes = [
        lines.Line2D(
            [],
            [],
            color=colour,
            label=chart_style.shorten(label, _MAX_LABEL_CHARACTERS),
        )
        for label, colour in colours.items()
    ]
    if any(curve.bare for curve in curves):
        boxes.append(
            lines.Line2D(
                [],
                [],
                color=chart_style.BARE,
                linestyle=_DASHES,
                label="bare metal",
            )
        )
    chart_style.draw_legend(drawn, boxes, ncols=3, fontsize=7)


def _draw_distribution(
    axes: t.Any,
    metric: sample.Metric,
    curves: list[Curve[merged.Distribution]],
) -> None:
    """Draw the percentiles of one metric for guests and bare metal."""
    last = 0.0
    values = [
        value
        for curve in curves
        for side in curve.sides
        for value, _ in _select_supported(side.histogram)
    ]
    factor, unit = units.scale_for(values, metric.unit)
    for index, curve in enumerate(curves):
        (whole,) = merged.merge_distributions([curve.guest])
        sides: list[tuple[merged.Distribution, str, Style]] = [
            (whole, "guests", {"color": curve.colour, "linewidth": 1.5})
        ]
        if curve.bare is not None:
            sides.append((curve.bare, "bare", _style_bare(curve, curves)))
        for side, what, style in sides:
            points = _select_supported(side.histogram)
            positions = [_nines(share) for _, share in points]
            axes.plot(
                positions,
                [value * factor for value, _ in points],
                gid=f"{axes.get_gid()}-{index}-{what}",
                **style,
            )
            last = max(last, *positions)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter("")
    marks = {_nines(percentile / 100): percentile for percentile in _MARKS}
    shown = [position for position in marks if position <= last + 1e-9]
    axes.set_xticks(shown, [f"{marks[position]:g} %" for position in shown])
    axes.set_xlim(0, last)
    axes.set_xlabel("values that are not larger", fontsize=7)
    axes.set_ylabel(f"{sanitize.printable(unit)}, logarithmic", fontsize=7)


def _select_supported(
    counted: histogram.Histogram,
) -> list[tuple[float, float]]:
    """Return pairs of value and share that enough larger values support."""
    points = counted.shares()
    supported = [
        (value, share)
        for value, share in points
        if (1 - share) * counted.count >= histogram.BEYOND
    ]
    return [(points[0][0], 0.0), *supported]


def _nines(share: float) -> float:
    """Return the position of a share on an axis of nines: 2 for 99 %."""
    return -math.log10(1 - share)


def _draw_over_time(
    axes: t.Any, metric: sample.Metric, curves: list[Curve[merged.TimeSeries]]
) -> None:
    """Draw the values of one metric over time for guests and bare metal."""
    gid = axes.get_gid()
    all_lines = [side.means for curve in curves for side in curve.sides]
    highest = [
        value for line in all_lines for value in (*line.mean, *line.high)
    ]
    factor, unit = units.scale_for(highest, metric.unit)
    for index, curve in enumerate(curves):
        draw = functools.partial(_draw_mean, axes, factor)
        guest_lines = [side.means for side in curve.guest]
        points = sum(len(line.mean) for line in guest_lines)
        if len(curves) == 1 and points <= MOST_POINTS:
            for line in guest_lines:
                draw(line, color=curve.colour, linewidth=0.6, alpha=0.5)
        _draw_band(axes, guest_lines, factor, curve.colour)
        draw(
            series.merge_repetitions(guest_lines),
            color=curve.colour,
            linewidth=1.6,
            gid=f"{gid}-{index}-guests",
        )
        if curve.bare is not None:
            style = _style_bare(curve, curves)
            draw(curve.bare.means, gid=f"{gid}-{index}-bare", **style)
    axes.set_xlim(0, max(line.end for line in all_lines))
    axes.set_ylim(0, max(highest) * factor * 1.08 or 1)
    axes.set_xlabel("seconds", fontsize=7)
    axes.set_ylabel(sanitize.printable(unit) or "count", fontsize=7)


def _draw_mean(
    axes: t.Any, factor: float, means: series.MeanSeries, **form: t.Any
) -> None:
    """Draw the mean in the middle of each interval."""
    half = means.end / len(means.mean) / 2
    axes.plot(
        [moment - half for moment, _ in means.points(means.mean)],
        [value * factor for value in means.mean],
        **form,
    )


def _draw_band(
    axes: t.Any,
    guest_lines: list[series.MeanSeries],
    factor: float,
    colour: str,
) -> None:
    """Shade the range between the lowest and the highest guest."""
    low = series.merge_machines(
        [line.points(line.low or line.mean) for line in guest_lines]
    ).low
    high = series.merge_machines(
        [line.points(line.high or line.mean) for line in guest_lines]
    )
    half = high.end / len(high.high) / 2
    axes.fill_between(
        [moment - half for moment, _ in high.points(high.high)],
        [value * factor for value in low],
        [value * factor for value in high.high],
        color=colour,
        alpha=0.12,
        linewidth=0,
    )
