# SPDX-License-Identifier: Apache-2.0
"""The changes of metrics between runs.

The first run is the reference; each other run is compared with it.
"""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

#: The source of differences that no number of repetitions removes.
BOOTS = (
    "a difference between runs includes that between their boots: a machine "
    "that boots again uses other cores and other memory"
)

Key = gathering.Key


class Limit(t.NamedTuple):
    """A limit that an SLA of the first run has for a metric.

    :param number: The largest loss of a rate or a time in percent, or the
        largest tolerated count.
    :param statistic: The guest to which it applies.
    """

    number: float
    statistic: contrasts.Statistic = "mean"


class Margin(t.NamedTuple):
    """The changes of a rate or a time that matter, in percent.

    :param worse: The loss beyond which a metric is worse; within it on both
        sides, it is equal.
    :param not_worse: The largest upper end of the loss of a metric that is
        not worse.
    """

    worse: float
    not_worse: float

    @classmethod
    def of_limit(cls, limit: float) -> "Margin":
        """Return the margin between runs for a limit of an SLA.

        A limit is often a large loss, as one against bare metal: a run that
        loses more than 5 % against another run is worse whatever the limit
        is, and one that may lose twice as much is undecided.
        """
        worse = min(max(0.0, limit), verdict.MARGIN)
        return cls(worse, min(max(0.0, limit), 2 * worse))


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSamples:
    """The counted samples of a run or of a baseline.

    :param name: The name, unique among the compared runs.
    :param samples: The samples of all machines, per repetition.
    :param absences: The reasons why other metrics have no samples.
    :param skipped: The reasons why conditions were not run, by their text.
    :param limits: The metrics with a limit in the SLAs of the first run.
    :param missing: The repetitions and guests that it lacks, as a sentence,
        or "".
    :param omitted: The void repetitions, with the reasons, as a sentence, or
        "".
    """

    name: str
    samples: collections.abc.Mapping[Key, contrasts.RepetitionSamples]
    absences: collections.abc.Mapping[Key, str] = dataclasses.field(
        default_factory=dict
    )
    skipped: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    limits: collections.abc.Mapping[Key, Limit] = dataclasses.field(
        default_factory=dict
    )
    missing: str = ""
    omitted: str = ""

    @property
    def gaps(self) -> list[str]:
        """The sentences on what it lacks and on what does not count."""
        sentences = filter(None, (self.missing, self.omitted))
        return [f"{self.name}: {sentence}" for sentence in sentences]


def classify(change: result.Result) -> verdict.Change:
    """Return the status of the change of a metric."""
    if change.status == "failed":
        return "worse"
    if change.status != "passed":
        return "undecided"
    comparison = change.decisive
    if comparison is None:
        return "not worse"
    low, high = comparison.low, comparison.high
    status = verdict.decide_change(low, high, change.limit or 0.0)
    if status == "undecided" or (status == "better" and change.passes_alone):
        return "not worse"
    return status


def list_figures(
    change: result.Result,
) -> tuple[float | None, float | None]:
    """Return the figures of both runs; None for a run without samples."""
    if change.means is not None:
        return change.means
    reference, other = (
        absolute_value.AbsoluteValue(
            metric=change.metric, side="max", guest=(), bare=side
        ).bare_value
        for side in change.figure.sides
    )
    return reference, other


def describe_remark(change: result.Result) -> str:
    """Return why a change has no interval, or what casts doubt on it."""
    comparison = change.decisive
    if change.reason:
        return change.reason
    if comparison is None:
        noun = "count" if change.metric.unit == "1" else "value"
        interval = change.show_interval()
        text = f"the largest {noun}" + (f" ({interval})" if interval else "")
        if change.limit is None:
            return f"{text}, without a limit"
        limit = units.show_limit(change.limit, change.metric.unit)
        return f"{text}; the limit is {limit}"
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
    if isinstance(change.figure, figures.Loss):
        kinds.insert(0, change.figure.label_worst(change.status))
    if detail := change.describe_differing():
        kinds.append(f"guests_differ ({detail})")
    return ", ".join(filter(None, dict.fromkeys(kinds)))


