# SPDX-License-Identifier: Apache-2.0
"""Charts of distributions and time series, one panel per metric."""

import collections.abc
import dataclasses
import math
import typing as t

import markupsafe

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series
from rally_vmperf.measurement.samples import units
from rally_vmperf.report.charts import lines
from rally_vmperf.report.charts import style

#: The maximum number of panels in a chart; the record has all metrics.
MOST = 24
#: The maximum number of points of single repetitions in a panel.
MOST_POINTS = 200
#: The classes of the colours of conditions, from the first to the last.
_COLOURS = ("first", "guest", "third", "last")
#: The maximum number of conditions in a panel, evenly selected.
MOST_CONDITIONS = len(_COLOURS)
#: The maximum length of a condition in a legend in characters.
_MAX_LABEL_CHARACTERS = 20
#: The percentiles with a tick on the axis.
_MARKS = (0, *sample.PERCENTILES)

Repetitions = collections.abc.Iterable[repetition.Repetition]
KindT = t.TypeVar("KindT", merged.MergedDistribution, merged.TimeSeries)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PanelCurve(t.Generic[KindT]):
    """The curves of a metric under a condition.

    :param condition: The label; empty if there is only one condition.
    :param guest: The curve of each counted repetition.
    :param bare: The curve of bare metal over its repetitions, in a tuple;
        empty without one.
    """

    condition: str
    colour: str
    guest: list[KindT]
    bare: tuple[KindT, ...]

    @property
    def bare_style(self) -> str:
        """The classes of bare metal: the condition's colour, with dashes."""
        return f"{self.colour if self.condition else ''} bare".strip()


Panels = dict[sample.Metric, list[PanelCurve[KindT]]]


