"""What the judges of all questions have in common.

Rally hands repetitions over one by one, in any order and to several judges
that are merged; the verdict depends on neither.
"""

import abc
import collections.abc
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import summary as summary_

Repetitions = collections.abc.Sequence[repetition.Repetition]

#: A larger share of void repetitions voids the run: what disturbed these may
#: have disturbed the others, too.
MOST_VOID = 0.25
#: Kinds that void the run although one repetition shows them.
_OF_THE_RUN = ("baseline_changed",)
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
            self._repetitions.append(entry)

    def merge(self, other: t.Self) -> None:
        """Take what another judge with the same criteria was given."""
        self._repetitions += other._repetitions
        self._unreadable += other._unreadable

    def failed_beyond_return(self) -> bool:
        """Return whether the run has failed and cannot recover.

        A run that is merely undecided goes on.
        """
        current = self.judgement()
        return any(
            row.beyond_return(current.missing.planned)
            for row in current.judged
        )

    def judgement(self) -> t.Any:
        """Return the verdict on what was taken so far."""
        entries = sorted(self._repetitions, key=lambda entry: entry.number)
        rows = self.figures(entries)
        seen = list(self.seen(entries, rows))
        void = self._void_repetitions(entries, seen)
        if void:
            kept = [one for one in entries if one.number not in void]
            rows = self.figures(kept)
            seen = [one for one in seen if one[1] in void]
            seen += self.seen(kept, rows)
        warmups = {one.number for one in entries if not one.counted}
        findings = finding.collect(seen, self.tolerate, void | warmups)
        doubted = self.doubted(entries, findings)
        rows = [
            row.judged(
                tuple(
                    one
                    for one in findings
                    if one.finding.names(row.metric.name)
                ),
                row.metric.name in doubted,
            )
            for row in rows
        ]
        missing = shortfall.count(entries, self._unreadable)
        unmatched = self.unmatched(rows)
        return self.summary(
            status=summary_.overall(
                rows, bool(doubted), bool(missing or unmatched)
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
    def seen(
        self, entries: Repetitions, rows: collections.abc.Sequence[RowT]
    ) -> finding.Seen:
        """Return all that was seen: by the run's parts, and in its figures."""

    @abc.abstractmethod
    def unmatched(
        self, rows: collections.abc.Iterable[RowT]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""

    def concerns_all(self, one: finding.Finding, entries: Repetitions) -> bool:
        """Return whether a finding is about a whole repetition, or the run.

        The others are about a metric, or about one of several conditions.
        """
        return one.concerns_all(metric_names(entries))

    def doubted(
        self,
        entries: Repetitions,
        findings: collections.abc.Iterable[finding.RunFinding],
    ) -> set[str]:
        """Return the metrics that findings about others void as well.

        :returns: names; all of them for what voids the whole run
        """
        for one in findings:
            if one.voids and self.concerns_all(one.finding, entries):
                return metric_names(entries) or {""}
        return set()

    def _void_repetitions(
        self,
        entries: Repetitions,
        seen: collections.abc.Iterable[tuple[finding.Finding, int | None]],
    ) -> frozenset[int]:
        """Return the numbers of void repetitions, to be left out.

        None where fewer than three others remain, or where more than a
        quarter are void: then the run is.
        """
        counted = {one.number for one in entries if one.counted}
        void = {
            number
            for one, number in seen
            if number in counted
            and one.severity == "void"
            and one.kind not in {*self.tolerate, *_OF_THE_RUN}
            and self.concerns_all(one, entries)
        }
        few = len(counted) - len(void) < statistics.FEWEST
        if few or len(void) > MOST_VOID * len(counted):
            return frozenset()
        return frozenset(number for number in void if number is not None)


def metric_names(entries: Repetitions) -> set[str]:
    """Return the names of all metrics."""
    return {
        metric.name
        for entry in entries
        for metric in gathering.metrics(entry.conditions)
    }
