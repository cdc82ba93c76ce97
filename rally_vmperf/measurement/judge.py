"""What the judges of all questions have in common.

Rally hands repetitions over one by one, in any order and to several judges
that are merged; the verdict depends on neither.
"""

import abc
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement import summary as summary_
from rally_vmperf.measurement.comparison import statistics

Repetitions = collections.abc.Sequence[repetition.Repetition]

#: A larger share of void repetitions voids the run: what disturbed these may
#: have disturbed the others, too.
MOST_VOID = 0.25
#: Kinds that void the run although one repetition shows them.
_OF_THE_RUN = ("baseline_changed",)
#: Kinds about the records of repetitions, whatever was measured in them.
ABOUT_RECORDS = ("repetition_duplicated", "records_contradict")
#: Limits as a task gives them: metric or glob -> limit.
Given = collections.abc.Mapping[str, float]


RowT = t.TypeVar("RowT", bound=summary_.Row)


class Judge(abc.ABC, t.Generic[RowT]):
    """Takes repetitions until it is asked for a verdict.

    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for an argument that cannot be meant
    """

    #: What a judgement is.
    summary: type[summary_.Summary[t.Any]] = summary_.Summary

    def __init__(
        self,
        confidence: float = 0.95,
        on_inconclusive: summary_.OnInconclusive = "fail",
        tolerate: collections.abc.Collection[str] = (),
    ) -> None:
        if not 0.5 <= confidence < 1:
            raise ValueError(
                f"confidence is {confidence}, but must be at least 0.5 "
                "and below 1"
            )
        if on_inconclusive not in t.get_args(summary_.OnInconclusive):
            raise ValueError(
                f"on_inconclusive is {on_inconclusive!r}, use fail or pass"
            )
        for kind in tolerate:
            finding.check(kind)
        self.confidence = confidence
        self.on_inconclusive = on_inconclusive
        self.tolerate = tolerate
        self._repetitions: list[repetition.Repetition] = []
        self._unreadable = 0

    def add(self, entry: repetition.Repetition | None) -> None:
        """Take one repetition; None for one without a readable record.

        A repetition with conditions of another question is not readable
        either.
        """
        if entry is None or not self.understands(entry):
            self._unreadable += 1
        else:
            self.take((entry,), 0)

    def merge(self, other: t.Self) -> None:
        """Take what another judge with the same criteria was given."""
        self.take(other._repetitions, other._unreadable)

    def take(
        self,
        entries: collections.abc.Iterable[repetition.Repetition],
        unreadable: int,
    ) -> None:
        """Take repetitions, and how many have no readable record."""
        self._repetitions += entries
        self._unreadable += unreadable

    def failed_beyond_return(self) -> bool:
        """Return whether the run has failed and cannot recover.

        A run that is merely undecided goes on.
        """
        current = self.judgement()
        return any(
            row.beyond_return(current.missing.planned)
            for row in current.limited
        )

    def judgement(self) -> t.Any:
        """Return the verdict on what was taken so far."""
        entries, repeated = unique(self._repetitions)
        rows = self.figures(entries)
        occurrences = [*repeated, *self.findings(entries, rows)]
        void = self._void_repetitions(entries, occurrences)
        kept = [
            without_void_samples(one, self.tolerate)
            for one in entries
            if one.number not in void
        ]
        if kept != entries:
            rows = self.figures(kept)
            occurrences = [
                one
                for one in occurrences
                if one[1] in void
                or one in repeated
                or one[0].kind in finding.ABOUT_SAMPLES
            ]
            occurrences += self.findings(kept, rows)
        warmups = {one.number for one in entries if not one.counted}
        findings = finding.collect(occurrences, self.tolerate, void | warmups)
        voided = self.voided(entries, findings)
        rows = [
            row.with_verdict(
                tuple(
                    one
                    for one in findings
                    if one.finding.names(row.metric.name)
                ),
                row.metric.name in voided,
            )
            for row in rows
        ]
        missing = shortfall.count(entries, self._unreadable, void)
        unmatched = self.unmatched(rows)
        return self.summary(
            status=summary_.overall(
                rows,
                self.voids_run(findings, voided),
                bool(missing or unmatched),
            ),
            rows=tuple(rows),
            missing=missing,
            findings=findings,
            unmatched=unmatched,
            left_out=tuple(sorted(void)),
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
        )

    @abc.abstractmethod
    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether a repetition has the conditions of the question."""

    @abc.abstractmethod
    def figures(self, entries: Repetitions) -> list[RowT]:
        """Return the figures, by metric.

        :param entries: in the order of their numbers
        """

    @abc.abstractmethod
    def findings(
        self, entries: Repetitions, rows: collections.abc.Sequence[RowT]
    ) -> finding.Occurrences:
        """Return all findings with their repetitions, also on figures."""

    @abc.abstractmethod
    def unmatched(
        self, rows: collections.abc.Iterable[RowT]
    ) -> tuple[str, ...]:
        """Return the limits that match no metric of the run."""

    def concerning_all(
        self,
        found: collections.abc.Iterable[finding.Finding],
        entries: Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a whole repetition, or about the run.

        The others are about a metric, or about one of several conditions.
        """
        return frozenset(one for one in found if one.concerns_all)

    def voided(
        self,
        entries: Repetitions,
        findings: collections.abc.Sequence[finding.RunFinding],
    ) -> collections.abc.Set[str]:
        """Return the metrics that findings about others void as well."""
        voids = [one.finding for one in findings if one.voids]
        if self.concerning_all(voids, entries):
            return metric_names(entries)
        return frozenset()

    def voids_run(
        self,
        findings: collections.abc.Sequence[finding.RunFinding],
        voided: collections.abc.Set[str],
    ) -> bool:
        """Return whether the run is void, whatever has a limit.

        :param voided: the metrics that findings about others void
        """
        return bool(voided)

    def _void_repetitions(
        self,
        entries: Repetitions,
        occurrences: collections.abc.Iterable[
            tuple[finding.Finding, int | None]
        ],
    ) -> frozenset[int]:
        """Return the numbers of void repetitions, to be left out.

        None where fewer than three others remain, or where more than a
        quarter are void: then the run is.
        """
        counted = {one.number for one in entries if one.counted}
        grave = [
            (one, number)
            for one, number in occurrences
            if number in counted
            and one.severity == "void"
            and one.kind not in {*self.tolerate, *_OF_THE_RUN}
        ]
        whole = self.concerning_all((one for one, _ in grave), entries)
        void = {number for one, number in grave if one in whole}
        few = len(counted) - len(void) < statistics.FEWEST
        if few or len(void) > MOST_VOID * len(counted):
            return frozenset()
        return frozenset(number for number in void if number is not None)