def compare_runs(
    runs: collections.abc.Sequence[RunSamples],
    margins: verdict.Limits,
    confidence: float = 0.95,
) -> list[result.Result]:
    """Return the change of each metric and condition, as a list.

    The limit of a change is the margin in percent, or the largest tolerated
    count. The confidence is that of all changes that are worse or better
    together, and of each one that is neither. A metric that a
    run lost is worse. The metrics with a margin or a limit decide; without
    margins and limits, all rates and times decide.

    :param runs: At least two runs; each is compared with the first one, whose
        limits apply.
    :param margins: The margins in percent by metric or glob; the default is
        ``Margin.of_limit`` of the limit of the first run, or the default
        margin.
    """
    keys = dict.fromkeys(
        key for run in runs for key in (*run.samples, *run.absences)
    )
    names = {metric.name for _, metric in keys}
    reference, *compared = runs
    undecided = []
    for key in keys:
        limit, passes_to, decides = _find_margin(
            key, reference.limits, margins, names
        )
        undecided += [
            result.Result(
                figure=_create_figure(key, reference, run),
                limit=limit,
                passes_to=passes_to,
                variant=run.name,
                condition=key[0],
                decides=decides,
                reason=_explain_absence(key, run, reference),
            )
            for run in compared
        ]
    return [
        dataclasses.replace(change, status="failed")
        if change.reason and change.figure.sides[0]
        else change
        for change in decide_all(undecided, confidence, passes_alone=True)
    ]


def _create_figure(
    key: Key, reference: RunSamples, run: RunSamples
) -> figures.Figure:
    """Return the loss of a metric in a run, or its largest count.

    A loss is not corrected for overlaps, because both runs have them. A count
    keeps the error of each sample. Each guest is compared with that of its
    name in the reference, or of its rank if names differ.
    """
    _, metric = key
    before, after = (side.samples.get(key, ()) for side in (reference, run))
    if metric.scale == "count":
        return absolute_value.AbsoluteValue(
            metric=metric, side="max", guest=after, bare=before
        )
    before, after = (
        tuple(dataclasses.replace(samples, overlap=1.0) for samples in side)
        for side in (gathering.name_alike(metric, before, after), after)
    )
    contrast = contrasts.Contrast(
        metric=metric,
        reference=before,
        other=after,
        conservative=False,
        has_own_references=True,
    )
    limited = reference.limits.get(key)
    # Guests that take turns have too few repetitions each.
    has_worst = limited is not None and contrast.are_named_alike
    return figures.Loss(
        metric=metric,
        contrast=contrast,
        names=(reference.name, run.name, "loss"),
        statistic=limited.statistic if limited and has_worst else "mean",
    )


def _find_margin(
    key: Key,
    limited: collections.abc.Mapping[Key, Limit],
    margins: verdict.Limits,
    names: collections.abc.Collection[str],
) -> tuple[float | None, float | None, bool]:
    """Return the margin of a metric, and whether the metric decides.

    :param limited: The limits of the first run.
    :param names: The names of all metrics.
    :returns: The largest count or the loss beyond which it is worse, the
        largest loss that passes if it is another one, and the flag.
    """
    _, metric = key
    limit = limited[key].number if key in limited else None
    if metric.scale == "count":
        return limit, None, limit is not None
    if margin := margins.for_metric(metric.name, names):
        return margin[0], None, True
    if limit is None:
        return verdict.MARGIN, None, not (limited or margins)
    return *Margin.of_limit(limit), True


def _explain_absence(key: Key, run: RunSamples, reference: RunSamples) -> str:
    """Return why a metric of a run cannot be compared, as text, or ""."""
    title, _ = key
    for side in (run, reference):
        if not side.samples.get(key):
            skipped = side.skipped.get(title, "not measured")
            return f"{side.name}: {side.absences.get(key, skipped)}"
    return ""


