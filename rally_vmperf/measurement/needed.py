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

    def sentence(self) -> str:
        """Return it as half a sentence."""
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
            "close to the overhead for this spread"
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
    edge = overhead.ratio(comparison.metric, limit)
    if have < 2 or edge <= 0:
        return Needed(guest=first - have)
    gap = abs(math.log(comparison.guest / comparison.bare) - math.log(edge))
    bare_variance = _variance(comparison.bare_values)
    guest_variance = _variance(comparison.guest_values)

    def decides(bare_count: int, guest_count: int) -> bool:
        half = statistics.half_width(
            bare_variance,
            bare_count,
            guest_variance,
            guest_count,
            comparison.confidence,
        )
        return half < gap

    for count in range(first, MOST + 1):
        if decides(comparison.bare_repetitions, count):
            return Needed(guest=count - have)
    for count in range(comparison.bare_repetitions + 1, MOST + 1):
        if decides(count, max(count, have)):
            return Needed(bare=count)
    return Needed()


def _variance(values: statistics.Values) -> float:
    return stdlib.variance(statistics.logarithms(values))
