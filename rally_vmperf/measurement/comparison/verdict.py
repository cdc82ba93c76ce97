"""The verdict on a comparison, and its sentences."""

import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.samples import units

Status = t.Literal["passed", "failed", "inconclusive", "void"]

#: The names of both sides and of the loss in sentences.
SIDES = ("bare metal", "guest", "overhead")


def decide(comparison: loss.Comparison, limit: float) -> Status:
    """Return the status of an overhead against its limit.

    ``passed`` when the whole interval is within the limit, ``failed`` when
    the whole interval is beyond it, ``inconclusive`` when the limit lies
    inside it or when there is no interval.

    :param limit: The limit of the overhead, in percent, inclusive.
    """
    return decide_interval(comparison.low, comparison.high, limit)


def may_be_within(comparison: loss.Comparison, limit: float) -> bool:
    """Return whether an interval exists and reaches below the limit."""
    return comparison.low is not None and comparison.low <= limit


def would_decide(
    comparison: loss.Comparison,
    limit: float,
    figure: str = "overhead",
    both: bool = False,
) -> str:
    """Return how many repetitions would decide, as a clause.

    :param figure: The name of the limited figure.
    :param both: Whether each repetition measures both sides.
    """
    advice = needed.required_repetitions(comparison, limit, both)
    return advice.sentence(figure)


def decide_interval(
    low: float | None, high: float | None, limit: float
) -> Status:
    """Return the status of an interval against a limit."""
    if low is None or high is None:
        return "inconclusive"
    if high <= limit:
        return "passed"
    return "failed" if low > limit else "inconclusive"


def interval(comparison: loss.Comparison, limit: float | None = None) -> str:
    """Return the interval as text; "no interval" if there is none."""
    if comparison.low is None or comparison.high is None:
        return "no interval"
    sure = f"{comparison.confidence * 100:g} % interval"
    return f"{sure} {ends(comparison, limit)}"


def ends(comparison: loss.Comparison, limit: float | None = None) -> str:
    """Return the ends of the interval as text; "" if there is none."""
    low, high = comparison.low, comparison.high
    if low is None or high is None:
        return ""
    digits = units.digits_apart((low, high), limit)
    return (
        f"{units.show_percent(low, digits)} to "
        f"{units.show_percent(high, digits)} %"
    )


def figure(comparison: loss.Comparison, limit: float | None) -> str:
    """Return the overhead as text, with as many digits as its interval."""
    ends = (comparison.low, comparison.high)
    digits = units.digits_apart(
        [end for end in ends if end is not None], limit
    )
    return f"{units.show_percent(comparison.overhead_percent, digits)} %"


def sentence(
    comparison: loss.Comparison,
    limit: float | None,
    status: Status | None,
    reason: str = "",
    names: tuple[str, str, str] = SIDES,
    title: str = "",
    limit_origin: str = "",
) -> str:
    """Return the figures, the limit and the verdict as one sentence.

    :param reason: The reason why the verdict is inconclusive; the default
        is the number of repetitions that would decide.
    :param names: The names of both sides and of the loss.
    :param title: The title of the figure; by default the metric's name.
    :param limit_origin: The text behind the limit.
    """
    metric = comparison.metric
    bare, guest, lost = names
    text = (
        f"{title or metric.name}: "
        f"{bare} {units.show(comparison.bare, metric.unit)}, "
        f"{guest} {units.show(comparison.guest, metric.unit)}, "
        f"{lost} {figure(comparison, limit)} "
        f"({interval(comparison, limit)})"
    )
    if limit is None or status is None:
        return f"{text}, no limit"
    text += f", limit {limit:g} %{limit_origin}: {status}"
    if status == "inconclusive":
        both = comparison.paired
        text += f", {reason or would_decide(comparison, limit, lost, both)}"
    return text