def decide_all(
    undecided: collections.abc.Sequence[result.Result],
    confidence: float,
    *,
    passes_alone: bool = False,
) -> list[result.Result]:
    """Return changes with their statuses, which hold together, as a list.

    The losses that have an interval are a family.

    :param passes_alone: Whether a change that is neither worse nor better
        passes by its own interval: all must pass, so that chance does not
        help any of them.
    """
    changes = [*undecided]

    def decide_change(number: int, level: float) -> bool:
        """Decide a change; return whether it is decided."""
        change = undecided[number]
        figure = change.figure.with_confidence(level)
        change = dataclasses.replace(change, figure=figure)
        changes[number] = change.with_verdict((), void=False)
        return changes[number].status != "inconclusive"

    family = {
        number
        for number, change in enumerate(undecided)
        if change.metric.scale == "ratio"
        and min(map(len, change.figure.sides)) >= statistics.FEWEST
    }
    for number in {*range(len(undecided))} - family:
        decide_change(number, confidence)
    rest = verdict.decide_family(family, confidence, decide_change)
    for number in rest if passes_alone else ():
        before = changes[number]
        decide_change(number, confidence)
        if changes[number].status == "passed":
            changes[number] = dataclasses.replace(
                changes[number], passes_alone=True
            )
        else:
            changes[number] = before
    return changes


def rank(
    changes: collections.abc.Iterable[result.Result],
) -> list[list[result.Result]]:
    """Return the changes of each metric and condition, the best run first.

    Runs without a comparison are last. Metrics that are worse in a run are
    first.
    """
    groups: dict[Key, list[result.Result]] = {}
    for change in changes:
        groups.setdefault((change.condition, change.metric), []).append(change)
    order = t.get_args(verdict.Change)
    return sorted(
        (sorted(group, key=_sort_key) for group in groups.values()),
        key=lambda group: min(
            order.index(classify(change)) for change in group
        ),
    )


def _sort_key(change: result.Result) -> tuple[bool, float]:
    """Return the sort key of a change by its figure; the best are first."""
    if change.means is None:
        return True, 0.0
    _, mean = change.means
    return False, mean if change.metric.better == "lower" else -mean


def conclude(
    changes: collections.abc.Collection[result.Result],
) -> tuple[verdict.Change, str]:
    """Return the status of all changes, and their headline.

    The status is "worse" if a metric that decides is worse, "undecided" if
    such a metric is undecided, and else "not worse".
    """
    deciding = [change for change in changes if change.decides]
    noun = "metric" if len(deciding) == len(changes) else "deciding metric"
    total = _count_metrics(deciding)
    order: tuple[verdict.Change, ...] = ("worse", "undecided")
    for status in order:
        number = _count_metrics(
            change for change in deciding if classify(change) == status
        )
        if number:
            break
    else:
        status, number = "not worse", total
    headline = f"{number} of {units.number_of(noun, total)}"
    return status, f"{status.capitalize()}: {headline}"


def _count_metrics(changes: collections.abc.Iterable[result.Result]) -> int:
    """Return the number of metrics and conditions of changes."""
    return len({(change.condition, change.metric) for change in changes})


def summarise(
    runs: collections.abc.Sequence[RunSamples],
    changes: collections.abc.Collection[result.Result],
) -> list[str]:
    """Return one sentence per compared run with its numbers of statuses."""
    reference = runs[0].name
    sentences = []
    for run in dict.fromkeys(change.variant for change in changes):
        run_changes = [change for change in changes if change.variant == run]
        numbers = collections.Counter(map(classify, run_changes))
        *first, last = (
            f"{status} in {numbers[status]}"
            for status in t.get_args(verdict.Change)
        )
        sentence = (
            f"{run} compared with {reference}: {', '.join(first)} and {last} "
            f"of {units.number_of('metric', len(run_changes))}"
        )
        deciding = sum(change.decides for change in run_changes)
        if deciding < len(run_changes):
            sentence += f" ({deciding} deciding)"
        lost = sum(
            change.status == "failed" and change.figure.means is None
            for change in run_changes
        )
        if lost:
            sentence += f"; {run} has no samples of {lost}"
        sentences.append(sentence)
    return sentences
