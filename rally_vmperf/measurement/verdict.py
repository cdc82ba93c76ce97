"""Whether a comparison is within its limit, and how that is said."""

import typing as t

from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import units

Status = t.Literal["passed", "failed", "inconclusive", "void"]


def decide(comparison: loss.Comparison, limit: float) -> Status:
    """Return whether the overhead is within its limit.

    ``passed`` when the whole interval is within the limit, ``failed`` when
    the whole interval is beyond it, ``inconclusive`` when the limit lies
    inside it or when there is no interval.

    :param limit: of the overhead, in percent; the limit itself is within
    """
    if comparison.low is None or comparison.high is None:
        return "inconclusive"
    if comparison.high <= limit:
        return "passed"
    if comparison.low > limit:
        return "failed"
    return "inconclusive"


def interval(comparison: loss.Comparison) -> str:
    """Return the interval in words, or that there is none."""
    if comparison.low is None or comparison.high is None:
        return "no interval"
    return (
        f"{comparison.confidence * 100:g} % interval "
        f"{units.show_percent(comparison.low)} to "
        f"{units.show_percent(comparison.high)} %"
    )


def sentence(
    comparison: loss.Comparison,
    limit: float | None,
    status: Status | None,
) -> str:
    """Return the figures, the limit and the verdict in one sentence."""
    metric = comparison.metric
    words = (
        f"{metric.name}: "
        f"bare metal {units.show(comparison.bare, metric.unit)}, "
        f"guest {units.show(comparison.guest, metric.unit)}, "
        f"overhead {units.show_percent(comparison.overhead_percent)} % "
        f"({interval(comparison)})"
    )
    if limit is None or status is None:
        return f"{words}, no limit"
    words += f", limit {limit:g} %: {status}"
    if status == "inconclusive":
        missing = needed.repetitions_needed(comparison, limit)
        words += f", {missing.sentence()}"
    return words
