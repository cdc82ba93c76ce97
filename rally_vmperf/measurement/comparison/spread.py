"""The arithmetic of spread: how far values lie apart, and a ratio of spreads.

All figures are relative: they do not change when every value is multiplied by
the same number. Nothing here knows about metrics or limits.
"""

import dataclasses
import functools
import math
import statistics as stdlib

from rally_vmperf.measurement.comparison import statistics

#: Values below which there is no spread.
FEWEST = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spread:
    """The spread of values.

    :param range_percent: The largest less the smallest value, in percent of
        the arithmetic mean.
    :param cv_percent: The coefficient of variation: the standard deviation
        (of a sample, n - 1) in percent of the arithmetic mean.
    :param gsd: The geometric standard deviation: ``exp`` of the standard
        deviation of the logarithms; 1 for equal values.
    """

    range_percent: float
    cv_percent: float
    gsd: float


def spread(values: statistics.Values) -> Spread | None:
    """Return the spread of values; None for fewer than two.

    :raises ValueError: If a value is not above zero.
    """
    if len(values) < FEWEST:
        return None
    deviation = _deviation(values)
    mean = stdlib.fmean(values)
    return Spread(
        range_percent=(max(values) - min(values)) / mean * 100,
        cv_percent=stdlib.stdev(values) / mean * 100,
        gsd=math.exp(deviation),
    )


def _deviation(values: statistics.Values) -> float:
    """Return the standard deviation of the logarithms."""
    return stdlib.stdev(statistics.logarithms(values))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ratio:
    """The spread of the guest's values relative to that of bare metal.

    :param value: The ratio of the standard deviations of the logarithms,
        guest over bare metal.
    :param low: The lower end of the interval, None without one.
    :param high: The upper end of the interval, None without one.
    """

    value: float
    low: float | None
    high: float | None


def ratio(
    bare: statistics.Values, guest: statistics.Values, confidence: float
) -> Ratio | None:
    """Return the ratio of geometric standard deviations, guest over bare.

    It is taken on logarithms, ``ln(gsd of guest) / ln(gsd of bare metal)``:
    2 for 1.02 against 1.01, whose quotient would be 1.01. None with fewer
    than two values on either side, and where those of bare metal are all
    equal. The interval needs three values on either side.

    :param confidence: The confidence of the interval: 0.95 for 95 %.
    """
    if min(len(bare), len(guest)) < FEWEST:
        return None
    bare_deviation = _deviation(bare)
    if not bare_deviation:
        return None
    value = _deviation(guest) / bare_deviation
    if min(len(bare), len(guest)) < statistics.FEWEST:
        return Ratio(value=value, low=None, high=None)
    low, high = interval(value, len(bare), len(guest), confidence)
    return Ratio(value=value, low=low, high=high)


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

    if count < statistics.FEWEST:
        return None
    low, high = (
        cv_percent * math.sqrt((count - 1) / special.chdtri(count - 1, share))
        for share in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high


def interval(
    value: float, bare_count: int, guest_count: int, confidence: float
) -> tuple[float, float]:
    """Return both ends of the interval of a ratio of deviations.

    It assumes that values are log-normal. More values do not correct other
    distributions, unlike the interval of a ratio of means. The ratio of
    variances over its true value has the F distribution with ``guest_count -
    1`` and ``bare_count - 1`` degrees of freedom (G. W. Snedecor and W. G.
    Cochran, "Statistical Methods", 8th edition, 1989; NIST/SEMATECH
    e-Handbook of Statistical Methods, 1.3.5.9).
    """
    upper, lower = _quantiles(bare_count, guest_count, confidence)
    return value / math.sqrt(upper), value / math.sqrt(lower)


@functools.lru_cache(maxsize=1024)
def _quantiles(
    bare_count: int, guest_count: int, confidence: float
) -> tuple[float, float]:
    """Return the upper and the lower quantile of the F distribution."""
    from scipy import stats

    freedom = guest_count - 1, bare_count - 1
    return (
        float(stats.f.ppf((1 + confidence) / 2, *freedom)),
        float(stats.f.ppf((1 - confidence) / 2, *freedom)),
    )
