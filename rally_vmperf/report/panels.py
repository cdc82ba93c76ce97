"""Drawings of distributions and of values over time, a panel a metric."""

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
from rally_vmperf.report import look

#: Panels of a drawing; the record has all.
MOST = 24
#: Conditions in a panel: the first, the last, and some between them.
MOST_CONDITIONS = 4

_COLUMNS = 2
_DASHES = (0, (4, 2))
#: Percentiles that an axis is marked at.
_MARKS = (0, *sample.PERCENTILES)

Repetitions = collections.abc.Iterable[repetition.Repetition]
KindT = t.TypeVar("KindT", merged.Distribution, merged.TimeSeries)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve(t.Generic[KindT]):
    """One metric under one condition.

    :param condition: as text, empty where there is only one
    :param guest: of each counted repetition
    :param bare: of bare metal, over its repetitions; None where it has none
    """

    condition: str
    colour: str
    guest: list[KindT]
    bare: KindT | None


Panels = dict[sample.Metric, list[Curve[KindT]]]


def distributions(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return percentiles up to the last that values support.

    :param name: of the drawing, begins its identifiers
    """
    panels: Panels[merged.Distribution] = _panels(
        repetitions, lambda one: one.distributions
    )
    return _draw(panels, _distribution, "Distributions", name)


def over_time(repetitions: Repetitions, name: str) -> markupsafe.Markup:
    """Return values over time.

    :param name: of the drawing, begins its identifiers
    """
    panels: Panels[merged.TimeSeries] = _panels(
        repetitions, lambda one: one.time_series
    )
    return _draw(panels, _over_time, "Values over time", name)


def _panels(
    repetitions: Repetitions,
    of: t.Callable[
        [repetition.Condition | repetition.Reference], tuple[KindT, ...]
    ],
) -> Panels[KindT]:
    """Return the curves of each metric, in the order of the conditions."""
    conditions: dict[str, list[repetition.Condition]] = {}
    for entry in repetitions:
        for one in entry.conditions if entry.counted else ():
            if of(one):
                conditions.setdefault(_label(one.axes), []).append(one)
    kept = _spread(list(conditions))
    found: Panels[KindT] = {}
    for index, label in enumerate(kept):
        there = conditions[label]
        for metric in dict.fromkeys(
            x.metric for one in there for x in of(one)
        ):
            curve = Curve(
                condition=label,
                colour=look.CONDITIONS[index] if label else look.GUEST,
                guest=[
                    x for one in there for x in of(one) if x.metric == metric
                ],
                bare=next(
                    (x for x in of(there[0].reference) if x.metric == metric),
                    None,
                ),
            )
            found.setdefault(metric, []).append(curve)
    return dict(list(found.items())[:MOST])


def _label(axes: repetition.Axes) -> str:
    return ", ".join(f"{key}: {at}" for key, at in axes.items())


def _spread(labels: list[str]) -> list[str]:
    """Return an even selection, with the first and the last."""
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
    if not panels:
        return markupsafe.Markup()
    rows = math.ceil(len(panels) / _COLUMNS)
    with look.settings(name):
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
        _key(drawn, panels)
        return look.svg(drawn, f"{title} of guests and of bare metal")


def _key(drawn: figure.Figure, panels: Panels[KindT]) -> None:
    """Draw the legend of colours and dashes."""
    every = [curve for curves in panels.values() for curve in curves]
    named = {curve.condition or "guests": curve.colour for curve in every}
    boxes = [
        lines.Line2D([], [], color=colour, label=sanitize.printable(label))
        for label, colour in named.items()
    ]
    if any(curve.bare for curve in every):
        several = len(named) > 1
        boxes.append(
            lines.Line2D(
                [],
                [],
                color=look.BARE,
                linestyle=_DASHES,
                label="bare metal"
                + (", in the colour of as many guests" if several else ""),
            )
        )
    look.legend(drawn, boxes, ncols=len(boxes))


def _distribution(
    axes: t.Any,
    metric: sample.Metric,
    curves: list[Curve[merged.Distribution]],
    gid: str,
) -> None:
    last = 0.0
    several = len(curves) > 1
    values = [
        value
        for curve in curves
        for one in (*curve.guest, *([curve.bare] if curve.bare else []))
        for value, _ in _supported(one.histogram)
    ]
    factor, unit = units.scale_for(values, metric.unit)
    for index, curve in enumerate(curves):
        (whole,) = merged.merge_distributions([curve.guest])
        sides: list[tuple[merged.Distribution, str, t.Any, str]] = [
            (whole, curve.colour, "-", "guests")
        ]
        if curve.bare is not None:
            grey = curve.colour if several else look.BARE
            sides.append((curve.bare, grey, _DASHES, "bare"))
        for one, colour, style, what in sides:
            points = _supported(one.histogram)
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
    marks = [one for one in _MARKS if _nines(one / 100) <= last + 1e-9]
    axes.set_xticks(
        [_nines(one / 100) for one in marks], [f"{one:g} %" for one in marks]
    )
    axes.set_xlim(0, last)
    axes.set_xlabel("values that are not larger", fontsize=7)
    axes.set_ylabel(f"{sanitize.printable(unit)}, logarithmic", fontsize=7)


def _supported(
    counted: histogram.Histogram,
) -> list[tuple[float, float]]:
    """Return the values and shares that enough values support."""
    points = counted.shares()
    kept = [
        (value, share)
        for value, share in points
        if (1 - share) * counted.count >= histogram.BEYOND
    ]
    return [(points[0][0], 0.0), *kept]


def _nines(share: float) -> float:
    """Return the index of a share on an axis of nines: 2 for 99 %."""
    return -math.log10(1 - share)


def _over_time(
    axes: t.Any,
    metric: sample.Metric,
    curves: list[Curve[merged.TimeSeries]],
    gid: str,
) -> None:
    several = len(curves) > 1
    every = [
        one.line
        for curve in curves
        for one in (*curve.guest, *([curve.bare] if curve.bare else []))
    ]
    highest = [value for line in every for value in (*line.mean, *line.high)]
    factor, unit = units.scale_for(highest, metric.unit)
    for index, curve in enumerate(curves):
        given = [one.line for one in curve.guest]
        for line in () if several else given:
            _line(
                axes,
                line,
                factor,
                color=curve.colour,
                linewidth=0.6,
                alpha=0.5,
            )
        _band(axes, given, factor, curve.colour)
        _line(
            axes,
            series.merge_lines(given),
            factor,
            color=curve.colour,
            linewidth=1.6,
            gid=f"{gid}-{index}-guests",
        )
        if curve.bare is not None:
            _line(
                axes,
                curve.bare.line,
                factor,
                color=curve.colour if several else look.BARE,
                linestyle=_DASHES,
                linewidth=1.5,
                gid=f"{gid}-{index}-bare",
            )
    axes.set_xlim(0, max(line.end for line in every))
    axes.set_ylim(0, max(highest) * factor * 1.08 or 1)
    axes.set_xlabel("seconds", fontsize=7)
    axes.set_ylabel(sanitize.printable(unit) or "count", fontsize=7)


def _line(
    axes: t.Any, line: series.Line, factor: float, **form: t.Any
) -> None:
    """Draw the mean in the middle of each interval."""
    half = line.end / len(line.mean) / 2
    axes.plot(
        [moment - half for moment, _ in line.points(line.mean)],
        [value * factor for value in line.mean],
        **form,
    )


def _band(
    axes: t.Any, given: list[series.Line], factor: float, colour: str
) -> None:
    """Shade the range between the lowest and the highest guest."""
    low = series.merge([one.points(one.low or one.mean) for one in given]).low
    high = series.merge([one.points(one.high or one.mean) for one in given])
    half = high.end / len(high.high) / 2
    axes.fill_between(
        [moment - half for moment, _ in high.points(high.high)],
        [value * factor for value in low],
        [value * factor for value in high.high],
        color=colour,
        alpha=0.12,
        linewidth=0,
    )
