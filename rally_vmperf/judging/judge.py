"""The base class of the judges of all questions.

Rally passes repetitions one by one, in any order and to several judges that
are merged; the verdict depends on neither.
"""

import abc
import collections.abc
import copy
import dataclasses
import types
import typing as t

from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import statistics

Repetitions = collections.abc.Sequence[repetition.Repetition]

#: A larger share of void repetitions voids the run, because the cause may
#: have affected the others as well.
MAX_VOID_SHARE = 0.25
#: Kinds that void the run even if a single repetition has them.
_VOID_RUN_KINDS = ("baseline_changed",)
#: Kinds about the records of repetitions, not about their content.
ABOUT_RECORDS = ("repetition_duplicated", "records_contradict")
#: The limits of a judge that only has figures.
NO_LIMITS = limits.LimitsByOption()

Rows = collections.abc.Sequence[result.Result]


class Judge(abc.ABC):
    """A judge that collects repetitions and returns a verdict.

    The schema of a criterion checks its options, and not the judge.

    :param limits: The limits by option; without limits there are figures and
        no verdict.
    :param confidence: The confidence of the intervals, >= 0.5 and < 1.
    :param on_inconclusive: ``pass`` if an undecided run passes, or ``fail``.
    :param tolerate: The kinds of findings that do not void.
    :param selects: The conditions that it judges, by axis, as in
        ``Repetition.select``; all by default.
    """

    def __init__(
        self,
        limits: limits.LimitsByOption = NO_LIMITS,
        confidence: float = 0.95,
        on_inconclusive: summary.OnInconclusive = "fail",
        tolerate: collections.abc.Collection[str] = (),
        selects: repetition.Axes = types.MappingProxyType({}),
    ) -> None:
        self.limits = limits
        self.confidence = confidence
        self.on_inconclusive = on_inconclusive
        self.tolerate = tolerate
        self.selects = selects
        self._repetitions: list[repetition.Repetition] = []
        self._unreadable = 0
        self._judgement: summary.Judgement | None = None

    def add(self, run_repetition: repetition.Repetition | None) -> None:
        """Add a repetition; None stands for an unreadable record.

        A repetition with conditions of another question counts as
        unreadable.
        """
        selected = run_repetition and run_repetition.select(**self.selects)
        if selected is None or not self.accepts(selected):
            self._unreadable += 1
        else:
            self.extend((selected,), 0)

    def merge(self, other: t.Self) -> None:
        """Add the repetitions of another judge with the same criteria."""
        self.extend(other._repetitions, other._unreadable)

    def extend(
        self,
        repetitions: collections.abc.Iterable[repetition.Repetition],
        unreadable: int,
    ) -> None:
        """Add repetitions, and the number of unreadable records."""
        self._repetitions += repetitions
        self._unreadable += unreadable
        self._judgement = None

    def is_failure_final(self) -> bool:
        """Return whether the run has failed and cannot recover.

        An undecided run continues, also where a limit fails only without
        the repetitions that findings void. Findings are costly, and most
        runs have no figure beyond its limit.
        """
        repetitions, _ = gathering.merge_duplicates(self._repetitions)
        if not self._list_parts() and not any(
            row.with_verdict((), False).status == "failed"
            for row in self.figures(repetitions)
        ):
            return False
        current = self.judgement()
        return any(
            row.is_failure_final(current.missing.planned)
            for row in current.limited
        )

    def judgement(self) -> summary.Judgement:
        """Return the verdict on the repetitions so far, as a judgement."""
        if self._judgement is None:
            self._judgement = self._judge()
        return self._judgement

    def _judge(self) -> summary.Judgement:
        """Return the verdict computed from the repetitions so far.

        Each variant of a run is judged on its own.
        """
        variants = self._list_parts()
        if variants:
            return self._merge_judgements(
                {
                    variant: self._select_part(variant)._judge()
                    for variant in variants
                }
            )
        repetitions, record_occurrences = gathering.merge_duplicates(
            self._repetitions
        )
        rows = self.figures(repetitions)
        occurrences = [*record_occurrences, *self.findings(repetitions, rows)]
        void = self._void_repetitions(repetitions, occurrences)
        judged = [
            gathering.without_void_samples(run_repetition, self.tolerate)
            for run_repetition in repetitions
            if run_repetition.number not in void
        ]
        if judged != repetitions:
            rows = self.figures(judged)
            occurrences = [
                occurrence
                for occurrence in occurrences
                if occurrence[1] in void
                or occurrence in record_occurrences
                or occurrence[0].kind in finding.ABOUT_SAMPLES
            ]
            occurrences += self.findings(judged, rows)
        warmups = {
            run_repetition.number
            for run_repetition in repetitions
            if not run_repetition.counted
        }
        findings = finding.collect(occurrences, self.tolerate, void | warmups)
        return self._conclude(repetitions, rows, findings, void)

    def _conclude(
        self,
        repetitions: Repetitions,
        rows: list[result.Result],
        findings: tuple[finding.RunFinding, ...],
        void: frozenset[int],
    ) -> summary.Judgement:
        """Return the verdict on rows without verdicts.

        :param void: The numbers of the void repetitions.
        """
        voided = self.voided_metrics(repetitions, findings)
        rows = [
            row.with_verdict(
                tuple(
                    run_finding
                    for run_finding in findings
                    if run_finding.finding.names(row.metric.name)
                ),
                row.metric.name in voided,
            )
            for row in rows
        ]
        missing = shortfall.count_missing(repetitions, self._unreadable, void)
        unmatched = self.unmatched(rows)
        return summary.Judgement(
            status=summary.overall_status(
                rows,
                self.is_run_void(findings, voided),
                bool(missing or unmatched),
            ),
            rows=tuple(rows),
            missing=missing,
            findings=findings,
            unmatched=unmatched,
            omitted=tuple(sorted(void)),
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
        )

    def _list_parts(self) -> list[str]:
        """Return the variants that are judged on their own, as a list."""
        return gathering.list_variants(self._repetitions)

    def _select_part(self, variant: str) -> t.Self:
        """Return a copy of the judge with one variant, as if it were all."""
        judge = copy.copy(self)
        judge._repetitions = [
            gathering.isolate(
                run_repetition,
                [
                    dataclasses.replace(condition, axes={})
                    for condition in repetition.select(
                        run_repetition.conditions, variant=variant
                    )
                ],
            )
            for run_repetition in self._repetitions
        ]
        return judge

    def _merge_judgements(
        self,
        judgements: collections.abc.Mapping[str, summary.Judgement],
        conclusions: tuple[str, ...] = (),
    ) -> summary.Judgement:
        """Return one judgement for those on the variants of a run.

        :param judgements: The judgements by the name of the variant.
        """
        repetitions, _ = gathering.merge_duplicates(self._repetitions)
        parts = judgements.values()
        shared = {
            reported_finding
            for run_repetition in repetitions
            for reported_finding in run_repetition.findings
        }
        # A finding of all variants is about none of them.
        by_variant = [
            {run_finding.finding for run_finding in judgement.findings}
            for judgement in parts
        ]
        shared |= set.intersection(*by_variant) if by_variant else set()
        findings = dict.fromkeys(
            run_finding
            if run_finding.finding in shared
            else self._name_variant(run_finding, variant)
            for variant, judgement in judgements.items()
            for run_finding in judgement.findings
        )
        return summary.Judgement(
            status=summary.merge_statuses(parts),
            rows=tuple(
                dataclasses.replace(row, variant=variant)
                for variant, judgement in judgements.items()
                for row in judgement.rows
            ),
            missing=shortfall.count_missing(repetitions, self._unreadable),
            findings=tuple(sorted(findings, key=finding.sort_key)),
            unmatched=tuple(
                dict.fromkeys(
                    pattern
                    for judgement in parts
                    for pattern in judgement.unmatched
                )
            ),
            omitted=tuple(
                sorted(frozenset().union(*(part.omitted for part in parts)))
            ),
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
            conclusions=conclusions,
        )

    @staticmethod
    def _name_variant(
        run_finding: finding.RunFinding, variant: str
    ) -> finding.RunFinding:
        """Return a finding on a variant with the variant's name."""
        named = run_finding.finding.with_prefix(f"{variant}: ")
        return dataclasses.replace(run_finding, finding=named)

    @abc.abstractmethod
    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether a repetition has the conditions of the question."""

    @abc.abstractmethod
    def figures(self, repetitions: Repetitions) -> list[result.Result]:
        """Return one row per judged figure, as a list without verdicts.

        :param repetitions: The repetitions in the order of their numbers.
        """

    @abc.abstractmethod
    def findings(
        self, repetitions: Repetitions, rows: Rows
    ) -> finding.Occurrences:
        """Return all findings, each with the number of its repetition."""

    def unmatched(self, rows: Rows) -> tuple[str, ...]:
        """Return the limit patterns that match no metric, as a tuple."""
        metrics = {row.metric for row in rows}
        patterns = [
            pattern
            for option_limits in self.limits.values()
            for pattern in option_limits.unmatched(
                option_limits.list_names(metrics)
            )
        ]
        return tuple(dict.fromkeys(patterns))

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a whole repetition or run, as a set.

        Other findings are about a metric, or about one of several conditions.
        """
        return frozenset(
            reported_finding
            for reported_finding in findings
            if reported_finding.is_run_wide
        )

    def voided_metrics(
        self,
        repetitions: Repetitions,
        findings: collections.abc.Sequence[finding.RunFinding],
    ) -> collections.abc.Set[str]:
        """Return the names of metrics that findings on others void."""
        voids = [
            run_finding.finding
            for run_finding in findings
            if run_finding.voids
        ]
        if self.run_wide_findings(voids, repetitions):
            return metric_names(repetitions)
        return frozenset()

    def is_run_void(
        self,
        findings: collections.abc.Sequence[finding.RunFinding],
        voided: collections.abc.Set[str],
    ) -> bool:
        """Return whether the run is void, regardless of limits.

        :param voided: The metrics that findings on other metrics void.
        """
        return bool(voided)

    def _void_repetitions(
        self,
        repetitions: Repetitions,
        occurrences: collections.abc.Iterable[
            tuple[finding.Finding, int | None]
        ],
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
            and reported_finding.kind not in {*self.tolerate, *_VOID_RUN_KINDS}
        ]
        run_wide = self.run_wide_findings(
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
        return frozenset(number for number in void if number is not None)


def metric_names(repetitions: Repetitions) -> set[str]:
    """Return the names of all metrics of repetitions, as a set."""
    return {
        metric.name
        for run_repetition in repetitions
        for metric in gathering.metrics(run_repetition.conditions)
    }
