# SPDX-License-Identifier: Apache-2.0
"""What a number of repetitions can decide."""

import collections.abc
import functools
import math

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

#: Confidence at which a limit is beyond return. It is far above that of a
#: verdict, as the check runs after each repetition.
FINAL_CONFIDENCE = 0.999
#: Share of runs that pass at the decidable distance.
_POWER = 0.8
#: The number of simulated runs, and of comparisons from which on it is
#: smaller; and the noise in them, which is arbitrary.
_RUNS, _COMPARISONS = 1000, 8000
_NOISE = 0.001


@functools.cache
def decidable_distance(
    bare: int,
    guest: int,
    confidence: float = 0.95,
    guests: int = 1,
    copies: int = 1,
) -> float | None:
    """Return the distance from a limit at which a guest passes in 4 of 5 runs.

    The distance is a multiple of the noise, the standard deviation of the
    logarithms of repetitions, which is the same on both sides. Simulated
    runs are compared by the rules of the verdict. None without an interval.

    :param bare: The number of repetitions of bare metal.
    :param guest: The number of counted repetitions of the guest.
    :param guests: The number of guests that must all pass.
    :param copies: The number of copies on bare metal, with whose mean each
        guest is compared; the noise is that of a copy.
    """
    if min(bare, guest) < statistics.FEWEST:
        return None
    import numpy

    random = numpy.random.default_rng(1)
    metric = sample.Metric("time", "s", "lower")
    highest: list[float] = []
    for _ in range(min(_RUNS, max(_RUNS // 5, _COMPARISONS // guests))):
        bare_values, *values_by_guest = (
            numpy.exp(random.normal(0, _NOISE, shape)).tolist()
            for shape in ((bare, copies), *[(guest, 1)] * guests)
        )
        comparisons = [
            loss.compare(metric, bare_values, guest_values, confidence)
            for guest_values in values_by_guest
        ]
        highest.append(max(comparison.high or 0 for comparison in comparisons))
    distance = float(numpy.quantile(highest, _POWER)) / 100
    return math.log1p(distance) / _NOISE


def passing_loss(
    metric: sample.Metric, limit: float, distance: float
) -> float:
    """Return the loss at a distance within its limit, in percent.

    :param limit: The limit of the loss, in percent.
    :param distance: The distance as a difference of logarithms.
    """
    sign = 1 if metric.better == "higher" else -1
    ratio = loss.ratio(metric, limit) * math.exp(sign * distance)
    return loss.percent(metric, ratio)


def distance_from_limit(
    metric: sample.Metric,
    limit: float,
    multiple: float,
    noise: float,
    mean: float,
) -> float:
    """Return the distance from a limit in points of percent.

    :param limit: The limit of the loss, in percent.
    :param multiple: The distance as a multiple of the noise.
    :param noise: The standard deviation of the logarithms of bare metal, which
        the guest is assumed to have.
    :param mean: The mean of bare metal, by which values are rounded.
    """
    distance = _find_distance(metric, multiple, noise, mean)
    return limit - passing_loss(metric, limit, distance)


def smallest_limit(
    metric: sample.Metric, repetitions: int, noise: float, mean: float
) -> float:
    """Return the smallest limit that can be decided, in percent.

    A guest without a loss passes in 4 of 5 runs with this limit.

    :param repetitions: The number of repetitions of each side, at least 3.
    :param noise: The standard deviation of the logarithms of repetitions.
    :param mean: The mean of the values, by which they are rounded.
    """
    multiple = decidable_distance(repetitions, repetitions) or math.inf
    distance = _find_distance(metric, multiple, noise, mean)
    sign = 1 if metric.better == "higher" else -1
    return loss.percent(metric, math.exp(-sign * distance))


def _find_distance(
    metric: sample.Metric, multiple: float, noise: float, mean: float
) -> float:
    """Return the distance from a limit as a difference of logarithms."""
    error = metric.error(mean) or 0
    return multiple * noise + math.log1p(2 * error)


def lowest_possible_loss(
    comparison: loss.Comparison, planned: int, both: bool = False
) -> float | None:
    """Return the smallest loss that is still possible, in percent.

    A limit below this loss cannot be met. The loss is the lower of two: the
    end of the interval at 99.9 %, and the loss if all further repetitions
    equal the best one. None without an interval.

    :param both: Whether each repetition measures both sides.
    """
    ratios = statistics.interval(
        comparison.bare_values,
        comparison.guest_values,
        FINAL_CONFIDENCE,
        comparison.error,
        comparison.paired,
    )
    if ratios is None:
        return None
    higher = comparison.metric.better == "higher"
    best, worst = (max, min) if higher else (min, max)
    guest = _mean_with_further(comparison.guest_values, best, planned)
    bare = comparison.bare
    if both:
        bare = _mean_with_further(comparison.bare_values, worst, planned)
    return min(
        loss.percent(comparison.metric, ratio)
        for ratio in (*ratios, guest / bare)
    )


def _mean_with_further(
    measured: tuple[float, ...],
    choose: collections.abc.Callable[[tuple[float, ...]], float],
    planned: int,
) -> float:
    """Return the mean if all further values equal a chosen one."""
    further = [choose(measured)] * max(0, planned - len(measured))
    return statistics.geometric_mean([*measured, *further])
