# SPDX-License-Identifier: Apache-2.0
"""The parts of a run that count, and those that are missing.

The repetitions, samples and findings of a verdict count, for each number of
guests; planned repetitions and expected metrics can be missing.

Verdicts, comparisons of runs and audits count by these rules.
"""

import collections
import collections.abc
import dataclasses
import re

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: A larger share of void repetitions voids the run, because the cause may
#: have affected the others as well.
MAX_VOID_SHARE = 0.25
#: Kinds that void the run even if a single repetition has them.
_VOID_RUN_KINDS = ("baseline_changed",)

#: The levels in the detail of a finding.
_LEVELS = re.compile(r"at [0-9][0-9, ]{0,1000} guests?: ")

Samples = dict[gathering.Key, gathering.Samples]
#: The numbers of void repetitions that do not count, and all findings that
#: tell why, by the text of the condition.
Omissions = dict[str, tuple[frozenset[int], tuple[finding.RunFinding, ...]]]
#: The reasons why metrics have no samples.
Absences = dict[gathering.Key, str]
#: The values that complete records lack, by the number of the repetition.
_Silent = collections.abc.Mapping[int, list[repetition.Missing]]
#: Number of reasons in a sentence; the record has all.
REASONS_SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counted:
    """The parts of a run that count.

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
    is_by_level = has_levels(repetitions)
    found: list[gathering.Occurrence] = []
    for run_repetition in repetitions:
        number = run_repetition.number
        found += [(one, number) for one in run_repetition.findings]
        for condition in () if is_by_level else run_repetition.conditions:
            prefix = f"{condition.axes[axis]}: " if axis else ""
            found += [
                (one.with_prefix(prefix), number) for one in condition.findings
            ]
    if is_by_level:
        found += _list_level_findings(repetitions)
    return found


def _list_void(
    repetitions: gathering.Repetitions,
    occurrences: collections.abc.Iterable[gathering.Occurrence],
    tolerate: collections.abc.Collection[str],
) -> frozenset[int]:
    """Return the numbers of the void repetitions, as a set.

    If more than a quarter are void, as is one of three, the result is empty,
    and the run is void.
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
    run_wide = select_run_wide(
        (reported_finding for reported_finding, _ in voiding), repetitions
    )
    void = {
        number
        for reported_finding, number in voiding
        if reported_finding in run_wide
    }
    if len(void) > MAX_VOID_SHARE * len(counted):
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
            void = find_void_sentence(
                metric.name, judged, conditions_judged, tolerate
            ) or first_void_sentence(
                _list_remaining(counted[tolerate]), tolerate
            )
            values = gathering.guest_samples(metric, conditions_judged)
            if void:
                absences[title, metric] = f"void: {void}"
            elif values:
                samples[title, metric] = values
            else:
                absences[title, metric] = explain_unmeasured(
                    conditions, metric.name
                )
        for tolerate, each in counted.items():
            if each.omitted:
                omissions[title] = (
                    each.omitted,
                    finding.collect(each.occurrences, tolerate, each.omitted),
                )
    return samples, absences, omissions