def distributions(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return a chart of percentiles per metric as HTML with SVG.

    :param name: The prefix of identifiers in the chart.
    """
    panels: Panels[merged.MergedDistribution] = _create_panels(
        repetitions, lambda side: side.distributions
    )
    return _draw(panels, _draw_distribution, "Distributions", name)


def over_time(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return a chart of values over time per metric as HTML with SVG.

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
    labels = style.select_evenly(list(conditions), MOST_CONDITIONS)
    for label, colour in zip(labels, _COLOURS, strict=False):
        guest: dict[sample.Metric, list[KindT]] = {}
        for condition in conditions[label]:
            for recording in select(condition):
                guest.setdefault(recording.metric, []).append(recording)
        bare = select(conditions[label][0].reference)
        for metric, recordings in guest.items():
            curve = PanelCurve(
                condition=label,
                colour=colour if label else "guest",
                guest=recordings,
                bare=tuple(side for side in bare if side.metric == metric),
            )
            panels.setdefault(metric, []).append(curve)
    return dict(list(panels.items())[:MOST])


def _label_axes(axes: repetition.Axes) -> str:
    """Return the parameters of a condition as text, as in "guests: 4"."""
    return ", ".join(f"{axis}: {position}" for axis, position in axes.items())


def _draw(
    panels: Panels[KindT],
    draw: t.Callable[..., markupsafe.Markup],
    title: str,
    name: str,
) -> markupsafe.Markup:
    """Return a legend, and a panel per metric drawn by a function."""
    if not panels:
        return markupsafe.Markup()
    keys = {
        curve.colour: curve.condition or "guests"
        for curves in panels.values()
        for curve in curves
    }
    if any(curve.bare for curves in panels.values() for curve in curves):
        keys["bare"] = "bare metal"
    legend = markupsafe.Markup().join(
        style.create_element("i", style=colour)
        + style.create_element(
            "span", style.shorten(text, _MAX_LABEL_CHARACTERS)
        )
        for colour, text in keys.items()
    )
    charts = [
        draw(
            metric,
            curves,
            label=f"{title} of guests and of bare metal: {metric.name}",
            name=f"{name}-{position}",
        )
        for position, (metric, curves) in enumerate(panels.items())
    ]
    legend = style.create_element("p", legend, style="legend")
    return legend + style.arrange(charts)


def _draw_distribution(
    metric: sample.Metric,
    curves: list[PanelCurve[merged.MergedDistribution]],
    **texts: str,
) -> markupsafe.Markup:
    """Return the chart of a metric's percentiles for guests and bare metal.

    :param texts: The label and the name of the chart.
    """
    shown: list[lines.ChartLine] = []
    for index, curve in enumerate(curves):
        guests = merged.merge_distributions([curve.guest])
        for side, distributions_, classes in (
            ("guests", guests, curve.colour),
            ("bare", curve.bare, curve.bare_style),
        ):
            shown += [
                lines.ChartLine(
                    style=classes,
                    points=_list_points(distribution.histogram),
                    name=f"{index}-{side}",
                )
                for distribution in distributions_
            ]
    heights = [height for line in shown for _, height in line.points]
    factor, unit = units.scale_for(heights, metric.unit)
    last = max(position for line in shown for position, _ in line.points)
    return lines.draw(
        metric.name,
        _scale(shown, factor),
        lines.ChartAxis(
            low=0,
            high=last,
            labels={
                _nines(percentile / 100): f"{percentile:g} %"
                for percentile in _MARKS
                if _nines(percentile / 100) <= last + 1e-9
            },
            title="values that are not larger",
        ),
        lines.ChartAxis(
            low=min(heights) * factor,
            high=max(heights) * factor,
            is_logarithmic=True,
        ),
        note=f"{unit}, logarithmic",
        **texts,
    )


def _list_points(counted: histogram.Histogram) -> lines.Points:
    """Return the values that enough larger ones support, by their share.

    The positions are those on an axis of nines.
    """
    points = counted.shares()
    return [
        (0.0, points[0][0]),
        *(
            (_nines(share), value)
            for value, share in points
            if (1 - share) * counted.count >= histogram.BEYOND
        ),
    ]


def _nines(share: float) -> float:
    """Return the position of a share on an axis of nines: 2 for 99 %."""
    return -math.log10(1 - share)


def _draw_over_time(
    metric: sample.Metric,
    curves: list[PanelCurve[merged.TimeSeries]],
    **texts: str,
) -> markupsafe.Markup:
    """Return the chart of a metric over time for guests and bare metal.

    :param texts: The label and the name of the chart.
    """
    shown: list[lines.ChartLine] = []
    for index, curve in enumerate(curves):
        guests = [side.means for side in curve.guest]
        shown.append(_create_band(guests, curve.colour))
        if (
            len(curves) == 1
            and sum(len(means.mean) for means in guests) <= MOST_POINTS
        ):
            shown += [_create_line(means, "guest thin") for means in guests]
        whole = series.merge_repetitions(guests)
        shown.append(_create_line(whole, curve.colour, f"{index}-guests"))
        shown += [
            _create_line(bare.means, curve.bare_style, f"{index}-bare")
            for bare in curve.bare
        ]
    heights = [height for line in shown for _, height in line.points]
    factor, unit = units.scale_for(heights, metric.unit)
    sides = [side for curve in curves for side in (*curve.guest, *curve.bare)]
    return lines.draw(
        metric.name,
        _scale(shown, factor),
        lines.ChartAxis(
            low=0,
            high=max(side.means.end for side in sides),
            title="seconds",
        ),
        lines.ChartAxis(low=0, high=max(heights) * factor * 1.08 or 1),
        note=unit or "count",
        **texts,
    )


def _scale(
    shown: collections.abc.Iterable[lines.ChartLine], factor: float
) -> collections.abc.Iterator[lines.ChartLine]:
    """Yield the lines with all values times a factor."""
    for line in shown:
        points = [
            (position, value * factor) for position, value in line.points
        ]
        yield dataclasses.replace(line, points=points)


def _create_line(
    means: series.MeanSeries, classes: str, name: str = ""
) -> lines.ChartLine:
    """Return a line through the mean in the middle of each interval."""
    points = _list_middles(means, means.mean)
    return lines.ChartLine(style=classes, points=points, name=name)


def _create_band(
    guests: collections.abc.Sequence[series.MeanSeries], colour: str
) -> lines.ChartLine:
    """Return the area between the lowest and the highest guest."""
    low = series.merge_machines(
        [means.points(means.low or means.mean) for means in guests]
    )
    high = series.merge_machines(
        [means.points(means.high or means.mean) for means in guests]
    )
    top = _list_middles(high, high.high)
    bottom = _list_middles(low, low.low)
    return lines.ChartLine(
        style=f"{colour} band", points=[*top, *bottom[::-1]]
    )


def _list_middles(
    means: series.MeanSeries, row: tuple[float, ...]
) -> list[tuple[float, float]]:
    """Return the values with the middles of their intervals, as pairs."""
    half = means.end / len(row) / 2
    return [(moment - half, value) for moment, value in means.points(row)]
