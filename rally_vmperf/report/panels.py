"""Charts of distributions and time series, one panel per metric."""

import collections.abc
import dataclasses
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
#: The maximum number of conditions in a panel, evenly selected.
MOST_CONDITIONS = 4

_COLUMNS = 2
_DASHES = (0, (4, 2))
#: The percentiles with a tick on the axis.
_MARKS = (0, *sample.PERCENTILES)

Repetitions = collections.abc.Iterable[repetition.Repetition]
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
    for repetition_ in repetitions:
        for condition in repetition_.conditions if repetition_.counted else ():
            if select(condition):
                label = _label_axes(condition.axes)
                conditions.setdefault(label, []).append(condition)
    panels: Panels[KindT] = {}
    for index, label in enumerate(_select_labels(list(conditions))):
        labelled = conditions[label]
        for metric in dict.fromkeys(
            recording.metric
            for condition in labelled
            for recording in select(condition)
        ):
            curve = Curve(
                condition=label,
                colour=chart_style.CONDITIONS[index]
                if label
                else chart_style.GUEST,
                guest=[
                    recording
                    for condition in labelled
                    for recording in select(condition)
                    if recording.metric == metric
                ],
                bare=next(
                    (
                        recording
                        for recording in select(labelled[0].reference)
                        if recording.metric == metric
                    ),
                    None,
                ),
            )
            panels.setdefault(metric, []).append(curve)
    return dict(list(panels.items())[:MOST])


def _label_axes(axes: repetition.Axes) -> str:
    """Return the parameters of a condition as text, as in "guests: 4"."""
    return ", ".join(f"{axis}: {position}" for axis, position in axes.items())


def _select_labels(labels: list[str]) -> list[str]:
    """Return a few labels at even distances, first and last included."""
    if len(labels) <= MOST_CONDITIONS:
        return labels
    step = (len(labels) - 1) / (MOST_CONDITIONS - 1)
    return [labels[round(index * step)] for index in range(MOST_CONDITIONS)]


def _draw(
    panels: Panels[KindT],
    draw: t.Callable[[t.Any, sample.Metric, list[Curve[KindT]], str], None],
    title: str,
    name: str,
) -> markupsafe.Markup:
    """Return a panel per metric, drawn by a function, as SVG markup."""
    if not panels:
        return markupsafe.Markup()
    rows = math.ceil(len(panels) / _COLUMNS)
    with chart_style.settings(name):
        drawn = figure.Figure(
            figsize=(8.6, 0.4 + 2.3 * rows), layout="constrained"
        )
        for index, (metric, curves) in enumerate(panels.items()):
            axes = drawn.add_subplot(rows, _COLUMNS, index + 1)
            axes.set_gid(f"{name}-{index}")
            axes.set_title(
                sanitize.printable(metric.name), loc="left", fontweight="bold"
            )
            draw(axes, metric, curves, f"{name}-{index}")
            axes.tick_params(labelsize=7)
            axes.grid()
        _draw_legend(drawn, panels)
        return chart_style.to_svg(
            drawn, f"{title} of guests and of bare metal"
        )


def _draw_legend(drawn: figure.Figure, panels: Panels[KindT]) -> None:
    """Draw the legend of colours and dashes."""
    all_curves = [curve for curves in panels.values() for curve in curves]
    colours = {
        curve.condition or "guests": curve.colour for curve in all_curves
    }
    boxes = [
        lines.Line2D([], [], color=colour, label=sanitize.printable(label))
        for label, colour in colours.items()
    ]
    if any(curve.bare for curve in all_curves):
        several = len(colours) > 1
        boxes.append(
            lines.Line2D(
                [],
                [],
                color=chart_style.BARE,
                linestyle=_DASHES,
                label="bare metal"
                + (", in the colour of as many guests" if several else ""),
            )
        )
    chart_style.draw_legend(drawn, boxes, ncols=len(boxes))


def _draw_distribution(
    axes: t.Any,
    metric: sample.Metric,
    curves: list[Curve[merged.Distribution]],
    gid: str,
) -> None:
    """Draw the percentiles of one metric for guests and bare metal."""
    last = 0.0
    several = len(curves) > 1
    values = [
        value
        for curve in curves
        for side in (*curve.guest, *([curve.bare] if curve.bare else []))
        for value, _ in _select_supported(side.histogram)
    ]
    factor, unit = units.scale_for(values, metric.unit)
    for index, curve in enumerate(curves):
        (whole,) = merged.merge_distributions([curve.guest])
        sides: list[tuple[merged.Distribution, str, t.Any, str]] = [
            (whole, curve.colour, "-", "guests")
        ]
        if curve.bare is not None:
            grey = curve.colour if several else chart_style.BARE
            sides.append((curve.bare, grey, _DASHES, "bare"))
        for side, colour, style, what in sides:
            points = _select_supported(side.histogram)
            axes.plot(
                [_nines(share) for _, share in points],
                [value * factor for value, _ in points],
                color=colour,
                linestyle=style,
                linewidth=1.5,
                gid=f"{gid}-{index}-{what}",
            )
            last = max(last, *(_nines(share) for _, share in points))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter("")
    marks = [
        percentile
        for percentile in _MARKS
        if _nines(percentile / 100) <= last + 1e-9
    ]
    axes.set_xticks(
        [_nines(percentile / 100) for percentile in marks],
        [f"{percentile:g} %" for percentile in marks],
    )
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
    axes: t.Any,
    metric: sample.Metric,
    curves: list[Curve[merged.TimeSeries]],
    gid: str,
) -> None:
    """Draw the values of one metric over time for guests and bare metal."""
    several = len(curves) > 1
    all_lines = [
        side.means
        for curve in curves
        for side in (*curve.guest, *([curve.bare] if curve.bare else []))
    ]
    highest = [
        value for line in all_lines for value in (*line.mean, *line.high)
    ]
    factor, unit = units.scale_for(highest, metric.unit)
    for index, curve in enumerate(curves):
        guest_lines = [side.means for side in curve.guest]
        for line in () if several else guest_lines:
            _draw_mean(
                axes,
                line,
                factor,
                color=curve.colour,
                linewidth=0.6,
                alpha=0.5,
            )
        _draw_band(axes, guest_lines, factor, curve.colour)
        _draw_mean(
            axes,
            series.merge_repetitions(guest_lines),
            factor,
            color=curve.colour,
            linewidth=1.6,
            gid=f"{gid}-{index}-guests",
        )
        if curve.bare is not None:
            _draw_mean(
                axes,
                curve.bare.means,
                factor,
                color=curve.colour if several else chart_style.BARE,
                linestyle=_DASHES,
                linewidth=1.5,
                gid=f"{gid}-{index}-bare",
            )
    axes.set_xlim(0, max(line.end for line in all_lines))
    axes.set_ylim(0, max(highest) * factor * 1.08 or 1)
    axes.set_xlabel("seconds", fontsize=7)
    axes.set_ylabel(sanitize.printable(unit) or "count", fontsize=7)


def _draw_mean(
    axes: t.Any, means: series.MeanSeries, factor: float, **form: t.Any
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
