# SPDX-License-Identifier: Apache-2.0
"""The detection of skewed, bimodal or drifting repetitions, beyond chance.

An interval assumes that the logarithms of repetitions are normally
distributed and independent. Two figures show where they are not normal: their
skewness, and their largest gap. The thresholds come from 4 million samples of
normal values for each number of values: 1 in 2,000 exceeds either of the two,
so that 1 in 1,000 metrics with two sides does. A trend over the repetitions
shows that they are not independent.
"""

import functools
import itertools
import math
import statistics as stdlib
import sys

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units

#: Number of values -> skewness (moments), and largest gap in standard
#: deviations within the groups it separates, either of which 0.05 % of samples
#: exceed. Fewer say nothing; in between, the next smaller number counts.
_CHANCE = {
    5: (1.489, 44.3),
    6: (1.742, 23.9),
    7: (1.925, 15.9),
    8: (2.046, 11.8),
    10: (2.167, 8.16),
    12: (2.191, 6.43),
    15: (2.139, 5.13),
    20: (2.008, 4.26),
    30: (1.755, 3.57),
    50: (1.387, 3.07),
    100: (0.976, 2.72),
}
#: The share of steady metrics that are called drifting.
_DRIFT_ERROR = 0.01
#: The same where all metrics of a baseline are checked, with or without limit.
_RARE_DRIFT_ERROR = 0.0005


def departure(
    values: statistics.Values, error: float = 0
) -> tuple[str, str] | None:
    """Return the kind of finding and its detail; None if normal.

    Differences within the rounding error are neither skew nor a gap.

    :param error: The rounding error of a value, as a share.
    """
    return _find_departure(tuple(values), error)


@functools.lru_cache(maxsize=1024)
def _find_departure(
    values: tuple[float, ...], error: float
) -> tuple[str, str] | None:
    """Return "bimodal" or "skewed" with details; None if normal."""
    counts = [number for number in _CHANCE if number <= len(values)]
    if not counts or len(set(values)) < statistics.FEWEST:
        return None
    logs = sorted(statistics.logarithms(values))
    rounding = math.log1p(error)
    if logs[-1] - logs[0] <= 4 * rounding:
        return None
    most_skew, most_gap = _CHANCE[max(counts)]
    gap, below = max(
        (after - before, index)
        for index, (before, after) in enumerate(itertools.pairwise(logs), 1)
    )
    groups = logs[:below], logs[below:]
    squares = sum(len(group) * stdlib.pvariance(group) for group in groups)
    within = squares / (len(logs) - 2)
    if gap > most_gap * math.sqrt(within + rounding**2):
        percent = units.show_percent(math.expm1(gap) * 100)
        return "bimodal", f"{below} and {len(groups[1])}, {percent} % apart"
    mean = stdlib.fmean(logs)
    cubes = stdlib.fmean((log - mean) ** 3 for log in logs)
    skew = cubes / stdlib.pvariance(logs) ** 1.5
    if abs(skew) > most_skew:
        side = "large" if skew > 0 else "small"
        return "skewed", f"skewness {skew:.2g}, towards {side} values"
    return None


def drift(
    values: statistics.Values, error: float = 0, is_rare: bool = False
) -> str:
    """Return how far values drift from one to the next as text, or "".

    Student's t test of the slope of the logarithms over their order, at 1 %.
    Fewer than five values say nothing, nor do differences within the rounding
    error.

    :param error: The rounding error of a value, as a share.
    :param is_rare: Whether the test is at 0.05 %, for many metrics at once.
    """
    number = len(values)
    if number < min(_CHANCE) or len(set(values)) < statistics.FEWEST:
        return ""
    logs = statistics.logarithms(values)
    if max(logs) - min(logs) <= 4 * math.log1p(error):
        return ""
    slope, _ = stdlib.linear_regression(range(number), logs)
    correlation = stdlib.correlation(range(number), logs)
    unexplained = max(1 - correlation**2, sys.float_info.epsilon)
    t_value = abs(correlation) * math.sqrt((number - 2) / unexplained)
    chance = _RARE_DRIFT_ERROR if is_rare else _DRIFT_ERROR
    if t_value <= statistics.student_quantile(1 - chance, number - 2):
        return ""
    percent = units.show_percent(math.expm1(slope) * 100)
    return f"{percent} % from repetition to repetition"


def last_state(values: statistics.Values) -> float:
    """Return the last value on a fitted line, as a share of the mean.

    The line is that of the logarithms over the order of the values.
    """
    numbers = range(len(values))
    slope, _ = stdlib.linear_regression(numbers, statistics.logarithms(values))
    return math.exp(slope * (numbers[-1] - stdlib.fmean(numbers)))
