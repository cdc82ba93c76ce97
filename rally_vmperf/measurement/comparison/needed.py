"""The number of repetitions that would decide a verdict."""

import collections.abc
import dataclasses
import functools
import math
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics

#: The largest number of repetitions per side that is suggested.
MAX_REPETITIONS = 100
#: Confidence at which a limit is beyond return. It is far above that of a
#: verdict, as the check runs after each repetition.
FINAL_CONFIDENCE = 0.999


#: Share of new runs that decide the verdict.
POWER = 0.8
#: A distance between figure and limit below this share of the interval's half
#: width is unreliable.
_UNRELIABLE_SHARE = 0.3


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequiredRepetitions:
    """The number of repetitions that would decide with the same spread.

    At most one of the two numbers is set; both are None if no number up to
    ``MOST`` is sufficient.

    :param guest: The total of counted repetitions of the new run.
    :param minimum: Whether the number is only the minimum for an interval.
    :param quantised: The description of too coarse values, if they are.
    :param bare: The total of repetitions of a new baseline.
    :param approximate: Whether the figure is so close to the limit that the
        number is unreliable.
    """

    guest: int | None = None
    bare: int | None = None
    minimum: bool = False
    quantised: str = ""
    approximate: bool = False

    def sentence(self, figure: str = "overhead") -> str:
        """Return how many repetitions would decide, as a clause.

        :param figure: The name of the limited figure.
        """
        if self.quantised:
            return (
                f"{self.quantised} decide nothing: measure for longer, or "
                "use a tool that gives more digits"
            )
        if self.minimum:
            return f"at least {self.guest} repetitions would decide"
        remark = f" (a guess, as the {figure} is close to the limit)"
        if not self.approximate:
            remark = ""
        if self.guest is not None:
            return (
                f"a new run of about {self.guest} repetitions would decide "
                f"in 4 of 5 cases{remark}"
            )
        if self.bare is not None:
            return (
                "more repetitions would not decide: record a baseline with "
                f"at least {self.bare} repetitions, and run as many{remark}"
            )
        return (
            f"not even {MAX_REPETITIONS} repetitions would decide: the limit "
            f"is too close to the {figure} for this spread"
        )


@functools.lru_cache(maxsize=1024)
def required_repetitions(
    comparison: loss.Comparison, limit: float, both: bool = False
) -> RequiredRepetitions:
    """Return an estimate of how many repetitions would decide.

    The guest's side is measured again and the baseline stays. If no number of
    guest repetitions can decide, because the baseline's own spread is too
    wide, the result is the number of baseline repetitions (with as many on
    the guest's side). The power is 80 %, by Student's quantile and the normal
    one; the observed means and variances are assumed to be the true ones.

    :param limit: The limit of the overhead, in percent.
    :param both: Whether each repetition measures both sides.
    """
    if comparison.quantised:
        return RequiredRepetitions(quantised=comparison.quantised)
    bare_count, guest_count = (
        comparison.bare_repetitions,
        comparison.guest_repetitions,
    )
    if both:
        guest_count = min(bare_count, guest_count)
    elif bare_count < statistics.FEWEST:
        return RequiredRepetitions(bare=statistics.FEWEST)
    limit_ratio = loss.ratio(comparison.metric, limit)
    if guest_count < 2 or limit_ratio <= 0:
        return RequiredRepetitions(
            guest=max(guest_count + 1, statistics.FEWEST), minimum=True
        )
    import numpy

    gap = abs(
        math.log(comparison.guest / comparison.bare) - math.log(limit_ratio)
    )
    within = comparison.overhead_percent <= limit and comparison.conservative
    counts = numpy.arange(
        max(guest_count + 1, statistics.FEWEST), MAX_REPETITIONS + 1
    )
    bare_counts = counts if both else bare_count
    sufficient = counts[
        _decidable_gap(comparison, bare_counts, counts, within) < gap
    ]
    half_width = 0.0
    if comparison.low is not None:
        ratio = loss.ratio(comparison.metric, comparison.low)
        mean_ratio = comparison.guest / comparison.bare
        half_width = (
            abs(math.log(ratio / mean_ratio)) if ratio > 0 else math.inf
        )
    approximate = gap < _UNRELIABLE_SHARE * half_width
    if sufficient.size:
        return RequiredRepetitions(
            guest=int(sufficient[0]), approximate=approximate
        )
    counts = numpy.arange(bare_count + 1, MAX_REPETITIONS + 1)
    guests = numpy.maximum(counts, guest_count)
    sufficient = counts[
        _decidable_gap(comparison, counts, guests, within) < gap
    ]
    if sufficient.size and not both:
        return RequiredRepetitions(
            bare=int(sufficient[0]), approximate=approximate
        )
    return RequiredRepetitions()


def _decidable_gap(
    comparison: loss.Comparison, bare: t.Any, guest: t.Any, within: bool
) -> t.Any:
    """Return the distance to a limit at which most runs decide.

    :param within: Whether the mean is within the limit.
    :param bare: The number of repetitions, or an array of numbers.
    :param guest: The number of repetitions, or an array of numbers.
    """
    import numpy
    from scipy import special

    bare_variance = statistics.variance(comparison.bare_values)
    guest_variance = statistics.variance(comparison.guest_values)
    confidence: t.Any = comparison.confidence
    if within:
        confidence = statistics.confidence_of_loss(
            confidence, bare_variance, guest_variance, guest, comparison.paired
        )
    if comparison.paired:
        pairs = zip(
            comparison.bare_values, comparison.guest_values, strict=True
        )
        ratios = [guest_rate / bare_rate for bare_rate, guest_rate in pairs]
        variances = statistics.variance(ratios) / guest
        freedom = guest - 1
    else:
        variances = bare_variance / bare + guest_variance / guest
        # Shares of the sum; none varies where the sum is zero.
        share = bare_variance / bare / numpy.where(variances > 0, variances, 1)
        freedom = statistics.degrees_of_freedom(share, bare, guest)
    quantile = special.stdtrit(freedom, (1 + confidence) / 2)
    quantile = quantile + special.ndtri(POWER)
    return quantile * numpy.sqrt(variances) + math.log1p(comparison.error)


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
