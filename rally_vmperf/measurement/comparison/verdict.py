# SPDX-License-Identifier: Apache-2.0
"""Limits of metrics, and the verdict on a comparison with its sentences."""

import collections.abc
import dataclasses
import fnmatch
import math
import re
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

Status = t.Literal["passed", "failed", "inconclusive", "void"]
#: The statuses that are not passed, the most severe one first.
NOT_PASSED: tuple[Status, ...] = ("failed", "void", "inconclusive")
#: The status of a loss between two runs, or between two hosts.
Change = t.Literal["worse", "better", "undecided", "not worse", "equal"]
#: The default margin of a change in percent.
MARGIN = 5.0
#: All statuses, the most severe one first.
BY_SEVERITY: tuple[Status, ...] = (*NOT_PASSED, "passed")
#: The number of repetitions that a first run should have.
RECOMMENDED = 5

Comparisons = collections.abc.Collection[loss.Comparison]

#: The names of both sides and of the loss in sentences.
SIDES = ("bare metal", "guest", "overhead")
#: The name of the loss if it is shown with the opposite sign.
GAIN = "gain"
#: A figure with absolute limits: the largest or the least value.
AbsoluteFigure = t.Literal["max", "min"]
_WILDCARD = re.compile(r"\[[^\]]{1,100}\]|\*|\?")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FigureValue:
    """A figure with its limit and status as numbers, for other programs.

    :param name: The name of the figure, such as ``overhead``.
    :param unit: The unit of the numbers; ``1`` for a ratio or a count.
    :param subject: The guests that it speaks of, such as ``worst guest``.
    :param guest: The name of a single guest that it speaks of, or "".
    :param guests: The number of guests of each host that measured at once;
        None if it is the same in the whole run.
    :param variant: The variant that measured; "" if the run has none.
    :param value: The figure; None if it is missing.
    :param low: The lower end of the interval; None without one.
    :param high: The upper end of the interval; None without one.
    :param limit: The limit; None without one.
    :param status: The status; None without a limit.
    :param reason: The reason why the figure is missing, or "".
    :param is_minimum: Whether the limit is the smallest tolerated figure.
    """

    name: str
    unit: str
    subject: str = ""
    guest: str = ""
    guests: int | None = None
    variant: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    status: Status | None = None
    reason: str = ""
    is_minimum: bool = False

    @property
    def estimate(self) -> units.Estimate | None:
        """The figure with its interval; None if it is missing."""
        if self.value is None:
            return None
        return units.Estimate(self.value, self.low, self.high)


def find_most_severe(
    statuses: collections.abc.Iterable[str | None],
) -> Status | None:
    """Return the most severe of several statuses; None without any."""
    found = set(statuses)
    return next((status for status in BY_SEVERITY if status in found), None)


def decide(comparison: loss.Comparison, limit: float) -> Status:
    """Return the status of an overhead against its limit.

    ``passed`` when the whole interval is within the limit, ``failed`` when
    the whole interval is beyond it, ``inconclusive`` when the limit lies
    inside it or when there is no interval.

    :param limit: The limit of the overhead, in percent, inclusive.
    """
    return decide_interval(comparison.low, comparison.high, limit)


def decide_all(
    comparisons: Comparisons, corrected: Comparisons, limit: float
) -> Status:
    """Return the status of all guests against a limit.

    Passed if each guest passes, without correction; failed if any guest
    fails at a level corrected for their number (S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979).

    :param corrected: The comparisons with the corrected confidence.
    """
    if {decide(comparison, limit) for comparison in comparisons} == {"passed"}:
        return "passed"
    if "failed" in {decide(comparison, limit) for comparison in corrected}:
        return "failed"
    return "inconclusive"


def correct_confidence(confidence: float, guests: int) -> float:
    """Return the confidence of each guest's interval, if one may fail all."""
    return 1 - (1 - confidence) / max(1, guests)


