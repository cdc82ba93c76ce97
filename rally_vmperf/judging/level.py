"""Figures at one number of guests, and the findings that void them."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import rows
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelResult(rows.FigureResult):
    """A figure of a metric at one number of concurrent guests.

    :param guests: The number of guests of each host that are measured at
        once; None if it is the same in the whole run.
    :param void_level: The reason why the samples are void, or "".
    :param skipped: The number of repetitions in which the level was skipped
        because of the results of smaller levels.
    """

    guests: int | None = None
    void_level: str = ""
    skipped: int = 0

    @property
    def level_suffix(self) -> str:
        """The number of guests, as text."""
        if self.guests is None:
            return ""
        return f" at {units.number_of('guest', self.guests)}"

    def void_reasons(self) -> list[str]:
        """Return the reasons why this level is void, a list of texts."""
        if self.guests is None:
            return super().void_reasons()
        return [self.void_level] if self.void_level else []

    @property
    def is_only_undecided(self) -> bool:
        """Whether only a limit inside its interval prevents a pass."""
        return super().is_only_undecided and not self.skipped

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        A finding that voids another level does not void this one.
        """
        if self.guests is None:
            return super().with_verdict(findings, void)
        status: verdict.Status | None = None
        if self.limit is not None:
            status = self._status(self.limit)
            if status == "passed" and self.skipped:
                status = "inconclusive"
            if void or self.void_level:
                status = "void"
        return dataclasses.replace(self, status=status, findings=findings)


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
    figures: collections.abc.Mapping[rows.Figure, limits.Limits],
    names: collections.abc.Collection[str],
    confidence: float,
) -> list[LevelResult]:
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
        rows.build_result(
            LevelResult,
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
