"""The number of repetitions that would decide a verdict."""

import collections.abc
import dataclasses
import functools
import math
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics

#: Above this many repetitions on a side nobody is told to wait for them.
MOST = 100
#: Confidence at which a limit is beyond return. Far above that of a verdict,
#: as the question is asked again after each repetition.
CONFIDENCE = 0.999


#: Share of new runs that are to decide.
POWER = 0.8
#: A figure that is nearer to its limit than this share of its interval's half
#: width says little of how near it really is.
_CLOSE = 0.3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Needed:
    """Number of repetitions that would decide, if figures and spread stay.

    At most one of the two numbers is given; both are None where no number up
    to ``MOST`` would do.

    :param guest: counted repetitions of the new run, in all
    :param least: whether that is only what it takes to have an interval
    :param coarse: why none would, as values are too coarse, or nothing
    :param bare: repetitions to record the baseline with, in all
    :param guess: whether the figure is so close to the limit that the number
        may be far off
    """

    guest: int | None = None
    bare: int | None = None
    least: bool = False
    coarse: str = ""
    guess: bool = False

    def sentence(self, figure: str = "overhead") -> str:
        """Return it as a clause of a sentence.

        :param figure: that the limit is on
        """
        if self.coarse:
            return (
                f"{self.coarse} decide nothing: measure for longer, or use a "
                "tool that gives more digits"
            )
        if self.least:
            return f"at least {self.guest} repetitions would decide"
        doubt = f" (a guess, as the {figure} is close to the limit)"
        if not self.guess:
            doubt = ""
        if self.guest is not None:
            return (
                f"a new run of about {self.guest} repetitions would decide "
                f"in 4 of 5 cases{doubt}"
            )
        if self.bare is not None:
            return (
                "more repetitions would not decide: record a baseline with "
                f"at least {self.bare} repetitions, and run as many{doubt}"
            )
        return (
            f"not even {MOST} repetitions would decide: the limit is too "
            f"close to the {figure} for this spread"
        )


@functools.lru_cache(maxsize=1024)
def repetitions_needed(
    comparison: loss.Comparison, limit: float, both: bool = False
) -> Needed:
    """Return how many repetitions would decide in a new run, if any would.

    The guest's side is measured again and the baseline stays. Where even
    endlessly many guest repetitions cannot decide, because the baseline's own
    spread is too wide, the answer is how many repetitions the baseline needs
    (with as many on the guest's side). An estimate for a power of 80 %, by
    Student's quantile and the normal one; it takes the observed means and
    variances for the true ones.

    :param limit: of the overhead, in percent
    :param both: each repetition measures both sides
    """
    if comparison.coarse:
        return Needed(coarse=comparison.coarse)
    bare, have = comparison.bare_repetitions, comparison.guest_repetitions
    if both:
        have = min(bare, have)
    elif bare < statistics.FEWEST:
        return Needed(bare=statistics.FEWEST)
    edge = loss.ratio(comparison.metric, limit)
    if have < 2 or edge <= 0:
        return Needed(guest=max(have + 1, statistics.FEWEST), least=True)
    import numpy

    gap = abs(math.log(comparison.guest / comparison.bare) - math.log(edge))
    within = comparison.overhead_percent <= limit and comparison.cautious
    counts = numpy.arange(max(have + 1, statistics.FEWEST), MOST + 1)
    theirs = counts if both else bare
    enough = counts[_reach(comparison, theirs, counts, within) < gap]
    seen = 0.0
    if comparison.low is not None:
        ratio = loss.ratio(comparison.metric, comparison.low)
        middle = comparison.guest / comparison.bare
        seen = abs(math.log(ratio / middle)) if ratio > 0 else math.inf
    guess = gap < _CLOSE * seen
    if enough.size:
        return Needed(guest=int(enough[0]), guess=guess)
    counts = numpy.arange(bare + 1, MOST + 1)
    guests = numpy.maximum(counts, have)
    enough = counts[_reach(comparison, counts, guests, within) < gap]
    if enough.size and not both:
        return Needed(bare=int(enough[0]), guess=guess)
    return Needed()


def _reach(
    comparison: loss.Comparison, bare: t.Any, guest: t.Any, within: bool
) -> t.Any:
    """Return how far the mean may be from a limit that is mostly decided.

    :param within: whether it is to pass
    :param bare: number of repetitions, or an array of them
    :param guest: likewise
    """
    import numpy
    from scipy import special

    theirs = statistics.variance(comparison.bare_values)
    ours = statistics.variance(comparison.guest_values)
    confidence: t.Any = comparison.confidence
    if within:
        confidence = statistics.confidence_of_loss(
            confidence, theirs, ours, guest, comparison.paired
        )
    if comparison.paired:
        pairs = zip(
            comparison.bare_values, comparison.guest_values, strict=True
        )
        ratios = [ours / theirs for theirs, ours in pairs]
        parts = statistics.variance(ratios) / guest
        freedom = guest - 1
    else:
        parts = theirs / bare + ours / guest
        # Shares of the sum; none varies where the sum is zero.
        share = theirs / bare / numpy.where(parts > 0, parts, 1)
        freedom = statistics.degrees_of_freedom(share, bare, guest)
    quantile = special.stdtrit(freedom, (1 + confidence) / 2)
    quantile = quantile + special.ndtri(POWER)
    return quantile * numpy.sqrt(parts) + math.log1p(comparison.error)


def best_loss(
    comparison: loss.Comparison, planned: int, both: bool = False
) -> float | None:
    """Return the smallest loss that is still possible, in percent.

    A limit below it stays broken. It is the lower of two: the end of
    the interval at 99.9 %, and what it is if each repetition to come is as
    good as the best so far. None without an interval.

    :param both: each repetition measures both sides
    """
    ratios = statistics.interval(
        comparison.bare_values,
        comparison.guest_values,
        CONFIDENCE,
        comparison.error,
        comparison.paired,
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
    """Return the mean if all further repetitions were like a given one."""
    more = [pick(values)] * max(0, planned - len(values))
    return statistics.geometric_mean([*values, *more])
