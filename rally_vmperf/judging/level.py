"""Figures at one number of guests, and the findings that void them."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.judging import judge
from rally_vmperf.judging.results import figure_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


def has_levels(repetitions: judge.Repetitions) -> bool:
    """Return whether the conditions have numbers of guests."""
    return any(
        repetition_.conditions and repetition_.has_axis(repetition.GUESTS)
        for repetition_ in repetitions
    )


def guests_of(condition: repetition.Condition) -> int:
    """Return the number of guests of each host in a condition."""
    return int(condition.axes[repetition.GUESTS])


def findings(repetitions: judge.Repetitions) -> finding.Occurrences:
    """Return the findings of repetitions, with levels in their detail.

    Levels of a warm-up are omitted.
    """
    numbers: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    counts: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    executed: set[int] = set()
    for repetition_ in repetitions:
        conditions = repetition_.conditions if repetition_.counted else ()
        for level in conditions:
            if not level.skip_reason:
                executed.add(guests_of(level))
            for finding_ in level.findings:
                numbers[finding_].add(repetition_.number)
                counts[finding_].add(guests_of(level))
    for finding_, guest_counts in counts.items():
        level_finding = finding_
        if guest_counts < executed or len(executed) == 1:
            level_finding = dataclasses.replace(
                finding_,
                detail=(
                    f"at {units.number_of('guest', *guest_counts)}: "
                    f"{finding_.detail}"
                ),
            )
        for number in sorted(numbers[finding_]):
            yield level_finding, number


def repetition_wide_findings(
    findings: collections.abc.Iterable[finding.Finding],
    repetitions: judge.Repetitions,
) -> frozenset[finding.Finding]:
    """Return the findings about whole repetitions or records, a set."""
    repetition_findings = {
        finding_
        for repetition_ in repetitions
        for finding_ in repetition_.findings
    }
    return frozenset(
        finding_
        for finding_ in findings
        if (finding_ in repetition_findings and finding_.is_run_wide)
        or finding_.kind in judge.ABOUT_RECORDS
    )


def void_reason(
    metric: str,
    repetitions: judge.Repetitions,
    conditions: collections.abc.Iterable[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return which finding voids a metric at a level as text, or "".

    The findings of the level and of the repetitions are considered, except
    those of warm-ups.

    :param conditions: The conditions of the level.
    """
    findings: list[finding.Finding] = []
    for repetition_ in repetitions:
        findings += repetition_.findings if repetition_.counted else ()
    for condition in conditions:
        findings += condition.findings if condition.counted else ()
    return first_void_sentence(
        (finding_ for finding_ in findings if finding_.concerns(metric)),
        tolerate,
    )


def first_void_sentence(
    findings: collections.abc.Iterable[finding.Finding],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the sentence of the first finding that voids, or ""."""
    for finding_ in findings:
        if finding_.severity == "void" and finding_.kind not in tolerate:
            return finding.RunFinding(finding=finding_).sentence()
    return ""


def absolute_rows(
    metric: sample.Metric,
    conditions: gathering.Conditions,
    guests: int,
    void_level: str,
    figures: collections.abc.Mapping[figure_result.Figure, limits.Limits],
    names: collections.abc.Collection[str],
    confidence: float,
) -> list[figure_result.FigureResult]:
    """Return a row per absolute figure of a metric at a level, as a list.

    :param conditions: The level in each counted repetition, including
        skipped ones.
    :param figures: The limits of each figure.
    :param names: The names of all metrics.
    """
    executed = [
        condition for condition in conditions if not condition.skip_reason
    ]
    return [
        figure_result.build_result(
            metric,
            figure,
            executed,
            executed[0].reference if executed else repetition.NO_REFERENCE,
            figures[figure].for_metric(metric.name, names),
            confidence,
            guests=guests,
            void_level=void_level,
            skipped=len(conditions) - len(executed),
        )
        for figure in limits.absolute_figures(metric, figures)
    ]
