"""Whether a comparison is within its limit, and how that is said."""

import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.samples import units

Status = t.Literal["passed", "failed", "inconclusive", "void"]

#: What sentences call both sides, and the loss.
SIDES = ("bare metal", "guest", "overhead")


def decide(comparison: loss.Comparison, limit: float) -> Status:
    """Return whether the overhead is within its limit.

    ``passed`` when the whole interval is within the limit, ``failed`` when
    the whole interval is beyond it, ``inconclusive`` when the limit lies
    inside it or when there is no interval.

    :param limit: of the overhead, in percent; the limit itself is within
    """
    return of_interval(comparison.low, comparison.high, limit)


def may_be_within(comparison: loss.Comparison, limit: float) -> bool:
    """Return whether there is an interval, and not all of it is beyond."""
    return comparison.low is not None and comparison.low <= limit


def would_decide(
    comparison: loss.Comparison,
    limit: float,
    figure: str = "overhead",
    both: bool = False,
) -> str:
    """Return what would decide, as half a sentence.

    :param figure: what the limit applies to
    :param both: each repetition measures both sides
    """
    more = needed.repetitions_needed(comparison, limit, both)
    return more.sentence(figure)


def of_interval(low: float | None, high: float | None, limit: float) -> Status:
    """Return whether an interval is within a limit, if there is one."""
    if low is None or high is None:
        return "inconclusive"
    if high <= limit:
        return "passed"
    return "failed" if low > limit else "inconclusive"


def interval(comparison: loss.Comparison, limit: float | None = None) -> str:
    """Return the interval in words, or that there is none."""
    if comparison.low is None or comparison.high is None:
        return "no interval"
    sure = f"{comparison.confidence * 100:g} % interval"
    return f"{sure} {ends(comparison, limit)}"


def ends(comparison: loss.Comparison, limit: float | None = None) -> str:
    """Return the ends of the interval in words, or nothing."""
    low, high = comparison.low, comparison.high
    if low is None or high is None:
        return ""
    digits = units.digits_apart((low, high), limit)
    return (
        f"{units.show_percent(low, digits)} to "
        f"{units.show_percent(high, digits)} %"
    )


def figure(comparison: loss.Comparison, limit: float | None) -> str:
    """Return the overhead with as many digits as its interval."""
    known = (comparison.low, comparison.high)
    digits = units.digits_apart([x for x in known if x is not None], limit)
    return f"{units.show_percent(comparison.overhead_percent, digits)} %"


def sentence(
    comparison: loss.Comparison,
    limit: float | None,
    status: Status | None,
    why: str = "",
    names: tuple[str, str, str] = SIDES,
    title: str = "",
    given_by: str = "",
) -> str:
    """Return the figures, the limit and the verdict in one sentence.

    :param why: it is undecided; without it, what would decide is said
    :param names: of both sides and of the loss
    :param title: of the figure; the name of its metric unless given
    :param given_by: what is said behind the limit
    """
    metric = comparison.metric
    bare, guest, lost = names
    words = (
        f"{title or metric.name}: "
        f"{bare} {units.show(comparison.bare, metric.unit)}, "
        f"{guest} {units.show(comparison.guest, metric.unit)}, "
        f"{lost} {figure(comparison, limit)} "
        f"({interval(comparison, limit)})"
    )
    if limit is None or status is None:
        return f"{words}, no limit"
    words += f", limit {limit:g} %{given_by}: {status}"
    if status == "inconclusive":
        both = comparison.paired
        words += f", {why or would_decide(comparison, limit, lost, both)}"
    return words
