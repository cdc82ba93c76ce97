# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of spread: how far values lie apart.

All figures are relative: they do not change when every value is multiplied by
the same number. Nothing here knows about metrics or limits.
"""

import dataclasses
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
    """

    range_percent: float
    cv_percent: float


def spread(values: statistics.Values) -> Spread | None:
    """Return the spread of values; None for fewer than two.

    :param values: The values, above zero.
    """
    if len(values) < FEWEST:
        return None
    mean = stdlib.fmean(values)
    return Spread(
        range_percent=(max(values) - min(values)) / mean * 100,
        cv_percent=stdlib.stdev(values) / mean * 100,
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

    if count < statistics.FEWEST:
        return None
    low, high = (
        cv_percent * math.sqrt((count - 1) / special.chdtri(count - 1, share))
        for share in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high