def decide_family(
    members: collections.abc.Collection[int],
    confidence: float,
    decide_member: t.Callable[[int, float], bool],
) -> set[int]:
    """Decide intervals together, each at the confidence that it requires.

    The correction is that of Holm: an interval has the error of one among all
    members that no earlier, stricter interval decided. This is the same as
    the usual form by p-values: a member has a p-value below an error if its
    interval at that error does not contain the value that is tested.

    :param members: The numbers of the members.
    :param confidence: The confidence of all decisions together.
    :param decide_member: A function that decides a member at a confidence, and
        returns whether its interval decides.
    :returns: The members that no interval decided.
    """
    undecided, before = {*members}, 0
    while len(undecided) not in (0, before):
        before = len(undecided)
        level = correct_confidence(confidence, before)
        undecided = {
            member for member in undecided if not decide_member(member, level)
        }
    return undecided


def may_be_within(comparison: loss.Comparison, limit: float) -> bool:
    """Return whether an interval exists and reaches below the limit."""
    return comparison.low is not None and comparison.low <= limit


def list_drifts_across(
    comparison: loss.Comparison, limit: float | None
) -> loss.Drifts:
    """Return the drifts of sides if they lead across a limit.

    The overhead of the last state is then on the other side of the limit.

    :param limit: The limit of the overhead in percent; None without one.
    """
    if limit is None or not comparison.drifts:
        return ()
    is_beyond = comparison.overhead_percent > limit
    if is_beyond == (comparison.last_overhead_percent > limit):
        return ()
    return comparison.drifts


def describe_beyond(
    beyond: collections.abc.Mapping[str, loss.Comparison],
    guests: int,
    limit: float | None,
) -> str:
    """Return as text which guests are beyond the limit of the mean guest.

    :param beyond: The comparisons of these guests, by name.
    :param guests: The number of all guests.
    """
    worst = max(beyond, key=lambda guest: beyond[guest].overhead_percent)
    lost, _ = show_loss(beyond[worst], limit)
    return (
        f"{len(beyond)} of {units.number_of('guest', guests)} beyond the "
        f"limit of {limit:g} %: {worst} loses {lost} "
        f"({interval(beyond[worst], limit)})"
    )


def would_decide(comparison: loss.Comparison) -> str:
    """Return what would decide an inconclusive comparison, as a clause."""
    if comparison.quantised:
        return (
            f"{comparison.quantised}, so the rounding of the tool is unknown: "
            "measure for longer, or use a tool that gives more digits"
        )
    is_fixed = comparison.paired or comparison.exact
    if comparison.reference_name == loss.BARE_METAL and not is_fixed:
        return more_repetitions(
            comparison.guest_repetitions, comparison.bare_repetitions
        )
    return more_repetitions(
        min(comparison.guest_repetitions, comparison.bare_repetitions)
    )


def more_repetitions(guest: int, bare: int | None = None) -> str:
    """Return which side requires more repetitions, as a clause.

    :param guest: The number of counted repetitions of the guest.
    :param bare: The number of repetitions in the baseline; None without one.
    """
    if bare is not None and bare < statistics.FEWEST:
        return (
            f"at least {RECOMMENDED} repetitions of bare metal are needed to "
            "say"
        )
    if guest < statistics.FEWEST:
        return f"at least {RECOMMENDED} repetitions are needed to say"
    sides = "" if bare is None else " on both sides"
    return f"more repetitions{sides} narrow the interval"


def decide_interval(
    low: float | None, high: float | None, limit: float
) -> Status:
    """Return the status of an interval against a limit."""
    if low is None or high is None:
        return "inconclusive"
    if high <= limit:
        return "passed"
    return "failed" if low > limit else "inconclusive"


def decide_change(
    low: float | None, high: float | None, margin: float
) -> Change:
    """Return the status of the interval of a loss, by the rule of verdicts.

    A change is worse or better if its whole interval is beyond the margin,
    equal if its whole interval is within the margin, not worse if only its
    upper end is known to be within, and else undecided.

    :param margin: The largest loss and gain in percent that are equal.
    """
    if low is None or high is None:
        return "undecided"
    status = decide_interval(low, high, margin)
    if status != "passed":
        return "worse" if status == "failed" else "undecided"
    if high < -margin:
        return "better"
    return "equal" if low >= -margin else "not worse"


