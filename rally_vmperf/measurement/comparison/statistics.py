# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of a comparison: means, spread and confidence intervals.

Rates and times vary by factors rather than by differences, so comparisons
work on logarithms, and spread is relative: it does not change when every value
is multiplied by the same number. Nothing here knows about metrics or limits.
"""

import collections.abc
import dataclasses
import functools
import math
import statistics
import typing as t

#: Repetitions below which no interval is given, on either side.
FEWEST = 3
#: With fewer values the median absolute deviation is meaningless.
_MIN_FOR_OUTLIERS = 5
#: The largest number of repetitions with an unreliable variance.
MAX_SMALL_COUNT = 4
#: The largest number of guest repetitions that may by chance include none of
#: the occasional disturbances.
_FEW_REPETITIONS = 10
#: The number of repetitions from which on this is unlikely.
_MANY_REPETITIONS = 20
#: The factor on the error of the upper end, for a guest with few repetitions
#: that varies more than bare metal.
_ERROR_FACTOR = 0.3
#: The usual ratio of the variances of both sides in pairs.
_PAIRED_VARIANCE_FACTOR = 2
#: The modified z-score above which a value is an outlier.
_OUTLIER_SCORE = 3.5
# The median absolute deviation of a normal distribution, in sigmas.
_NORMAL_MAD = 0.6745

Values = collections.abc.Sequence[float]
#: Values below which there is no spread.
FEWEST_TO_SPREAD = 2


def geometric_mean(values: Values) -> float:
    """Return the geometric mean of values above zero.

    :raises ValueError: If values are missing or not above zero.
    """
    return _geometric_mean(tuple(values))


def mean_of_repetitions(
    repetitions: collections.abc.Iterable[Values],
) -> float:
    """Return the geometric mean of the geometric mean of each repetition."""
    return geometric_mean([*map(geometric_mean, repetitions)])


# The same repetitions are judged again after each new one.
@functools.lru_cache(maxsize=1 << 16)
def _geometric_mean(values: tuple[float, ...]) -> float:
    """Return the geometric mean of values above zero."""
    return math.exp(statistics.fmean(logarithms(values)))


def logarithms(values: Values) -> list[float]:
    """Return the natural logarithms of values as a list.

    :raises ValueError: If values are missing or not above zero.
    """
    if not values:
        raise ValueError("no values: a mean requires at least one")
    if not (min(values) > 0 and all(map(math.isfinite, values))):
        wrong = next(x for x in values if not (math.isfinite(x) and x > 0))
        raise ValueError(f"value {wrong}: must be finite and > 0")
    return [*map(math.log, values)]


def spread_percent(values: Values) -> float | None:
    """Return the typical difference of values in percent, or None.

    The result is the geometric standard deviation less one: ``exp(s) - 1``
    with ``s`` the standard deviation of the logarithms; None for fewer than
    two values.
    """
    if len(values) < 2:
        return None
    return math.expm1(math.sqrt(variance(values))) * 100


def chance_of_spread(values: Values, percent: float) -> float:
    """Return the chance of a spread at least as large as that of values.

    :param values: At least two values.
    :param percent: The true spread in percent, as in ``spread_percent``.
    """
    from scipy import special

    squares, freedom = sum_squares([values])
    return float(
        special.chdtrc(freedom, squares / math.log1p(percent / 100) ** 2)
    )


def sum_squares(
    sides: collections.abc.Collection[Values],
) -> tuple[float, int]:
    """Return the squared deviations within sides, and their freedom.

    :param sides: The values of each side, at least two.
    """
    squares = sum(
        variance(side_values) * (len(side_values) - 1) for side_values in sides
    )
    return squares, sum(map(len, sides)) - len(sides)


def jain_index(rates: Values) -> float | None:
    """Return Jain's fairness index of the guests' rates, or None.

    ``(sum x)^2 / (n * sum x^2)``: 1 where all have the same, ``1/n`` where
    one has all, and ``k/n`` where ``k`` of them have equal shares and the
    others nothing (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer
    Systems", DEC-TR-301, 1984). None for fewer than two guests.

    :raises ValueError: If a rate is not above zero.
    """
    if len(rates) < 2:
        return None
    # Of shares of the largest one, as squares of large rates overflow.
    logs = logarithms(rates)
    largest = max(logs)
    shares = [math.exp(log - largest) for log in logs]
    total = math.fsum(shares)
    index = total**2 / (len(shares) * math.fsum(share**2 for share in shares))
    return min(1.0, index)


def outliers(values: Values) -> tuple[int, ...]:
    """Return the positions of outliers from 0, as a tuple.

    The modified z-score of the logarithms, ``0.6745 * |x - median| / MAD``,
    is above 3.5 (B. Iglewicz and D. C. Hoaglin, "How to detect and handle
    outliers", ASQC 1993). None where more than half of the values are equal,
    as the deviation is then zero.
    """
    if len(values) < _MIN_FOR_OUTLIERS:
        return ()
    logs = logarithms(values)
    median = statistics.median(logs)
    distances = [abs(log - median) for log in logs]
    deviation = statistics.median(distances)
    if not deviation:
        return ()
    return tuple(
        position
        for position, distance in enumerate(distances)
        if _NORMAL_MAD * distance / deviation > _OUTLIER_SCORE
    )


def interval(
    bare: Values,
    guest: Values,
    confidence: float,
    error: float = 0,
    paired: bool = False,
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two sides' means, or None."""
    compute = paired_interval if paired else ratio_interval
    return compute(bare, guest, confidence, error)


def ratio_interval(
    bare: Values, guest: Values, confidence: float, error: float = 0
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two geometric means, or None.

    Welch's t interval of the difference of the means of logarithms, with
    the degrees of freedom of Welch and Satterthwaite (B. L. Welch, "The
    generalization of Student's problem when several different population
    variances are involved", Biometrika 34, 1947), taken back by ``exp``.
    None with fewer than three values on either side. Values that are all
    equal on both sides give an interval without width, by which the judge
    decides nothing.

    :param confidence: The confidence of the interval: 0.95 for 95 %.
    :param error: The rounding error of the ratio, as a share.
    """
    if min(len(bare), len(guest)) < FEWEST:
        return None
    bare_logs, guest_logs = logarithms(bare), logarithms(guest)
    mean = statistics.fmean(guest_logs) - statistics.fmean(bare_logs)
    margin = half_width(
        variance(bare),
        len(bare),
        variance(guest),
        len(guest),
        confidence,
    )
    margin += math.log1p(error)
    return _exp(mean - margin), _exp(mean + margin)


def paired_interval(
    bare: Values, guest: Values, confidence: float, error: float = 0
) -> tuple[float, float] | None:
    """Return the interval of the mean ratio of pairs, or None.

    Student's interval of the mean difference of logarithms: what disturbs
    both values of a pair is in neither (Student, "The probable error of a
    mean", Biometrika 6, 1908). None with fewer than three pairs.

    :param guest: The guest values in the order of ``bare``.
    :param error: The rounding error of the ratio, as a share.
    """
    if len(bare) < FEWEST:
        return None
    pairs = zip(logarithms(bare), logarithms(guest), strict=True)
    differences = [after - before for before, after in pairs]
    margin = student_quantile(confidence, len(bare) - 1) * math.sqrt(
        statistics.variance(differences) / len(bare)
    )
    mean = statistics.fmean(differences)
    margin += math.log1p(error)
    return _exp(mean - margin), _exp(mean + margin)


def half_width(
    bare_variance: float,
    bare_count: int,
    guest_variance: float,
    guest_count: int,
    confidence: float,
) -> float:
    """Return half the width of Welch's interval, from the variances."""
    bare_part = bare_variance / bare_count
    guest_part = guest_variance / guest_count
    if bare_part + guest_part <= 0:
        return 0.0
    # A share of the sum, as squares of tiny variances vanish.
    freedom = degrees_of_freedom(
        bare_part / (bare_part + guest_part), bare_count, guest_count
    )
    return student_quantile(confidence, freedom) * math.sqrt(
        bare_part + guest_part
    )


def degrees_of_freedom(
    bare_share: t.Any, bare_count: t.Any, guest_count: t.Any
) -> t.Any:
    """Return the degrees of freedom; an array if given arrays.

    They are those of Welch and Satterthwaite, with a bound. If one side has
    three or four values, the other one more, and the small side varies little
    by chance, it gets the degrees of freedom of the large one although its
    own variance is too small. Therefore the result is at most its own degrees
    of freedom over its share of the variance, and at most twice its own. The
    share is not squared, because a square reduces shares close to 1.

    :param bare_share: The share of bare metal in the variance.
    :param bare_count: The number of bare-metal repetitions.
    :param guest_count: The number of guest repetitions.
    """
    import numpy

    welch = 1 / (
        bare_share**2 / (bare_count - 1)
        + (1 - bare_share) ** 2 / (guest_count - 1)
    )
    fewer = numpy.minimum(bare_count, guest_count)
    share = numpy.where(bare_count < guest_count, bare_share, 1 - bare_share)
    side_bound = (fewer - 1) / numpy.maximum(share, 0.5)
    bounded = (fewer <= MAX_SMALL_COUNT) & (bare_count != guest_count)
    return numpy.where(bounded, numpy.minimum(welch, side_bound), welch)


def confidence_of_loss(
    confidence: float,
    bare_variance: float,
    guest_variance: float,
    guest_count: t.Any,
    paired: bool = False,
) -> t.Any:
    """Return the confidence of the end at which a guest loses most.

    Occasional disturbances by the host slow down single repetitions, and a
    few repetitions may include none of these. Such repetitions look normal
    but still vary more than bare metal. The confidence of this end grows with
    the variance of the guest over that of bare metal, up to twice: 98.5 %
    instead of 95 % with up to ten repetitions, less with more, and 95 % from
    twenty on.

    In pairs a guest, or several, must vary more than twice as much as the
    other side, up to four times: guests that share a host vary more without
    being skewed, and what disturbs both is in neither side's loss.

    :param confidence: The confidence of the interval: 0.95 for 95 %.
    :param bare_variance: The variance of bare metal, of logarithms.
    :param guest_variance: The variance of the guest, of logarithms.
    :param guest_count: The number of guest repetitions; an array gives an
        array.
    """
    import numpy

    share = 1.0
    usual = (_PAIRED_VARIANCE_FACTOR if paired else 1) * bare_variance
    if guest_variance < 2 * usual or not guest_variance:
        share = max(0.0, guest_variance / (usual or 1.0) - 1)
    few = numpy.clip(
        (_MANY_REPETITIONS - guest_count)
        / (_MANY_REPETITIONS - _FEW_REPETITIONS),
        0,
        1,
    )
    return 1 - (1 - confidence) * _ERROR_FACTOR ** (share * few)


def variance(values: Values) -> float:
    """Return the sample variance of the logarithms of values."""
    return _variance(tuple(values))


@functools.lru_cache(maxsize=1024)
def _variance(values: tuple[float, ...]) -> float:
    """Return the sample variance of the logarithms; 0 if all are equal."""
    logs = logarithms(values)
    if len(logs) > 1 and min(logs) == max(logs):
        return 0.0
    # Sums are exact; statistics.variance takes ten times as long.
    mean = math.fsum(logs) / len(logs)
    squares = math.fsum((log - mean) ** 2 for log in logs)
    return squares / (len(logs) - 1)


def student_quantile(confidence: float, freedom: float) -> float:
    """Return the quantile of Student's t for a two-sided interval."""
    from scipy import special

    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def _exp(exponent: float) -> float:
    """Return ``e`` to a power; infinity instead of an overflow."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spread:
    """The spread of values: how far they lie apart.

    :param range_percent: The largest less the smallest value, in percent of
        the arithmetic mean.
    :param cv_percent: The coefficient of variation: the standard deviation
        (of a sample, n - 1) in percent of the arithmetic mean.
    """

    range_percent: float
    cv_percent: float


def find_spread(values: Values) -> Spread | None:
    """Return the spread of values; None for fewer than two.

    :param values: The values, above zero.
    """
    if len(values) < FEWEST_TO_SPREAD:
        return None
    mean = statistics.fmean(values)
    return Spread(
        range_percent=(max(values) - min(values)) / mean * 100,
        cv_percent=statistics.stdev(values) / mean * 100,
    )


def cv_interval(
    cv_percent: float, count: int, confidence: float
) -> tuple[float, float] | None:
    """Return both ends of a coefficient of variation, or None.

    The variance over its true value has the chi-square distribution with
    ``count - 1`` degrees of freedom; the error of the mean is neglected. None
    for fewer than three values.

    :param confidence: The confidence of the interval: 0.95 for 95 %.
    """
    from scipy import special

    if count < FEWEST:
        return None
    low, high = (
        cv_percent * math.sqrt((count - 1) / special.chdtri(count - 1, share))
        for share in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high
