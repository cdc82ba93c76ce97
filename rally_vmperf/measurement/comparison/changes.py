"""The changes of metrics between runs.

Two runs are compared with each other: the second with the first. Of more
runs, each is compared with all others together.
"""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

Status = t.Literal["worse", "better", "undecided", "equal"]

#: A condition as text, empty if a run has only one, and a metric.
Key = tuple[str, sample.Metric]
_Sides = tuple[loss.Repetitions, loss.Repetitions]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSamples:
    """The counted samples of a run or of a baseline.

    :param name: The name, unique among the compared runs.
    :param samples: The values of all machines, per repetition.
    :param absences: The reasons why other metrics have no samples.
    """

    name: str
    samples: collections.abc.Mapping[Key, loss.Repetitions]
    absences: collections.abc.Mapping[Key, str] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Change:
    """The change of a metric in a run, compared with the reference.

    :param run: The name of the run.
    :param condition: The condition as text; empty if there is only one.
    :param margin: The largest loss and gain in percent that are equal.
    :param status: The status; "undecided" without a comparison.
    :param comparison: The loss of the run, with the interval that decided;
        None if a side has no samples.
    :param reason: The reason why there is no comparison, or "".
    """

    run: str
    condition: str
    metric: sample.Metric
    margin: float
    status: Status = "undecided"
    comparison: loss.Comparison | None = None
    reason: str = ""

    @property
    def remark(self) -> str:
        """The reason for a missing interval, or what casts doubt on it."""
        comparison = self.comparison
        if comparison is None:
            return self.reason
        if comparison.low is None:
            return f"requires {statistics.FEWEST} repetitions of each run"
        kinds = [
            # The reference is not a baseline here.
            detail.partition(",")[0] if kind == "baseline_irregular" else kind
            for _, kind, detail in comparison.departures
        ]
        kinds += ["drifting"] * bool(comparison.drifts)
        if comparison.quantised:
            kinds.insert(0, "values_quantised")
        return ", ".join(dict.fromkeys(kinds))


def decide(comparison: loss.Comparison, margin: float) -> Status:
    """Return the status of a change, by the rule of verdicts.

    A change is worse or better if its whole interval is beyond the margin,
    equal if its whole interval is within the margin, and else undecided.

    :param margin: The largest loss and gain in percent that are equal.
    """
    low, high = comparison.low, comparison.high
    if low is None or high is None:
        return "undecided"
    if low > margin:
        return "worse"
    if high < -margin:
        return "better"
    return "equal" if -margin <= low and high <= margin else "undecided"


def compare_runs(
    runs: collections.abc.Sequence[RunSamples],
    margins: limits.Limits,
    confidence: float = 0.95,
) -> list[Change]:
    """Return the change of each metric and condition, as a list.

    The confidence is that of all statuses together.

    :param runs: At least two runs. The second of two is compared with the
        first, and each of more with all others.
    :param margins: The margins in percent, with one that matches any metric.
    """
    keys = dict.fromkeys(
        key for run in runs for key in (*run.samples, *run.absences)
    )
    names = {metric.name for _, metric in keys}
    compared = runs[1:] if len(runs) == 2 else runs
    changes: list[Change] = []
    sides: dict[int, _Sides] = {}
    for condition, metric in keys:
        margin, _ = margins.for_metric(metric.name, names) or (0.0, "")
        for run in compared:
            others = [other for other in runs if other is not run]
            reason = _explain_absence((condition, metric), run, others)
            if not reason:
                sides[len(changes)] = (
                    [
                        values
                        for other in others
                        for values in other.samples.get(
                            (condition, metric), ()
                        )
                    ],
                    run.samples[condition, metric],
                )
            changes.append(
                Change(
                    run=run.name,
                    condition=condition,
                    metric=metric,
                    margin=margin,
                    reason=reason,
                )
            )
    decide_all(changes, sides, confidence)
    return changes


def _explain_absence(
    key: Key, run: RunSamples, others: collections.abc.Sequence[RunSamples]
) -> str:
    """Return why a metric of a run cannot be compared as text, or ""."""
    _, metric = key
    if metric.scale == "count":
        return "a count has no ratio"
    for side in (run, *others):
        missing = key not in side.samples
        if missing and (side is run or len(others) == 1):
            return f"{side.name}: {side.absences.get(key, 'not measured')}"
    if not any(key in other.samples for other in others):
        return f"only {run.name} has it"
    return ""


def decide_all(
    changes: list[Change],
    sides: collections.abc.Mapping[int, _Sides],
    confidence: float,
    paired: bool = False,
) -> None:
    """Replace the changes that have two sides by compared ones.

    The correction is that of Holm: an interval has the error of one among all
    changes that no earlier, stricter interval decided (S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979). This is the same as the usual form by p-values: a
    change has a p-value below an error if its interval at that error does not
    contain the value that is tested.

    :param sides: The values of the reference and of the run, by the index of
        their change.
    :param paired: Whether each repetition measured both sides.
    """
    undecided = {
        number
        for number, (others, values) in sides.items()
        if min(len(others), len(values)) >= statistics.FEWEST
    }
    pending = set(sides)
    while pending:
        level = verdict.correct_confidence(confidence, len(undecided))
        for number in pending:
            change = changes[number]
            others, values = sides[number]
            comparison = loss.compare(
                change.metric,
                others,
                values,
                level,
                paired=paired,
                conservative=False,
            )
            changes[number] = dataclasses.replace(
                change,
                comparison=comparison,
                status=decide(comparison, change.margin),
            )
        remaining = {
            number
            for number in undecided
            if changes[number].status == "undecided"
        }
        pending = remaining if remaining < undecided else set()
        undecided = remaining


def rank(changes: collections.abc.Iterable[Change]) -> list[list[Change]]:
    """Return the changes of each metric and condition, the best run first.

    Runs without a comparison are last. Metrics that are worse in a run are
    first.
    """
    groups: dict[Key, list[Change]] = {}
    for change in changes:
        groups.setdefault((change.condition, change.metric), []).append(change)
    order = t.get_args(Status)
    return sorted(
        (sorted(group, key=_sort_key) for group in groups.values()),
        key=lambda group: min(order.index(change.status) for change in group),
    )


def _sort_key(change: Change) -> tuple[bool, float]:
    """Return the sort key of a change by its mean; the best are first."""
    if change.comparison is None:
        return True, 0.0
    mean = change.comparison.guest
    return False, mean if change.metric.better == "lower" else -mean


def summarise(
    runs: collections.abc.Sequence[RunSamples],
    changes: collections.abc.Collection[Change],
) -> list[str]:
    """Return one sentence per compared run with its numbers of statuses."""
    reference = runs[0].name if len(runs) == 2 else "the others"
    sentences = []
    for run in dict.fromkeys(change.run for change in changes):
        numbers = collections.Counter(
            change.status for change in changes if change.run == run
        )
        *first, last = (
            f"{status} in {numbers[status]}" for status in t.get_args(Status)
        )
        sentences.append(
            f"{run} compared with {reference}: {', '.join(first)} and {last} "
            f"of {units.number_of('metric', numbers.total())}"
        )
    return sentences