def show_loss(
    comparison: loss.Comparison,
    limit: float | None = None,
    is_gain: bool = False,
) -> units.Shown:
    """Return the overhead and its interval as texts.

    :param is_gain: Whether the loss is shown as a gain.
    """
    estimate = comparison.estimate
    return units.show_estimate(
        estimate.negate() if is_gain else estimate, "%", limit
    )


def interval(
    comparison: loss.Comparison,
    limit: float | None = None,
    guests: int = 1,
    is_gain: bool = False,
) -> str:
    """Return the interval as text; "no interval" if there is none.

    :param guests: The number of guests for which its confidence is corrected.
    :param is_gain: Whether the loss is shown as a gain.
    """
    shown = show_loss(comparison, limit, is_gain).interval
    if not shown:
        return "no interval"
    sure = f"{comparison.confidence * 100:.5g} % interval"
    if guests > 1:
        sure += f", as one of {guests} guests,"
    plain, _ = units.show_estimate(
        comparison.estimate._replace(value=comparison.plain_high or 0.0),
        "%",
        limit,
    )
    low, _, conservative = shown.partition(" to ")
    if is_gain or plain == conservative:
        return f"{sure} {shown}"
    text = f"{sure} {low} to {plain}"
    if limit is not None and (comparison.low or 0.0) > limit:
        return text
    reason = "the guest varies more"
    if comparison.overlap < 1:
        reason = "the guests overlapped in part"
    return f"{text}; to pass {conservative} counts, as {reason}"


class Limits:
    """The limits of metrics that match patterns.

    The metric's own name wins, then the most exact pattern: of two patterns,
    one is more exact if the other matches all of its metrics, and more. If
    neither does, the patterns conflict (``describe_conflict``), and a task
    with such limits is rejected.

    :param patterns: The limits by metric or glob. A number is the limit of
        all metrics but percentiles above p50, which vary more; these need a
        limit by name.
    :param scales: The scales of the metrics that the limits apply to.
    :raises ValueError: If a limit is not a finite number.
    """

    def __init__(
        self,
        patterns: collections.abc.Mapping[str, float] | float,
        scales: collections.abc.Container[sample.Scale] = t.get_args(
            sample.Scale
        ),
    ) -> None:
        self._omits_tails = not isinstance(patterns, collections.abc.Mapping)
        if not isinstance(patterns, collections.abc.Mapping):
            patterns = {"*": patterns}
        for pattern, limit in patterns.items():
            if isinstance(limit, bool) or not math.isfinite(limit):
                raise ValueError(
                    f"Limit {pattern!r}={limit!r}: must be a finite number"
                )
        self.patterns = dict(patterns)
        self._scales = scales

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def list_names(
        self, metrics: collections.abc.Iterable[sample.Metric]
    ) -> list[str]:
        """Return the names of the metrics that the limits apply to."""
        return [
            metric.name for metric in metrics if metric.scale in self._scales
        ]

    def for_metric(
        self, name: str, among: collections.abc.Collection[str] = ()
    ) -> tuple[float, str] | None:
        """Return the limit of a metric with its pattern; None without one.

        :param among: The names of all metrics.
        """
        matching = [
            pattern for pattern in self.patterns if _matches(pattern, name)
        ]
        if self._omits_tails and sample.is_tail(name):
            return None
        if not matching:
            return None
        pattern = min(
            matching,
            key=lambda pattern: (
                pattern != name,
                sum(_matches(pattern, metric) for metric in among),
                -len(_WILDCARD.sub("", pattern)),
                pattern,
            ),
        )
        return float(self.patterns[pattern]), pattern

    def describe_conflict(
        self, metrics: collections.abc.Iterable[sample.Metric]
    ) -> str:
        """Return which patterns conflict over a metric as a clause, or "".

        Both match the metric, their limits differ, and neither is more exact
        than the other.

        :param metrics: All metrics.
        """
        names = {*self.list_names(metrics)}
        matches = {
            pattern: {name for name in names if _matches(pattern, name)}
            for pattern in self.patterns
        }
        for name in sorted(names - self.patterns.keys()):
            matching = [
                pattern for pattern in matches if name in matches[pattern]
            ]
            exact = [
                pattern
                for pattern in matching
                if not any(
                    matches[other] < matches[pattern] for other in matching
                )
            ]
            for pattern in exact[1:]:
                if self.patterns[pattern] != self.patterns[exact[0]]:
                    return (
                        f"{exact[0]!r} is {self.patterns[exact[0]]:g} and "
                        f"{pattern!r} is {self.patterns[pattern]:g}, and both "
                        f"match {name}; set a limit for {name!r}, or narrow "
                        "one of the patterns"
                    )
        return ""

    def unmatched(
        self, names: collections.abc.Iterable[str]
    ) -> tuple[str, ...]:
        """Return the patterns that match no name, as a sorted tuple."""
        names = list(names)
        return tuple(
            sorted(
                pattern
                for pattern in self.patterns
                if not matches_any(pattern, names)
            )
        )

    def is_of_counts(
        self, pattern: str, metrics: collections.abc.Iterable[sample.Metric]
    ) -> bool:
        """Return whether a pattern matches counts, to which none applies."""
        return "count" not in self._scales and matches_any(
            pattern,
            (metric.name for metric in metrics if metric.scale == "count"),
        )

    def describe_unmatched(
        self,
        metrics: collections.abc.Collection[sample.Metric],
        remedy: str = "use max",
    ) -> str:
        """Return which patterns match no metric as a clause, or "".

        :param remedy: The solution for a limit on counts; "" without one.
        """
        names = sorted({*self.list_names(metrics)})
        unmatched = self.unmatched(names)
        counts = [
            pattern
            for pattern in unmatched
            if self.is_of_counts(pattern, metrics)
        ]
        others = [pattern for pattern in unmatched if pattern not in counts]
        clauses = []
        if counts:
            verb = "matches" if len(counts) == 1 else "match"
            reason = "; ".join(filter(None, (COUNTS, remedy)))
            clauses.append(f"{_join(counts)} {verb} counts only: {reason}")
        if others:
            verb = "matches" if len(others) == 1 else "match"
            there = ", ".join(names) or "none"
            clauses.append(
                f"{_join(others)} {verb} no metric (there are: {there})"
            )
        return "; ".join(clauses)


