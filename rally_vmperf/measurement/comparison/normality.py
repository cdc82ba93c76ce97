"""The detection of skewed or bimodal repetitions, beyond chance.

An interval assumes that the logarithms of repetitions are normally
distributed. Two figures show where they are not: their skewness, and their
largest gap. The thresholds come from 40,000 to 200,000 samples of normal
values for each number of values: 1 in 100 exceeds one threshold, and 1.5 to
1.9 in 100 exceed either of the two.
"""

import functools
import itertools
import math
import statistics as stdlib

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units

#: Number of values -> skewness (moments), and largest gap in standard
#: deviations within the groups it separates, that 1 % of samples exceed.
#: Fewer say nothing; in between, the next smaller number counts.
_CHANCE = {
    5: (1.39, 13.32),
    6: (1.53, 9.01),
    7: (1.59, 6.97),
    8: (1.60, 5.79),
    10: (1.58, 4.45),
    12: (1.53, 3.76),
    15: (1.44, 3.18),
    20: (1.31, 2.67),
    30: (1.12, 2.29),
    50: (0.88, 1.97),
    100: (0.64, 1.76),
}


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
