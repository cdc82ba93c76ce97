"""The changes of metrics between runs.

The first run is the reference; each other run is compared with it.
"""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

Status = t.Literal["worse", "better", "undecided", "not worse", "equal"]

#: The default margin in percent.
MARGIN = 5.0
#: The source of differences that no number of repetitions removes.
BOOTS = (
    "a difference between runs includes that between their boots: a machine "
    "that boots again uses other cores and other memory"
)

#: A condition as text, empty if a run has only one, and a metric.
Key = tuple[str, sample.Metric]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSamples:
    """The counted samples of a run or of a baseline.

    :param name: The name, unique among the compared runs.
    :param samples: The values of all machines, per repetition.
    :param absences: The reasons why other metrics have no samples.
    :param limits: The metrics with a limit in the SLAs of the first run: the
        margin of a rate or a time in percent, the largest tolerated count.
    """

    name: str
    samples: collections.abc.Mapping[Key, loss.Repetitions]
    absences: collections.abc.Mapping[Key, str] = dataclasses.field(
        default_factory=dict
    )
    limits: collections.abc.Mapping[Key, float] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Change:
    """The change of a metric in a run, compared with the reference.

    :param run: The name of the run.
    :param condition: The condition as text; empty if there is only one.
    :param margin: The largest loss and gain in percent that are equal; of a
        count, the largest tolerated one, or None.
    :param decides: Whether the metric decides the status of all changes.
    :param comparison: The loss of the run, with the interval that decided;
        None for a count, and if a side has no samples.
    :param counts: The largest count of the reference and of the run; None for
        a rate or a time, and if a side has no samples.
    :param reason: The reason why there is no comparison, or "".
    """

    run: str
    condition: str
    metric: sample.Metric
    margin: float | None
    decides: bool = True
    status: Status = "undecided"
    comparison: loss.Comparison | None = None
    counts: tuple[float, float] | None = None
    reason: str = ""

    @property
    def figures(self) -> tuple[float, float] | None:
        """The figures of the reference and of the run; None without them."""
        if self.comparison is None:
            return self.counts
        return self.comparison.bare, self.comparison.guest

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


def decide(low: float | None, high: float | None, margin: float) -> Status:
    """Return the status of the interval of a loss, by the rule of verdicts.

    A change is worse or better if its whole interval is beyond the margin,
    equal if its whole interval is within the margin, not worse if only its
    upper end is known to be within, and else undecided.

    :param margin: The largest loss and gain in percent that are equal.
    """
    if low is None or high is None:
        return "undecided"
    status = verdict.decide_interval(low, high, margin)
    if status != "passed":
        return "worse" if status == "failed" else "undecided"
    if high < -margin:
        return "better"
    return "equal" if low >= -margin else "not worse"


def compare_runs(
    runs: collections.abc.Sequence[RunSamples],
    margins: limits.Limits,
    confidence: float = 0.95,
) -> list[Change]:
    """Return the change of each metric and condition, as a list.

    The confidence is that of all statuses together. A metric that a run lost
    is worse. The metrics with a margin or a limit decide; without margins
    and limits, all rates and times decide.

    :param runs: At least two runs; each is compared with the first one, whose
        limits apply.
    :param margins: The margins in percent by metric or glob; the default is
        the limit of the first run, or ``MARGIN``.
    """
    keys = dict.fromkeys(
        key for run in runs for key in (*run.samples, *run.absences)
    )
    names = {metric.name for _, metric in keys}
    reference, *compared = runs
    changes: list[Change] = []
    sides: dict[int, contrasts.Contrast] = {}
    for key in keys:
        condition, metric = key
        margin, decides = _find_margin(key, reference.limits, margins, names)
        before = reference.samples.get(key, ())
        for run in compared:
            change = Change(
                run=run.name,
                condition=condition,
                metric=metric,
                margin=margin,
                decides=decides,
            )
            after = run.samples.get(key, ())
            if not (before and after):
                change = dataclasses.replace(
                    change,
                    status="worse" if before else "undecided",
                    reason=_explain_absence(key, run, reference),
                )
            elif metric.scale == "count":
                change = _compare_counts(change, before, after)
            else:
                sides[len(changes)] = contrasts.Contrast(
                    metric=metric,
                    reference=sample.create_samples(metric, before),
                    other=sample.create_samples(metric, after),
                    conservative=False,
                )
            changes.append(change)
    decide_all(changes, sides, confidence)
    return changes


