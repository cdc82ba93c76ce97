"""The verdict on a run in words, whatever its rows are about."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


class Cells(t.NamedTuple):
    """A figure in the words of a table; empty where there is none."""

    figure: str
    interval: str
    limit: str


NOTHING = Cells("", "", "")

#: Said beside every verdict: one that another version gave may differ, and
#: Rally keeps the sentences of the version that ran. Raised when a rule turns.
RULES = "Judged by the rules of version 8."

OnInconclusive = t.Literal["fail", "pass"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of one metric, and whether it is within its limit.

    :param limit: None for a metric without one
    :param pattern: the metric or glob that gave the limit
    :param status: None for a metric without a limit
    :param findings: those about this metric
    :param confidence: of the intervals
    """

    metric: sample.Metric
    limit: float | None = None
    pattern: str | None = None
    status: verdict.Status | None = None
    findings: tuple[finding.RunFinding, ...] = ()
    confidence: float = 0.95

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        raise NotImplementedError

    @property
    def forgivable(self) -> bool:
        """Whether nothing but a limit inside its interval denies a pass."""
        raise NotImplementedError

    @property
    def given_by(self) -> str:
        """The pattern that gave the limit, unless it is the metric's name."""
        if self.pattern is None or self.pattern == self.metric.name:
            return ""
        return f" ({self.pattern})"

    def shows(self, kind: str) -> bool:
        """Return whether it has such a finding that is not tolerated."""
        return any(
            one.finding.kind == kind and not one.tolerated
            for one in self.findings
        )

    def cells(self) -> Cells:
        """Return its figure, interval and limit for a table."""
        return NOTHING

    def brief(self) -> str:
        """Return its figure and limit in a few words, or nothing."""
        found = self.cells()
        if not found.figure:
            return ""
        sure = f"{self.confidence * 100:g} % interval {found.interval}, "
        return (
            f"{found.figure} ({sure if found.interval else ''}{found.limit})"
        )

    def sentence(self) -> str:
        """Return figure, limit and verdict, or why there is no figure."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Return what is to be said of it, one sentence each."""
        return [self.sentence()]

    def remarks(self) -> list[str]:
        """Return what is to be said even if it is passed."""
        return []

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return it with its findings and its status.

        :param void: whether a finding takes its meaning from the whole run
        """
        status: verdict.Status | None = None
        if self.limit is not None:
            void = void or any(one.voids for one in findings)
            status = "void" if void else self._status(self.limit)
        return dataclasses.replace(self, status=status, findings=findings)

    def own_voiding(self) -> list[finding.RunFinding]:
        """Return the findings that void this metric alone."""
        return [
            one
            for one in self.findings
            if one.voids and one.finding.subject == self.metric.name
        ]

    def voids(self) -> list[str]:
        """Return what takes the meaning from this metric alone.

        What voids several metrics is said once, by the summary.
        """
        return finding.sentences(self.own_voiding())

    def _status(self, limit: float) -> verdict.Status:
        """Return whether the figure is within its limit."""
        raise NotImplementedError

    def beyond_return(self, planned: int) -> bool:
        """Return whether it has failed, and will have failed in the end.

        :param planned: how many counted repetitions the task asks for
        """
        raise NotImplementedError


AnyRow = t.TypeVar("AnyRow", bound=Row)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Summary(t.Generic[AnyRow]):
    """What every SLA answers and every report shows.

    :param status: of the run as a whole
    :param rows: with and without a limit
    :param missing: what was planned and is not there
    :param findings: all of them, those of the rows included, gravest first
    :param unmatched: limits that no metric of the run goes with
    :param left_out: numbers of void repetitions that are not judged
    """

    status: verdict.Status
    rows: tuple[AnyRow, ...]
    missing: shortfall.Shortfall
    findings: tuple[finding.RunFinding, ...]
    unmatched: tuple[str, ...]
    left_out: tuple[int, ...] = ()
    confidence: float
    on_inconclusive: OnInconclusive

    @property
    def limited(self) -> tuple[AnyRow, ...]:
        """The rows that have a limit."""
        return tuple(row for row in self.rows if row.status is not None)

    @property
    def passed(self) -> bool:
        """Whether an SLA passes.

        ``on_inconclusive: pass`` forgives a limit that lies inside its
        interval, and nothing else: no limit for which nothing, or too little
        for an interval, was measured, nor repetitions that are missing.
        """
        if self.status == "inconclusive" and self.on_inconclusive == "pass":
            whole = not (self.unmatched or self.missing)
            forgiven = [
                row.status == "passed" or row.forgivable
                for row in self.limited
            ]
            return bool(forgiven) and all(forgiven) and whole
        return self.status == "passed"

    def sentence(self) -> str:
        """Return the verdict in one paragraph, what matters most first."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the verdict, one sentence a thing, gravest first."""
        parts = [self.headline(), *self._void_sentences()]
        for status in ("failed", "void", "inconclusive"):
            for row in self.limited:
                if row.status == status:
                    parts += row.lines()
        parts += self._absences()
        passed: dict[str, list[str]] = collections.defaultdict(list)
        others = {
            row.metric.name for row in self.limited if row.status != "passed"
        }
        for row in self.limited:
            if row.metric.name not in others:
                passed[row.metric.name].append(row.brief())
        if passed:
            told = [
                f"{name} {', '.join(filter(None, figures))}".rstrip()
                for name, figures in passed.items()
            ]
            parts.append(f"passed: {'; '.join(told)}")
        for row in self.limited:
            if row.status == "passed":
                parts += row.remarks()
        return [f"{part}." for part in parts]

    def reasons(self) -> list[str]:
        """Return what is to be said beside figures, gravest first."""
        void = [row for row in self.limited if row.status == "void"]
        findings = [
            *self._voiding(),
            *(one for row in void for one in row.own_voiding()),
        ]
        others = dict.fromkeys(
            text
            for row in void
            if not row.own_voiding()
            for text in row.voids()
        )
        told = finding.sentences(findings)
        return [*self._left_out(), *told, *others, *self._absences()]

    def _void_sentences(self) -> list[str]:
        """Return what is left out, and what voids more than one metric."""
        return self._left_out() + finding.sentences(self._voiding())

    def _voiding(self) -> list[finding.RunFinding]:
        """Return the findings that void more than one metric."""
        names = {row.metric.name for row in self.limited}
        return [
            one
            for one in self.findings
            if one.voids and one.finding.subject not in names
        ]

    def _absences(self) -> list[str]:
        parts = []
        if self.rows:
            parts += [
                f"limit {pattern!r} matches no metric of this run"
                for pattern in self.unmatched
            ]
        if self.missing:
            parts.append(self.missing.sentence())
        return parts

    def _left_out(self) -> list[str]:
        """Return which repetitions and samples are void, and why."""
        return [*self._void_repetitions(), *self._void_samples()]

    def _void_samples(self) -> list[str]:
        """Return which samples in judged repetitions are void, and why."""
        found = [
            one
            for one in self.findings
            if one.left_out and one.finding.kind in finding.ABOUT_SAMPLES
            if not one.tolerated and {*one.repetitions} - {*self.left_out}
        ]
        if not found:
            return []
        reasons = "; ".join(finding.sentences(found))
        return [f"void samples are left out: {reasons}"]

    def _void_repetitions(self) -> list[str]:
        """Return which repetitions are void and not judged, and why."""
        if not self.left_out:
            return []
        numbers = ", ".join(map(str, self.left_out))
        reasons = finding.sentences(
            one
            for one in self.findings
            if one.left_out and one.finding.severity == "void"
            if not one.tolerated and {*one.repetitions} & {*self.left_out}
        )
        void = units.number_of("repetition", len(self.left_out))
        of = f"of {self.missing.planned}" if self.missing.planned else ""
        verb = "is" if len(self.left_out) == 1 else "are"
        return [
            f"{void} {of} {verb} void and left out ({numbers}): "
            f"{'; '.join(reasons)}"
        ]

    def headline(self) -> str:
        """Return the verdict, what it comes from and the kinds of warnings."""
        number = collections.Counter(
            one.finding.kind
            for one in self.findings
            if one.finding.severity == "warning"
            if not (one.tolerated or one.left_out)
        )
        if not number:
            return self._verdict()
        total = units.number_of("warning", number.total())
        kinds = [
            kind if times == 1 else f"{kind} ({times})"
            for kind, times in number.items()
        ]
        return f"{self._verdict()}, with {total}: {', '.join(kinds)}"

    def _verdict(self) -> str:
        total = len(self.limited)
        if not any(row.measured for row in self.limited or self.rows):
            return f"{self.status}: nothing was measured"
        if not total:
            return f"{self.status}: no metric was held to a limit"
        number = collections.Counter(row.status for row in self.limited)
        names = {row.metric.name for row in self.limited}
        noun = "metric" if len(names) == total else "figure"
        of = f"of {total} {noun if total == 1 else f'{noun}s'}"
        verb = "is" if number[self.status] == 1 else "are"
        if self.status == "passed":
            return f"passed: {total} {of} {verb} within the limit"
        if self.status == "failed":
            return f"failed: {number['failed']} {of} {verb} beyond the limit"
        if self.status == "void":
            if not number["void"]:
                return "void: a finding voids metrics without a limit"
            words = "means nothing" if verb == "is" else "mean nothing"
            return f"void: {number['void']} {of} {words}"
        if number["inconclusive"]:
            return (
                f"inconclusive: {number['inconclusive']} {of} {verb} undecided"
            )
        return "inconclusive: measurements are missing"


def overall(
    every: collections.abc.Sequence[Row], void: bool, missing: bool
) -> verdict.Status:
    """Return the verdict on the run: its gravest one.

    Failed goes before void, as a limit that is broken stays broken whatever
    the other metrics are worth. Nothing measured is void, so that it never
    passes.
    """
    statuses = {row.status for row in every}
    if "failed" in statuses:
        return "failed"
    limited = [row for row in every if row.status is not None] or every
    nothing = not any(row.measured for row in limited)
    if void or nothing or "void" in statuses:
        return "void"
    if missing or "inconclusive" in statuses or statuses == {None}:
        return "inconclusive"
    return "passed"