def explain_unmeasured(
    conditions: collections.abc.Sequence[repetition.Condition],
    metric: str = "",
) -> str:
    """Return why a condition has no samples in any repetition, as text.

    :param conditions: The condition in each repetition.
    :param metric: The metric whose first gap is named; "" for no gap.
    """
    skipped = [
        condition.skip_reason
        for condition in conditions
        if condition.skip_reason
    ]
    if skipped and len(skipped) == len(conditions):
        return f"not run: {skipped[0]}"
    gaps = (
        gap
        for condition in conditions
        for gap in condition.missing
        if gap.name == metric
    )
    for gap in gaps:
        return f"{gathering.NO_COMPLETE_SAMPLES} ({gap.machine}: {gap.reason})"
    return gathering.NO_COMPLETE_SAMPLES


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shortfall:
    """The repetitions that are missing, compared with the planned ones.

    :param planned: The number of counted repetitions of the task.
    :param complete: The number of complete counted repetitions.
    :param incomplete: The numbers of repetitions that lack a measurement,
        including warm-ups.
    :param interrupted: The numbers of interrupted repetitions.
    :param unreadable: The number of iterations without a readable record.
    :param absent: The number of counted repetitions that did not start.
    :param warmups: The number of warm-ups without a record.
    :param reasons: The distinct reasons.
    """

    planned: int
    complete: int
    incomplete: tuple[int, ...] = ()
    interrupted: tuple[int, ...] = ()
    unreadable: int = 0
    absent: int = 0
    warmups: int = 0
    reasons: tuple[str, ...] = ()

    def with_reasons(
        self, reasons: collections.abc.Iterable[str]
    ) -> "Shortfall":
        """Return a copy with further reasons, which come first."""
        return dataclasses.replace(
            self, reasons=tuple(dict.fromkeys((*reasons, *self.reasons)))
        )

    def __bool__(self) -> bool:
        number = self.unreadable + self.absent + self.warmups
        return bool(self.incomplete or self.interrupted or number)

    def sentence(self) -> str:
        """Return what repetitions are missing and why as text, or ""."""
        if not self:
            return ""
        clauses = [
            f"{text}: {figure}"
            for text, figure in (
                ("incomplete", ", ".join(map(str, self.incomplete))),
                ("interrupted", ", ".join(map(str, self.interrupted))),
                ("without a readable record", self.unreadable),
                ("not started", self.absent),
                ("of the warm-up without a record", self.warmups),
            )
            if figure
        ]
        text = f"repetitions {', '.join(clauses)}"
        if self.planned:
            text += f" ({self.complete} of {self.planned} are complete)"
        shown = list(self.reasons[:REASONS_SHOWN])
        if len(self.reasons) > REASONS_SHOWN:
            shown.append(f"{len(self.reasons) - REASONS_SHOWN} more reasons")
        return f"{text}: {'; '.join(shown)}" if shown else text


def count_missing(
    repetitions: collections.abc.Sequence[repetition.Repetition],
    unreadable: int,
    void: collections.abc.Set[int] = frozenset(),
) -> Shortfall:
    """Return the number of missing repetitions with the reasons.

    :param void: The numbers of void repetitions, whose missing measurements
        do not count.
    """
    planned = max(
        (measured.planned_repetitions for measured in repetitions),
        default=0,
    )
    counted = [measured for measured in repetitions if measured.counted]
    silent = gathering.list_silent(repetitions)
    absent = planned - len(counted)
    # Rally reports the number of lost iterations, but not which they were.
    unidentified = max(0, unreadable - max(0, absent))
    incomplete = [
        measured
        for measured in repetitions
        if measured.number not in void and not _is_complete(measured, silent)
    ]
    complete = sum(1 for measured in counted if _is_complete(measured, silent))
    reasons = dict.fromkeys(
        reason
        for measured in incomplete
        for reason in _list_reasons(measured, silent)
    )
    return Shortfall(
        planned=planned,
        complete=complete,
        incomplete=tuple(
            measured.number
            for measured in incomplete
            if measured.state != "interrupted"
        ),
        interrupted=tuple(
            measured.number
            for measured in incomplete
            if measured.state == "interrupted"
        ),
        unreadable=unreadable,
        absent=max(0, absent - unreadable),
        warmups=max(
            0, _count_lost_warmups(repetitions, planned) - unidentified
        ),
        reasons=tuple(reasons),
    )


def _count_lost_warmups(
    repetitions: collections.abc.Sequence[repetition.Repetition], planned: int
) -> int:
    """Return the smallest number of warm-ups without a record.

    Repetitions are numbered from 1, warm-ups first. If more are counted than
    planned, the numbers of counted repetitions are ignored.
    """
    numbers: dict[bool, set[int]] = {True: set(), False: set()}
    for measured in repetitions:
        numbers[measured.counted].add(measured.number)
    counted, warm = numbers[True], numbers[False]
    before = max(counted, default=0) - max(planned, len(counted))
    return max(max(warm, default=0), before) - len(warm)


def _is_complete(measured: repetition.Repetition, silent: _Silent) -> bool:
    """Return whether a repetition has all its expected metrics."""
    return (
        measured.state == "complete"
        and measured.number not in silent
        and not measured.all_missing
        and not _unreported_metrics(measured)
    )