def _find_margin(
    key: Key,
    limited: collections.abc.Mapping[Key, float],
    margins: limits.Limits,
    names: collections.abc.Collection[str],
) -> tuple[float | None, bool]:
    """Return the margin of a metric, and whether the metric decides.

    :param limited: The limits of the first run.
    :param names: The names of all metrics.
    """
    _, metric = key
    limit = limited.get(key)
    if metric.scale == "count":
        return limit, limit is not None
    if margin := margins.for_metric(metric.name, names):
        return margin[0], True
    if limit is None:
        return MARGIN, not (limited or margins)
    return limit, True


def _explain_absence(key: Key, run: RunSamples, reference: RunSamples) -> str:
    """Return why a metric of a run cannot be compared, as text."""
    side = reference if key in run.samples else run
    return f"{side.name}: {side.absences.get(key, 'not measured')}"


def _compare_counts(
    change: Change, before: loss.Repetitions, after: loss.Repetitions
) -> Change:
    """Return the change of a count, decided by its limit if it has one."""
    largest = max(map(max, before)), max(map(max, after))
    status: Status = "undecided"
    reason = "the largest count, without a limit"
    if change.margin is not None:
        status = "worse" if largest[1] > change.margin else "not worse"
        limit = units.show(change.margin, change.metric.unit)
        reason = f"the largest count; the limit is {limit}"
    return dataclasses.replace(
        change, status=status, counts=largest, reason=reason
    )


def decide_all(
    changes: list[Change],
    sides: collections.abc.Mapping[int, contrasts.Contrast],
    confidence: float,
) -> None:
    """Replace the changes that have two sides by compared ones.

    The correction is that of Holm: an interval has the error of one among all
    changes that no earlier, stricter interval decided (S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979). This is the same as the usual form by p-values: a
    change has a p-value below an error if its interval at that error does not
    contain the value that is tested.

    :param sides: The contrasts of the reference and of the run, by the index
        of their change.
    """
    undecided = {
        number
        for number, contrast in sides.items()
        if min(len(contrast.reference), len(contrast.other))
        >= statistics.FEWEST
    }
    pending = set(sides)
    while pending:
        level = verdict.correct_confidence(confidence, len(undecided))
        for number in pending:
            change = changes[number]
            margin = change.margin or 0.0
            if comparison := sides[number].compare(level):
                changes[number] = dataclasses.replace(
                    change,
                    comparison=comparison,
                    status=decide(comparison.low, comparison.high, margin),
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
    """Return the sort key of a change by its figure; the best are first."""
    if change.figures is None:
        return True, 0.0
    _, mean = change.figures
    return False, mean if change.metric.better == "lower" else -mean


def conclude(
    changes: collections.abc.Collection[Change],
) -> tuple[Status, str]:
    """Return the status of all changes, and their headline.

    The status is "worse" if a metric that decides is worse, "undecided" if
    such a metric is undecided, and else "not worse".
    """
    deciding = [change for change in changes if change.decides]
    noun = "metric" if len(deciding) == len(changes) else "deciding metric"
    total = _count_metrics(deciding)
    order: tuple[Status, ...] = ("worse", "undecided")
    for status in order:
        number = _count_metrics(
            change for change in deciding if change.status == status
        )
        if number:
            break
    else:
        status, number = "not worse", total
    headline = f"{number} of {units.number_of(noun, total)}"
    return status, f"{status.capitalize()}: {headline}"


def _count_metrics(changes: collections.abc.Iterable[Change]) -> int:
    """Return the number of metrics and conditions of changes."""
    return len({(change.condition, change.metric) for change in changes})


def summarise(
    runs: collections.abc.Sequence[RunSamples],
    changes: collections.abc.Collection[Change],
) -> list[str]:
    """Return one sentence per compared run with its numbers of statuses."""
    reference = runs[0].name
    sentences = []
    for run in dict.fromkeys(change.run for change in changes):
        run_changes = [change for change in changes if change.run == run]
        numbers = collections.Counter(change.status for change in run_changes)
        *first, last = (
            f"{status} in {numbers[status]}" for status in t.get_args(Status)
        )
        sentence = (
            f"{run} compared with {reference}: {', '.join(first)} and {last} "
            f"of {units.number_of('metric', len(run_changes))}"
        )
        deciding = sum(change.decides for change in run_changes)
        if deciding < len(run_changes):
            sentence += f" ({deciding} deciding)"
        lost = sum(
            change.status == "worse" and change.figures is None
            for change in run_changes
        )
        if lost:
            sentence += f"; {run} has no samples of {lost}"
        sentences.append(sentence)
    return sentences
