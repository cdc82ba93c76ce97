"""Whether a broken limit can still be kept by the repetitions to come."""

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
    ratios = statistics.ratio_interval(
        row.comparison.bare_values, row.comparison.guest_values, CONFIDENCE
    )
    if ratios is None:
        return False
    surest = min(
        overhead.percent(row.metric, ratio)
        for ratio in (*ratios, _hopeful(row.comparison, planned))
    )
    return surest > row.limit


def _hopeful(comparison: overhead.Comparison, planned: int) -> float:
    """Return the ratio if all that is to come were as good as the best."""
    values = list(comparison.guest_values)
    best = max if comparison.metric.better == "higher" else min
    values += [best(values)] * max(0, planned - len(values))
    return statistics.geometric_mean(values) / comparison.bare