def _unreported_metrics(measured: repetition.Repetition) -> list[str]:
    """Return the names of expected metrics without observations."""
    reported = {
        metric
        for condition in measured.conditions
        for metric, samples in condition.by_metric.items()
        if samples.observations
    }
    return [
        metric.name
        for metric in measured.expected_metrics
        if metric not in reported
        and not any(
            condition.omits(metric.name) for condition in measured.conditions
        )
    ]


def _list_reasons(
    measured: repetition.Repetition, silent: _Silent
) -> list[str]:
    """Return why a repetition is incomplete, one text per reason."""
    gaps = [*measured.all_missing, *silent.get(measured.number, ())]
    if gaps:
        return [gap.sentence() for gap in gaps]
    return [f"{name}: not reported" for name in _unreported_metrics(measured)]


def guest_counts(repetitions: gathering.Repetitions) -> list[int]:
    """Return the numbers of guests of a run as an ascending list."""
    return sorted({*map(guests_of, repetition.list_conditions(repetitions))})


def has_levels(repetitions: gathering.Repetitions) -> bool:
    """Return whether the conditions have numbers of guests."""
    return any(
        run_repetition.conditions
        and run_repetition.has_axis(repetition.GUESTS)
        for run_repetition in repetitions
    )


def guests_of(condition: repetition.Condition) -> int:
    """Return the number of guests of each host in a condition."""
    return int(condition.axes[repetition.GUESTS])


def _list_level_findings(
    repetitions: gathering.Repetitions,
) -> finding.Occurrences:
    """Return the findings of repetitions, with levels in their detail.

    Levels of a warm-up are omitted.
    """
    numbers: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    counts: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    executed: set[int] = set()
    for run_repetition in repetitions:
        conditions = (
            run_repetition.conditions if run_repetition.counted else ()
        )
        for level in conditions:
            if not level.skip_reason:
                executed.add(guests_of(level))
            for reported_finding in level.findings:
                numbers[reported_finding].add(run_repetition.number)
                counts[reported_finding].add(guests_of(level))
    for reported_finding, levels in counts.items():
        level_finding = reported_finding
        if levels < executed or len(executed) == 1:
            level_finding = reported_finding.with_prefix(
                f"at {units.number_of('guest', *levels)}: "
            )
        for number in sorted(numbers[reported_finding]):
            yield level_finding, number


def describe_at_level(level_finding: finding.Finding) -> str:
    """Return the sentence of a finding as one of its levels has it.

    The findings of a run have the levels in their detail.
    """
    detail = _LEVELS.sub("", level_finding.detail, count=1)
    return first_void_sentence(
        [dataclasses.replace(level_finding, detail=detail)], ()
    )


def select_run_wide(
    findings: collections.abc.Iterable[finding.Finding],
    repetitions: gathering.Repetitions,
) -> frozenset[finding.Finding]:
    """Return the findings about whole repetitions, records or runs, a set.

    Other findings are about a metric, or about one number of guests.
    """
    wide = [found for found in findings if found.is_run_wide]
    if not has_levels(repetitions):
        return frozenset(wide)
    about_repetitions = {
        found
        for run_repetition in repetitions
        for found in run_repetition.findings
    }
    return frozenset(
        found
        for found in wide
        if found in about_repetitions or found.kind in finding.ABOUT_RECORDS
    )


def find_void_sentence(
    metric: str,
    repetitions: gathering.Repetitions,
    conditions: collections.abc.Iterable[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return which finding voids a metric at a level as text, or "".

    The findings of the level and of the repetitions are considered, except
    those of warm-ups.

    :param conditions: The conditions of the level.
    """
    findings: list[finding.Finding] = []
    for run_repetition in repetitions:
        findings += run_repetition.findings if run_repetition.counted else ()
    for condition in conditions:
        findings += condition.findings if condition.counted else ()
    return first_void_sentence(
        (
            reported_finding
            for reported_finding in findings
            if reported_finding.concerns(metric)
        ),
        tolerate,
    )


def first_void_sentence(
    findings: collections.abc.Iterable[finding.Finding],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the sentence of the first finding that voids, or ""."""
    for reported_finding in findings:
        if (
            reported_finding.severity == "void"
            and reported_finding.kind not in tolerate
        ):
            return finding.RunFinding(finding=reported_finding).sentence()
    return ""
