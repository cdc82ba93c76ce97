"""The judge of a run's validity: whether figures mean what they say."""

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
class Validity(summary_.Summary[summary_.Row]):
    """The verdict on validity; it has findings, and no rows.

    :param refused: the findings that the run may not have
    """

    refused: tuple[finding.RunFinding, ...] = ()

    def _voiding(self) -> list[finding.RunFinding]:
        """Return the refused findings; there are no metrics to void."""
        return list(self.refused)

    def _verdict(self) -> str:
        if self.refused:
            number = units.number_of("finding", len(self.refused))
            verb = "is" if len(self.refused) == 1 else "are"
            return f"void: {number} {verb} not tolerated"
        return {
            "passed": "passed: no finding voids the run",
            "inconclusive": "inconclusive: measurements are missing",
        }.get(self.status, "void: nothing was measured")

    def _absences(self) -> list[str]:
        """Return the physical limits without a metric, and what is missing."""
        unmatched = [
            f"physical_limit {pattern!r} matches no metric of this run"
            for pattern in self.unmatched
        ]
        return unmatched + super()._absences()


class ValidityJudge(judge.Judge[summary_.Row]):
    """Judges the findings of any question, with or without limits.

    :param tolerate: kinds of findings that void, and that the run may have
    :param refuse: kinds that do not void, and that it may not have
    :param physical_limit: metric or glob -> the largest value that the machine
        can reach, in base units
    :raises ValueError: for a kind that is not on the closed list
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

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether the judge of some question understands it."""
        return any(one.understands(entry) for one in self._judges())

    def judgement(self) -> Validity:
        """Return the verdict on what was taken so far."""
        told = next(
            one
            for one in self._judges()
            if all(map(one.understands, self._repetitions))
        )
        told.take(self._repetitions, self._unreadable)
        found = told.judgement()
        findings = dict.fromkeys(found.findings)
        loud = neighbours_judge.NeighboursJudge(tolerate=self.tolerate)
        if any(
            x.conditions and loud.understands(x) for x in self._repetitions
        ):
            loud.take(self._repetitions, self._unreadable)
            findings |= dict.fromkeys(loud.judgement().findings)
        entries, _ = judge.unique(self._repetitions)
        findings = (
            dict.fromkeys(self._above_limits(entries, found.left_out))
            | findings
        )
        late = self._short_of_samples(findings, found.left_out)
        refused = tuple(
            one
            for one in findings
            if one.voids
            or (one.finding.kind in self.refuse and not one.left_out)
            or (one.left_out and one.finding.subject in late)
        )
        status: verdict.Status
        measured = any(row.measured for row in found.rows)
        unmatched: tuple[str, ...] = ()
        if measured:
            names = judge.metric_names(entries)
            unmatched = self.physical_limit.unmatched(names)
        if refused or not measured:
            status = "void"
        elif found.missing or unmatched:
            status = "inconclusive"
        else:
            status = "passed"
        return Validity(
            status=status,
            rows=(),
            missing=found.missing,
            findings=tuple(findings),
            unmatched=unmatched,
            left_out=found.left_out,
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
            refused=refused,
        )

    def _above_limits(
        self,
        entries: judge.Repetitions,
        left_out: collections.abc.Container[int],
    ) -> tuple[finding.RunFinding, ...]:
        """Return the findings on values above the physical limits.

        :param left_out: The numbers of void repetitions.
        """
        judged = [
            one
            for one in entries
            if one.counted and one.number not in left_out
        ]
        above = plausibility.above_physical_limit(judged, self.physical_limit)
        return finding.collect(((one, None) for one in above), self.tolerate)

    def _short_of_samples(
        self,
        findings: collections.abc.Iterable[finding.RunFinding],
        void: collections.abc.Collection[int],
    ) -> set[str]:
        """Return the metrics that findings leave too few samples of.

        :param void: numbers of void repetitions
        """
        numbers = {one.number for one in self._repetitions if one.counted}
        left: dict[str, set[int]] = collections.defaultdict(
            lambda: numbers - {*void}
        )
        for one in findings:
            if one.finding.kind in finding.ABOUT_SAMPLES and one.left_out:
                left[one.finding.subject] -= {*one.repetitions}
        return {
            name
            for name, judged in left.items()
            if len(judged) < statistics.FEWEST
        }

    def _judges(self) -> list[judge.Judge[t.Any]]:
        """Return new judges of all questions, without limits."""
        return [
            judging.DegradationJudge(tolerate=self.tolerate),
            overhead_judge.OverheadJudge(tolerate=self.tolerate),
        ]

    def figures(self, entries: judge.Repetitions) -> list[summary_.Row]:
        """Return nothing: other criteria judge figures."""
        return []

    def findings(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[summary_.Row],
    ) -> finding.Occurrences:
        """Return nothing: the question's own judge collects findings."""
        return ()

    def unmatched(
        self, rows: collections.abc.Iterable[summary_.Row]
    ) -> tuple[str, ...]:
        """Return nothing: there are no limits."""
        return ()
