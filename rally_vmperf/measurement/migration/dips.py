"""Dips of a rate during a migration: depth, duration, recovery."""

import collections.abc
import dataclasses
import itertools
import math
import statistics as numbers

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.samples import sample

#: The confidence of intervals.
_CONFIDENCE = 0.95
#: A rate has recovered if it is at most this share below the usual rate.
TOLERANCE = 0.05
#: The fewest intervals before the migration.
FEWEST = 5
#: A dip with at least this number of intervals has a depth without its first
#: and last interval, which may lie partly outside of it.
_WITH_INTERIOR = 4

Points = collections.abc.Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class UsualRate:
    """The rate before the migration.

    :param deviation: The standard deviation of an interval.
    :param number: The number of intervals.
    """

    mean: float
    deviation: float
    number: int

    @property
    def quantile(self) -> float:
        """The quantile of Student's distribution for an interval."""
        return statistics.student_quantile(_CONFIDENCE, self.number - 1)

    def error(self, number: int) -> float:
        """Return the error of the difference from the mean of intervals.

        :param number: The number of the intervals that are compared with it.
        """
        share = math.sqrt(1 / number + 1 / self.number)
        return self.quantile * self.deviation * share


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dip:
    """A time with a lower rate.

    :param begun: The begin in seconds, on the time axis of the rate.
    :param ended: The end in seconds.
    :param loss: The lost share of the usual rate.
    :param loss_error: The error of the loss.
    :param edge_error: The error of the begin and of the end in seconds.
    """

    begun: float
    ended: float
    loss: float
    loss_error: float
    edge_error: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Disruption:
    """The effect of a migration on a rate.

    :param dip: The loss in percent in the deepest dip.
    :param duration: The duration of that dip in seconds.
    :param recovery: The seconds from the request for the migration until the
        rate stays within ``TOLERANCE`` of the usual one; None if it does not
        before the end of the measurement.
    """

    dip: estimates.Estimate
    duration: estimates.Estimate
    recovery: estimates.Estimate | None


def compute_usual_rate(rates: collections.abc.Sequence[float]) -> UsualRate:
    """Return the mean and the deviation of the rates before a migration.

    :raises ValueError: If there are too few rates, or their mean is zero.
    """
    if len(rates) < FEWEST or not numbers.fmean(rates) > 0:
        raise ValueError(
            f"{len(rates)} intervals with a rate before the migration: must "
            f"be at least {FEWEST}, with a mean above zero"
        )
    return UsualRate(
        mean=numbers.fmean(rates),
        deviation=numbers.stdev(rates),
        number=len(rates),
    )


def estimate_disruption(
    usual: UsualRate, points: Points, requested: float
) -> Disruption:
    """Return dip, duration and recovery after the request for a migration.

    :param points: The end of each interval in seconds, and its rate.
    :param requested: The time of the request, on the same axis.
    :raises ValueError: If there are too few intervals after the request.
    """
    width = numbers.median(
        late - early for (early, _), (late, _) in itertools.pairwise(points)
    )
    after = [point for point in points if point[0] > requested]
    if len(after) < FEWEST:
        raise ValueError(
            f"{len(after)} intervals with a rate after the request for the "
            f"migration: must be at least {FEWEST}"
        )
    dips = list(_find_dips(usual, after, width))
    unseen = 100 * usual.error(1) / usual.mean
    if not dips:
        return Disruption(
            dip=estimates.Estimate(value=0.0, error=unseen),
            duration=estimates.Estimate(value=0.0, error=width),
            recovery=estimates.Estimate(value=0.0, error=width),
        )
    deepest = max(dips, key=lambda dip: dip.loss)
    last = max(dips, key=lambda dip: dip.ended)
    recovery = None
    if last.ended < after[-1][0] - width / 2:
        recovery = estimates.Estimate(
            value=max(0.0, last.ended - requested), error=last.edge_error
        )
    return Disruption(
        dip=estimates.Estimate(
            value=100 * deepest.loss, error=100 * deepest.loss_error
        ),
        duration=estimates.Estimate(
            value=deepest.ended - deepest.begun,
            error=math.sqrt(2) * deepest.edge_error,
        ),
        recovery=recovery,
    )


def estimate_loss(
    usual: UsualRate,
    rates: collections.abc.Sequence[float],
    better: sample.Better = "higher",
) -> estimates.Estimate:
    """Return the loss of a rate in percent; 0 with its error for a gain.

    :param rates: The rates of the intervals that are compared.
    :param better: The direction; ``lower`` for response times.
    :raises ValueError: If there are none.
    """
    if not rates:
        raise ValueError("no interval with a rate during the migration")
    share = 100 / usual.mean
    loss = share * (usual.mean - numbers.fmean(rates))
    if better == "lower":
        loss = -loss
    error = share * usual.error(len(rates))
    if loss < 0:
        return estimates.Estimate(value=0.0, error=max(0.0, loss + error))
    return estimates.Estimate(value=loss, error=error)


def _find_dips(
    usual: UsualRate, points: Points, width: float
) -> collections.abc.Iterator[Dip]:
    """Yield the dips in the intervals, the surest first of each part.

    The intervals before and after a dip are searched again.
    """
    deficits = [usual.mean - rate for _, rate in points]
    place = _find_segment(usual, deficits)
    if place is None:
        return
    first, last = place
    yield _measure_dip(usual, points, deficits, place, width)
    yield from _find_dips(usual, points[:first], width)
    yield from _find_dips(usual, points[last + 1 :], width)


def _find_segment(
    usual: UsualRate, deficits: collections.abc.Sequence[float]
) -> tuple[int, int] | None:
    """Return the first and the last interval of the surest dip, or None.

    It is the rectangle with the least sum of squares. A rectangle that noise
    explains, or a loss that is within the tolerance, is not a dip.
    """
    sums = [0.0, *itertools.accumulate(deficits)]
    number = len(deficits)
    best, place = 0.0, None
    for first in range(number):
        for last in range(first, number):
            total = sums[last + 1] - sums[first]
            length = last + 1 - first
            if total > TOLERANCE * usual.mean * length:
                gain = total * total / length
                if gain > best:
                    best, place = gain, (first, last)
    # The largest of so many squares of normal values.
    noise = 2 * math.log(max(2, number * (number + 1) / 2)) + 2
    if best <= noise * usual.deviation**2:
        return None
    return place


def _measure_dip(
    usual: UsualRate,
    points: Points,
    deficits: collections.abc.Sequence[float],
    place: tuple[int, int],
    width: float,
) -> Dip:
    """Return the dip in a segment, with its edges within intervals."""
    first, last = place
    inner = 1 if last + 1 - first >= _WITH_INTERIOR else 0
    interior = deficits[first + inner : last + 1 - inner]
    depth = numbers.fmean(interior)
    depth_error = usual.error(len(interior))
    before = deficits[max(0, first - 1) : first + inner]
    after = deficits[last + 1 - inner : last + 2]
    # The lost amount beside the interior, as a duration of the dip.
    early = width * min(max(sum(before) / depth, 0), len(before))
    late = width * min(max(sum(after) / depth, 0), len(after))
    noise = usual.quantile * usual.deviation * width / depth * math.sqrt(2)
    skew = max(early, late) * depth_error / depth
    edge_error = math.hypot(noise, skew)
    if not inner:
        edge_error = max(edge_error, width)
    return Dip(
        begun=points[first + inner][0] - width - early,
        ended=points[last - inner][0] + late,
        loss=min(1.0, depth / usual.mean),
        loss_error=depth_error / usual.mean,
        edge_error=edge_error,
    )
