"""The arithmetic of a comparison: means, spread and confidence intervals.

Rates and times vary by factors rather than by differences, so everything
here works on logarithms. Nothing here knows about metrics or limits.
"""

import collections.abc
import math
import statistics

#: Repetitions below which no interval is given, on either side.
FEWEST = 3

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
    from scipy import stats

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
    quantile = float(stats.t.ppf((1 + confidence) / 2, freedom))
    return quantile * math.sqrt(bare_part + guest_part)


def _exp(exponent: float) -> float:
    """Return ``e`` to a power, infinite rather than too large."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
