"""Whether a broken limit can still be kept by the repetitions to come."""

import collections.abc

from rally_vmperf.measurement import counts
from rally_vmperf.measurement import judgement
from rally_vmperf.measurement import overhead
from rally_vmperf.measurement import statistics

#: Confidence at which a limit is beyond return. Far above that of a verdict,
#: as the question is asked again after each repetition.
CONFIDENCE = 0.999


def beyond_return(row: judgement.AnyRow, planned: int) -> bool:
    """Return whether a row has failed, and will have failed in the end.

    That takes three things: the verdict is ``failed``; the interval at
    99.9 % is wholly beyond the limit as well; and the overhead would be
    beyond it even if each repetition to come were as good as the best one so
    far. A count that is beyond its limit in one of three repetitions or more
    stays there, as its worst repetition is judged.

    :param planned: how many counted repetitions the task asks for
    """
    if row.status != "failed" or row.limit is None:
        return False
    if isinstance(row, counts.CountRow):
        return len(row.guest) >= statistics.FEWEST
    if row.comparison is None:
        return False
    best = surest(row.comparison, planned)
    return best is not None and best > row.limit


def surest(
    comparison: overhead.Comparison, planned: int, both: bool = False
) -> float | None:
    """Return the smallest loss that is still to be hoped for, in percent.

    The lower of two: the end of the interval at 99.9 %, and what it is if
    each repetition to come is as good as the best so far. None without an
    interval.

    :param both: each repetition measures both sides
    """
    ratios = statistics.ratio_interval(
        comparison.bare_values, comparison.guest_values, CONFIDENCE
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
        overhead.percent(comparison.metric, ratio)
        for ratio in (*ratios, guest / bare)
    )


def _with_more(
    values: tuple[float, ...],
    pick: collections.abc.Callable[[tuple[float, ...]], float],
    planned: int,
) -> float:
    """Return the mean if all that is to come were as one that was."""
    more = [pick(values)] * max(0, planned - len(values))
    return statistics.geometric_mean([*values, *more])
