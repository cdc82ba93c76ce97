# SPDX-License-Identifier: Apache-2.0
"""What counts of a run: the repetitions, samples and findings of a verdict.

Verdicts, comparisons of runs and audits count by these rules.
"""

import collections.abc
import dataclasses

from rally_vmperf.judging import density_levels
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

#: A larger share of void repetitions voids the run, because the cause may
#: have affected the others as well.
MAX_VOID_SHARE = 0.25
#: Kinds that void the run even if a single repetition has them.
_VOID_RUN_KINDS = ("baseline_changed",)

Samples = dict[gathering.Key, gathering.Samples]
#: The numbers of void repetitions that do not count, and all findings that
#: tell why, by the text of the condition.
Omissions = dict[str, tuple[frozenset[int], tuple[finding.RunFinding, ...]]]
#: The reasons why metrics have no samples.
Absences = dict[gathering.Key, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counted:
    """What counts of a run.

    :param repetitions: All repetitions, each once, by their numbers.
    :param judged: Those that count, without the samples that findings void.
    :param omitted: The numbers of the void repetitions.
    :param occurrences: The findings of all records.
    """

    repetitions: gathering.Repetitions
    judged: gathering.Repetitions
    omitted: frozenset[int]
    occurrences: tuple[gathering.Occurrence, ...]


def count(
    repetitions: collections.abc.Iterable[repetition.Repetition],
    tolerate: collections.abc.Collection[str],
    axis: str = "",
) -> Counted:
    """Return what counts of repetitions.

    :param tolerate: The kinds of findings that do not void.
    :param axis: The axis whose value is the prefix of the findings of a
        condition; "" for no prefix.
    """
    distinct, occurrences = gathering.merge_duplicates(repetitions)
    occurrences += gathering.find_differences(distinct)
    occurrences += _list_findings(distinct, axis)
    omitted = _list_void(distinct, occurrences, tolerate)
    return Counted(
        repetitions=distinct,
        judged=[
            gathering.without_void_samples(run_repetition, tolerate)
            for run_repetition in distinct
            if run_repetition.number not in omitted
        ],
        omitted=omitted,
        occurrences=tuple(occurrences),
    )


def _list_findings(
    repetitions: gathering.Repetitions, axis: str
) -> list[gathering.Occurrence]:
    """Return the findings of records, each with the number of its repetition.

    :param axis: As in ``count``.
    """
    has_levels = density_levels.has_levels(repetitions)
    found: list[gathering.Occurrence] = []
    for run_repetition in repetitions:
        number = run_repetition.number
        found += [(one, number) for one in run_repetition.findings]
        for condition in () if has_levels else run_repetition.conditions:
            prefix = f"{condition.axes[axis]}: " if axis else ""
            found += [
                (one.with_prefix(prefix), number) for one in condition.findings
            ]
    if has_levels:
        found += density_levels.findings(repetitions)
    return found


def _list_void(
    repetitions: gathering.Repetitions,
    occurrences: collections.abc.Iterable[gathering.Occurrence],
    tolerate: collections.abc.Collection[str],
) -> frozenset[int]:
    """Return the numbers of the void repetitions, as a set.

    If fewer than three repetitions remain, or if more than a quarter are
    void, the result is empty, and the run is void.
    """
    counted = {
        run_repetition.number
        for run_repetition in repetitions
        if run_repetition.counted
    }
    voiding = [
        (reported_finding, number)
        for reported_finding, number in occurrences
        if number in counted
        and reported_finding.severity == "void"
        and reported_finding.kind not in {*tolerate, *_VOID_RUN_KINDS}
    ]
    run_wide = density_levels.select_run_wide(
        (reported_finding for reported_finding, _ in voiding), repetitions
    )
    void = {
        number
        for reported_finding, number in voiding
        if reported_finding in run_wide
    }
    few = len(counted) - len(void) < statistics.FEWEST
    if few or len(void) > MAX_VOID_SHARE * len(counted):
        return frozenset()
    return frozenset(void)


def _list_remaining(
    counted: Counted,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield the findings on whole repetitions that count."""
    numbers = {one.number for one in counted.judged if one.counted}
    for found, number in counted.occurrences:
        if found.is_run_wide and (number is None or number in numbers):
            yield found


def collect_samples(
    repetitions: collections.abc.Sequence[repetition.Repetition],
    find_tolerated: collections.abc.Callable[
        [repetition.Condition, sample.Metric], frozenset[str]
    ],
) -> tuple[Samples, Absences, Omissions]:
    """Return the samples that count by condition and metric.

    Each condition counts by itself, by the rules of verdicts. Guests are
    compared with other guests: findings about bare metal void nothing.

    :param find_tolerated: A function that returns the kinds of findings that
        the SLA of a metric tolerates, from a condition and the metric.
    :returns: The samples, the reasons why other metrics have none, and the
        repetitions that do not count.
    """
    samples: Samples = {}
    absences: Absences = {}
    omissions: Omissions = {}
    by_title: dict[str, list[repetition.Repetition]] = {}
    for measured in repetitions:
        for condition in measured.conditions:
            if not condition.skip_reason:
                by_title.setdefault(condition.title, []).append(
                    gathering.isolate(measured, [condition])
                )
    for title, isolated in by_title.items():
        conditions = repetition.list_conditions(isolated)
        counted: dict[frozenset[str], Counted] = {}
        for metric in gathering.metrics(
            [condition for condition in conditions if condition.counted]
        ):
            tolerate = find_tolerated(conditions[0], metric).union(
                finding.ABOUT_BARE_METAL
            )
            if tolerate not in counted:
                counted[tolerate] = count(isolated, tolerate)
            judged = counted[tolerate].judged
            conditions_judged = repetition.list_conditions(judged)
            void = density_levels.find_void_sentence(
                metric.name, judged, conditions_judged, tolerate
            ) or density_levels.first_void_sentence(
                _list_remaining(counted[tolerate]), tolerate
            )
            values = gathering.guest_samples(metric, conditions_judged)
            if void:
                absences[title, metric] = f"void: {void}"
            elif values:
                samples[title, metric] = values
            else:
                absences[title, metric] = gathering.NO_COMPLETE_SAMPLES
        for tolerate, each in counted.items():
            if each.omitted:
                omissions[title] = (
                    each.omitted,
                    finding.collect(each.occurrences, tolerate, each.omitted),
                )
    return samples, absences, omissions
