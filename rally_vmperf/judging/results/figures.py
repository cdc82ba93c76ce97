"""The figures of judged results as numbers."""

import dataclasses
import functools

from rally_vmperf.judging.results import density_result
from rally_vmperf.judging.results import figure_result
from rally_vmperf.judging.results import metric_result
from rally_vmperf.judging.results import spread_result
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points


@functools.singledispatch
def list_values(
    result: metric_result.MetricResult,
) -> list[verdict.FigureValue]:
    """Return the figures of a judged result as numbers, a list.

    :raises NotImplementedError: If the class of the result is unknown.
    """
    raise NotImplementedError(type(result).__name__)


@list_values.register
def _list_figure(
    result: figure_result.FigureResult,
) -> list[verdict.FigureValue]:
    """Return the overhead or the absolute value of guests, in a list."""
    if result.figure == "overhead":
        worst = "worst_" if result.worst_label else ""
        name, unit = f"{worst}{result.names[-1]}", "%"
    else:
        name, unit = result.figure, result.metric.unit
    value = verdict.FigureValue(
        name=name,
        unit=unit,
        guests=result.guests,
        variant=result.variant,
        limit=result.limit,
        status=result.status,
        reason=result.reason or result.void_level,
    )
    if (comparison := result.decisive) is not None:
        value = _with_comparison(value, comparison)
    elif (absolute := result.value) is not None:
        value = dataclasses.replace(
            value,
            value=absolute.value,
            low=absolute.low,
            high=absolute.high,
        )
    return [_negate(value, result.names[0]) if result.is_gain else value]


@list_values.register
def _list_spread(
    result: spread_result.SpreadResult,
) -> list[verdict.FigureValue]:
    """Return the spread of repetitions, in a list."""
    low, high = result.interval or (None, None)
    return [
        verdict.FigureValue(
            name=result.figure,
            unit="%",
            variant=result.variant,
            value=result.of(result.guest),
            low=low,
            high=high,
            limit=result.limit,
            status=result.status,
            reason=result.reason,
        )
    ]


@list_values.register
def _list_density(
    result: density_result.DensityResult,
) -> list[verdict.FigureValue]:
    """Return the loss or the fairness at each number of guests, a list.

    A level without a limit, such as a solo guest compared with itself, can
    have no figure.
    """
    levels = {point.guests for point in result.points}
    values = [
        _build_density(result, guests)
        for guests in sorted(levels | result.statuses.keys())
    ]
    return [
        value
        for value in values
        if value.status is not None or value.value is not None
    ]


def _build_density(
    result: density_result.DensityResult, guests: int
) -> verdict.FigureValue:
    """Return the loss or the fairness at a number of guests."""
    point, status = result.point(guests), result.statuses.get(guests)
    value = verdict.FigureValue(
        name=result.figure,
        unit="1" if result.figure == "index" else "%",
        guests=guests,
        limit=result.limit if status else None,
        status=status,
    )
    if result.figure == "loss":
        name = f"{result.statistic}_loss_to_{result.compare_to}"
        value = dataclasses.replace(value, name=name)
        comparison, _ = result.decisive(guests)
        if comparison is not None and not result.missing_solo_run(guests):
            return _with_comparison(value, comparison)
    elif point and (uneven := point.unevenness(result.figure)):
        ends = map(uneven.to_figure, uneven.interval(result.confidence) or ())
        low, high = sorted(ends) or (None, None)
        mean = uneven.to_figure(uneven.mean)
        return dataclasses.replace(value, value=mean, low=low, high=high)
    reason = result.missing_solo_run(guests) or points.missing_figure_reason(
        point, result.figure, result.compare_to
    )
    return dataclasses.replace(value, reason=reason)


def _with_comparison(
    value: verdict.FigureValue, comparison: loss.Comparison
) -> verdict.FigureValue:
    """Return a copy of a figure with the loss of a comparison."""
    return dataclasses.replace(
        value,
        value=comparison.overhead_percent,
        low=comparison.low,
        high=comparison.high,
    )


def _negate(value: verdict.FigureValue, reference: str) -> verdict.FigureValue:
    """Return a copy of a loss as the gain over a reference."""
    gain, low, high, limit = (
        None if number is None else loss.negate(number)
        for number in (value.value, value.high, value.low, value.limit)
    )
    return dataclasses.replace(
        value,
        name=f"{value.name}_over_{reference}",
        value=gain,
        low=low,
        high=high,
        limit=limit,
    )
