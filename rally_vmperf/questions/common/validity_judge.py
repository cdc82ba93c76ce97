"""The judge of the validity of a run."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import neighbours_judge
from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import summary as summary_
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import judging
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Validity(summary_.Judgement[summary_.MetricResult]):
    """The verdict on validity; it has findings, but no rows.

    :param refused: The findings that the run may not have.
    """

    refused: tuple[finding.RunFinding, ...] = ()

    def _voiding(self) -> list[finding.RunFinding]:
        """Return the refused findings; no metric is voided."""
        return list(self.refused)

    def _status_sentence(self) -> str:
        if self.refused:
            number = units.number_of("finding", len(self.refused))
            verb = "is" if len(self.refused) == 1 else "are"
            return f"void: {number} {verb} not tolerated"
        return {
            "passed": "passed: no finding voids the run",
            "inconclusive": "inconclusive: measurements are missing",
        }.get(self.status, "void: nothing was measured")

    def _absences(self) -> list[str]:
        """Return the unmatched physical limits and the missing samples."""
        unmatched = [
            f"physical_limit {pattern!r} matches no metric of this run"
            for pattern in self.unmatched
        ]
        return unmatched + super()._absences()


class ValidityJudge(judge.Judge[summary_.MetricResult]):
    """A judge of the findings of any question, with or without limits.

    :param tolerate: The kinds of voiding findings that the run may have.
    :param refuse: The kinds of other findings that the run may not have.
    :param physical_limit: The largest value that the machine can reach by
        metric or glob, in base units.
    :raises ValueError: If a kind of finding does not exist.
    """

    def __init__(
        self,
        tolerate: collections.abc.Collection[str] = (),
        refuse: collections.abc.Collection[str] = (),
        physical_limit: judge.Given | None = None,
    ) -> None:
        super().__init__(tolerate=tolerate)
        for kind in refuse:
            finding.check(kind)
        self.refuse = frozenset(refuse) - frozenset(tolerate)
        self.physical_limit = limits.Limits(physical_limit or {})

    def accepts(self, repetition_: repetition.Repetition) -> bool:
        """Return whether the judge of any question accepts a repetition."""
        return any(
            question_judge.accepts(repetition_)
            for question_judge in self._judges()
        )

    def judgement(self) -> Validity:
        """Return the verdict on the repetitions so far."""
        question_judge = next(
            candidate
            for candidate in self._judges()
            if all(map(candidate.accepts, self._repetitions))
        )
        question_judge.extend(self._repetitions, self._unreadable)
        summary = question_judge.judgement()
        findings = dict.fromkeys(summary.findings)
        neighbours = neighbours_judge.NeighboursJudge(tolerate=self.tolerate)
        if any(
            repetition_.conditions and neighbours.accepts(repetition_)
            for repetition_ in self._repetitions
        ):
            neighbours.extend(self._repetitions, self._unreadable)
            findings |= dict.fromkeys(neighbours.judgement().findings)
        repetitions, _ = judge.merge_duplicates(self._repetitions)
        findings = (
            dict.fromkeys(self._above_limits(repetitions, summary.omitted))
            | findings
        )
        short_metrics = self._short_of_samples(findings, summary.omitted)
        refused = tuple(
            run_finding
            for run_finding in findings
            if run_finding.voids
            or (
                run_finding.finding.kind in self.refuse
                and not run_finding.omitted
            )
            or (
                run_finding.omitted
                and run_finding.finding.subject in short_metrics
            )
        )
        status: verdict.Status
        measured = any(row.measured for row in summary.rows)
        unmatched: tuple[str, ...] = ()
        if measured:
            names = judge.metric_names(repetitions)
            unmatched = self.physical_limit.unmatched(names)
        if refused or not measured:
            status = "void"
        elif summary.missing or unmatched:
            status = "inconclusive"
        else:
            status = "passed"
        return Validity(
            status=status,
            rows=(),
            missing=summary.missing,
            findings=tuple(findings),
            unmatched=unmatched,
            omitted=summary.omitted,
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
            refused=refused,
        )

    def _above_limits(
        self,
        repetitions: judge.Repetitions,
        omitted: collections.abc.Container[int],
    ) -> tuple[finding.RunFinding, ...]:
        """Return the findings on values above the physical limits.

        :param omitted: The numbers of void repetitions.
        """
        judged = [
            repetition_
            for repetition_ in repetitions
            if repetition_.counted and repetition_.number not in omitted
        ]
        above = plausibility.above_physical_limit(judged, self.physical_limit)
        return finding.collect(
            ((occurrence, None) for occurrence in above), self.tolerate
        )

    def _short_of_samples(
        self,
        findings: collections.abc.Iterable[finding.RunFinding],
        void: collections.abc.Collection[int],
    ) -> set[str]:
        """Return the metrics with too few samples that are not void.

        :param void: The numbers of void repetitions.
        """
        numbers = {
            repetition_.number
            for repetition_ in self._repetitions
            if repetition_.counted
        }
        remaining: dict[str, set[int]] = collections.defaultdict(
            lambda: numbers - {*void}
        )
        for run_finding in findings:
            if (
                run_finding.finding.kind in finding.ABOUT_SAMPLES
                and run_finding.omitted
            ):
                remaining[run_finding.finding.subject] -= {
                    *run_finding.repetitions
                }
        return {
            name
            for name, numbers_left in remaining.items()
            if len(numbers_left) < statistics.FEWEST
        }

    def _judges(self) -> list[judge.Judge[t.Any]]:
        """Return new judges of all questions, without limits."""
        return [
            judging.DegradationJudge(tolerate=self.tolerate),
            overhead_judge.OverheadJudge(tolerate=self.tolerate),
        ]

    def figures(
        self, repetitions: judge.Repetitions
    ) -> list[summary_.MetricResult]:
        """Return no rows; other criteria judge figures."""
        return []

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[summary_.MetricResult],
    ) -> finding.Occurrences:
        """Return no findings; the judge of the question collects them."""
        return ()

    def unmatched(
        self, rows: collections.abc.Iterable[summary_.MetricResult]
    ) -> tuple[str, ...]:
        """Return no patterns; metrics have no limits."""
        return ()
