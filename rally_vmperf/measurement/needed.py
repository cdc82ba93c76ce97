"""How many more repetitions would decide a comparison."""

import dataclasses
import math
import statistics as stdlib

from rally_vmperf.measurement import overhead
from rally_vmperf.measurement import statistics

#: Above this many repetitions on a side nobody is told to wait for them.
MOST = 100


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
            word = "repetition" if self.guest == 1 else "repetitions"
            return f"about {self.guest} more {word} would decide"
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
    comparison: overhead.Comparison, limit: float
) -> Needed:
    """Return how many more repetitions would decide, if at all.

    The guest's side grows and the baseline stays. Where even endlessly many
    guest repetitions cannot decide, because the baseline's own spread is too
    wide, the answer is how many repetitions the baseline needs (with as many
    on the guest's side). An estimate: it takes the observed means and
    variances for the true ones.

    :param limit: of the overhead, in percent
    """
    if comparison.bare_repetitions < statistics.FEWEST:
        return Needed(bare=statistics.FEWEST)
    have = comparison.guest_repetitions
    first = max(have + 1, statistics.FEWEST)
    if have < 2 or overhead.ratio(comparison.metric, limit) <= 0:
        return Needed(guest=first - have)
    for count in range(first, MOST + 1):
        if _decides(comparison, limit, comparison.bare_repetitions, count):
            return Needed(guest=count - have)
    for count in range(comparison.bare_repetitions + 1, MOST + 1):
        if _decides(comparison, limit, count, max(count, have)):
            return Needed(bare=count)
    return Needed()


def of_both_sides(comparison: overhead.Comparison, limit: float) -> Needed:
    """Return the same where each repetition measures both sides.

    :param limit: of the loss, in percent
    """
    have = min(comparison.bare_repetitions, comparison.guest_repetitions)
    first = max(have + 1, statistics.FEWEST)
    if have < 2 or overhead.ratio(comparison.metric, limit) <= 0:
        return Needed(guest=first - have)
    for count in range(first, MOST + 1):
        if _decides(comparison, limit, count, count):
            return Needed(guest=count - have)
    return Needed()


def _decides(
    comparison: overhead.Comparison,
    limit: float,
    bare_count: int,
    guest_count: int,
) -> bool:
    """Return whether so many repetitions leave the limit outside."""
    edge = overhead.ratio(comparison.metric, limit)
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
