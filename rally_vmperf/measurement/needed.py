"""What repetitions to come can still change about a verdict."""

import collections.abc
import dataclasses
import math
import statistics as stdlib

from rally_vmperf.measurement import loss
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units

#: Above this many repetitions on a side nobody is told to wait for them.
MOST = 100
#: Confidence at which a limit is beyond return. Far above that of a verdict,
#: as the question is asked again after each repetition.
CONFIDENCE = 0.999


@dataclasses.dataclass(frozen=True, kw_only=True)
class Needed:
    """What would decide, should figures and spread stay as they are.

    At most one of the two is given; both are None where no number up to
    ``MOST`` would do.

    :param guest: counted repetitions to add to the task
    :param bare: repetitions to record the baseline with, in all
    """

    guest: int | None = None
    bare: int | None = None

    def sentence(self, figure: str = "overhead") -> str:
        """Return it as half a sentence.

        :param figure: what the limit is put to
        """
        if self.guest is not None:
            more = units.number_of("more repetition", self.guest)
            return f"about {more} would decide"
        if self.bare is not None:
            return (
                "more repetitions would not decide: record a baseline with "
                f"at least {self.bare} repetitions, and run as many"
            )
        return (
            f"not even {MOST} repetitions would decide: the limit is too "
            f"close to the {figure} for this spread"
        )


def repetitions_needed(
    comparison: loss.Comparison, limit: float, both: bool = False
) -> Needed:
    """Return how many more repetitions would decide, if at all.

    The guest's side grows and the baseline stays. Where even endlessly many
    guest repetitions cannot decide, because the baseline's own spread is too
    wide, the answer is how many repetitions the baseline needs (with as many
    on the guest's side). An estimate: it takes the observed means and
    variances for the true ones.

    :param limit: of the overhead, in percent
    :param both: each repetition measures both sides, so that both grow
    """
    bare, have = comparison.bare_repetitions, comparison.guest_repetitions
    if both:
        have = min(bare, have)
    elif bare < statistics.FEWEST:
        return Needed(bare=statistics.FEWEST)
    first = max(have + 1, statistics.FEWEST)
    if have < 2 or loss.ratio(comparison.metric, limit) <= 0:
        return Needed(guest=first - have)
    for count in range(first, MOST + 1):
        if _decides(comparison, limit, count if both else bare, count):
            return Needed(guest=count - have)
    for count in () if both else range(bare + 1, MOST + 1):
        if _decides(comparison, limit, count, max(count, have)):
            return Needed(bare=count)
    return Needed()


def _decides(
    comparison: loss.Comparison,
    limit: float,
    bare_count: int,
    guest_count: int,
) -> bool:
    """Return whether so many repetitions leave the limit outside."""
    edge = loss.ratio(comparison.metric, limit)
    half = statistics.half_width(
        _variance(comparison.bare_values),
        bare_count,
        _variance(comparison.guest_values),
        guest_count,
        comparison.confidence,
    )
    gap = math.log(comparison.guest / comparison.bare) - math.log(edge)
    return half < abs(gap)


def _variance(values: statistics.Values) -> float:
    return stdlib.variance(statistics.logarithms(values))


def best_loss(
    comparison: loss.Comparison, planned: int, both: bool = False
) -> float | None:
    """Return the smallest loss that is still to be hoped for, in percent.

    A limit below it is broken for good. It is the lower of two: the end of
    the interval at 99.9 %, and what it is if each repetition to come is as
    good as the best so far. None without an interval.

    :param both: each repetition measures both sides
    """
    ratios = statistics.ratio_interval(
        comparison.bare_values, comparison.guest_values, CONFIDENCE
    )
    if ratios is None:
        return None
    higher = comparison.metric.better == "higher"
    best, worst = (max, min) if higher else (min, max)
    guest = _with_more(comparison.guest_values, best, planned)
    bare = comparison.bare
    if both:
        bare = _with_more(comparison.bare_values, worst, planned)
    return min(
        loss.percent(comparison.metric, ratio)
        for ratio in (*ratios, guest / bare)
    )


def _with_more(
    values: tuple[float, ...],
    pick: collections.abc.Callable[[tuple[float, ...]], float],
    planned: int,
) -> float:
    """Return the mean if all that is to come were as one that was."""
    more = [pick(values)] * max(0, planned - len(values))
    return statistics.geometric_mean([*values, *more])