def without_void_samples(
    entry: repetition.Repetition,
    tolerate: collections.abc.Collection[str],
) -> repetition.Repetition:
    """Return a repetition without the samples that findings void.

    A command that did not run on all guests at once says nothing about other
    commands, nor about other repetitions.

    :param tolerate: kinds of findings that do not void
    """
    kinds = {*finding.ABOUT_SAMPLES} - {*tolerate}
    every = [
        *entry.findings,
        *(x for y in entry.conditions for x in y.findings),
    ]
    if kinds.isdisjoint(one.kind for one in every):
        return entry
    return dataclasses.replace(
        entry,
        findings=tuple(x for x in entry.findings if x.kind not in kinds),
        conditions=tuple(
            _without_samples(
                dataclasses.replace(
                    one,
                    findings=tuple(
                        x for x in one.findings if x.kind not in kinds
                    ),
                ),
                {
                    x.subject
                    for x in (*entry.findings, *one.findings)
                    if x.kind in kinds
                },
            )
            for one in entry.conditions
        ),
    )


def _without_samples(
    condition: repetition.Condition, metrics: collections.abc.Set[str]
) -> repetition.Condition:
    """Return a condition without the samples of some metrics.

    A distribution is omitted with any of its percentiles.
    """
    return dataclasses.replace(
        condition,
        observations=tuple(
            one
            for one in condition.observations
            if one.sample.metric.name not in metrics
        ),
        distributions=tuple(
            one
            for one in condition.distributions
            if metrics.isdisjoint(x.name for x in one.values())
        ),
        time_series=tuple(
            one
            for one in condition.time_series
            if one.metric.name not in metrics
        ),
    )


def metric_names(entries: Repetitions) -> set[str]:
    """Return the names of all metrics."""
    return {
        metric.name
        for entry in entries
        for metric in gathering.metrics(entry.conditions)
    }


def unique(
    entries: collections.abc.Iterable[repetition.Repetition],
) -> tuple[
    list[repetition.Repetition],
    list[tuple[finding.Finding, int | None]],
]:
    """Return each repetition once, by number, and findings on repeated ones.

    :returns: with findings about repetitions that were recorded more than
        once, and about runs that are mixed
    """
    found: dict[tuple[str, int], list[repetition.Repetition]] = {}
    for one in entries:
        found.setdefault((one.run, one.number), []).append(one)
    kept = []
    occurrences: list[tuple[finding.Finding, int | None]] = []
    for (_, number), alike in sorted(found.items(), key=lambda x: x[0][::-1]):
        same = all(one == alike[0] for one in alike)
        # Whichever came first, the verdict is the same.
        kept.append(alike[0] if same else min(alike, key=repr))
        if len(alike) > 1:
            detail = f"recorded {len(alike)} times, counted once"
            found_ = finding.Finding(
                kind="repetition_duplicated" if same else "records_contradict",
                subject=f"repetition {number}",
                detail=detail if same else f"{detail}; the records differ",
            )
            occurrences.append((found_, number))
    runs = sorted({run for run, _ in found})
    if len(runs) > 1:
        mixed = finding.Finding(
            kind="records_contradict",
            subject="run",
            detail=f"repetitions of runs {', '.join(runs)}",
        )
        occurrences.append((mixed, None))
    return kept, occurrences
