"""The arithmetic of a comparison: means, spread and confidence intervals.

Rates and times vary by factors rather than by differences, so everything
here works on logarithms. Nothing here knows about metrics or limits.
"""

import collections.abc
import math
import statistics

#: Repetitions below which no interval is given, on either side.
FEWEST = 3
#: With fewer values the median absolute deviation says nothing.
_FEWEST_FOR_OUTLIERS = 5
#: Modified z-score above which a value stands apart.
_OUTLIER = 3.5
# Makes the median absolute deviation of a normal distribution its sigma.
_CONSISTENCY = 0.6745

Values = collections.abc.Sequence[float]


def geometric_mean(values: Values) -> float:
    """Return the geometric mean of values above zero.

    :raises ValueError: for no values, or one that is not above zero
    """
    return math.exp(statistics.fmean(logarithms(values)))


def median(values: Values) -> float:
    """Return the middle value, or the mean of the middle two."""
    return statistics.median(values)


def logarithms(values: Values) -> list[float]:
    """Return natural logarithms.

    :raises ValueError: for no values, or one that is not above zero
    """
    if not values:
        raise ValueError("No values, so no mean: give at least one")
    for value in values:
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"Value {value} has no logarithm, leave it out")
    return [math.log(value) for value in values]


def spread_percent(values: Values) -> float | None:
    """Return how far apart values typically are, in percent.

    The geometric standard deviation less one: ``exp(s) - 1`` with ``s`` the
    standard deviation of the logarithms; None for fewer than two values.
    """
    if len(values) < 2:
        return None
    return math.expm1(statistics.stdev(logarithms(values))) * 100


def jain_index(rates: Values) -> float | None:
    """Return Jain's fairness index of the guests' rates.

    ``(sum x)^2 / (n * sum x^2)``: 1 where all have the same, ``1/n`` where
    one has all, and ``k/n`` where ``k`` of them have equal shares and the
    others nothing (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer
    Systems", DEC-TR-301, 1984). None for fewer than two guests.

    :raises ValueError: for a rate that is not above zero
    """
    if len(rates) < 2:
        return None
    # Of shares of the largest one, as squares of large rates overflow.
    logs = logarithms(rates)
    largest = max(logs)
    shares = [math.exp(log - largest) for log in logs]
    total = math.fsum(shares)
    found = total**2 / (len(shares) * math.fsum(one**2 for one in shares))
    return min(1.0, found)


def outliers(values: Values) -> tuple[int, ...]:
    """Return the positions of outliers, from 0.

    The modified z-score of the logarithms, ``0.6745 * |x - median| / MAD``,
    is above 3.5 (B. Iglewicz and D. C. Hoaglin, "How to detect and handle
    outliers", ASQC 1993). None where more than half of the values are equal,
    as the deviation is then zero.
    """
    if len(values) < _FEWEST_FOR_OUTLIERS:
        return ()
    logs = logarithms(values)
    middle = median(logs)
    distances = [abs(log - middle) for log in logs]
    deviation = median(distances)
    if not deviation:
        return ()
    return tuple(
        position
        for position, distance in enumerate(distances)
        if _CONSISTENCY * distance / deviation > _OUTLIER
    )


def ratio_interval(
    bare: Values, guest: Values, confidence: float
) -> tuple[float, float] | None:
    """Return the interval of the ratio of geometric means, guest over bare.

    Welch's t interval of the difference of the means of logarithms, with
    the degrees of freedom of Welch and Satterthwaite (B. L. Welch, "The
    generalization of Student's problem when several different population
    variances are involved", Biometrika 34, 1947), taken back by ``exp``.
    None with fewer than three values on either side. Values that are all
    equal on both sides give an interval without width: that is what they
    say, and the judge warns of it.

    :param confidence: 0.95 for an interval that holds in 95 of 100 runs
    """
    if min(len(bare), len(guest)) < FEWEST:
        return None
    bare_logs, guest_logs = logarithms(bare), logarithms(guest)
    middle = statistics.fmean(guest_logs) - statistics.fmean(bare_logs)
    half = half_width(
        statistics.variance(bare_logs),
        len(bare),
        statistics.variance(guest_logs),
        len(guest),
        confidence,
    )
    return _exp(middle - half), _exp(middle + half)


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
    # Shares of the sum, as squares of tiny variances vanish.
    bare_share = bare_part / (bare_part + guest_part)
    freedom = 1 / (
        bare_share**2 / (bare_count - 1)
        + (1 - bare_share) ** 2 / (guest_count - 1)
    )
    return student(confidence, freedom) * math.sqrt(bare_part + guest_part)


def student(confidence: float, freedom: float) -> float:
    """Return the quantile of Student's t for a two-sided interval."""
    from scipy import stats

    return float(stats.t.ppf((1 + confidence) / 2, freedom))


def _exp(exponent: float) -> float:
    """Return ``e`` to a power, infinite rather than too large."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