#: Why a limit in percent does not apply to a count.
COUNTS = "a count can be 0 and has no percentage"
#: The largest number of patterns in a message.
_MAX_PATTERNS = 5


def _join(patterns: collections.abc.Sequence[str]) -> str:
    """Return patterns as text, with the number of those that are omitted."""
    shown = ", ".join(map(repr, patterns[:_MAX_PATTERNS]))
    omitted = len(patterns) - _MAX_PATTERNS
    return f"{shown} and {omitted} more" if omitted > 0 else shown


class LimitsByOption(dict[str, Limits]):
    """The limits of a criterion by option; an absent option has none."""

    def __missing__(self, option: str) -> Limits:
        return Limits({})


def _matches(pattern: str, name: str) -> bool:
    """Return whether a glob pattern matches the name of a metric."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def matches_any(pattern: str, names: collections.abc.Iterable[str]) -> bool:
    """Return whether a glob pattern matches any of the names."""
    return any(_matches(pattern, name) for name in names)


def absolute_figures(
    metric: sample.Metric,
    by_option: LimitsByOption,
    *,
    has_reference: bool = True,
) -> list[AbsoluteFigure]:
    """Return which absolute figures of a metric to show, as a list.

    A metric without a limit has one as well if it has no loss: a count, or
    any metric without a reference.

    :param by_option: The limits of a criterion.
    :param has_reference: Whether guests are compared with a reference.
    """
    limited = [
        figure
        for figure in t.get_args(AbsoluteFigure)
        if by_option[figure].for_metric(metric.name)
    ]
    if limited or (has_reference and metric.scale == "ratio"):
        return limited
    is_least = metric.scale == "ratio" and metric.better == "higher"
    return ["min" if is_least else "max"]
