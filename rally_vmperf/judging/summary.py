"""The verdict on a run as text, for all kinds of rows."""

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
    """A figure as texts for a table; empty if there is none."""

    figure: str
    interval: str
    limit: str


NO_CELLS = Cells("", "", "")

#: Follows every verdict, because another version may judge differently, and
#: Rally keeps the sentences of the version that ran. Increase the number
#: when a rule changes.
RULES = "Judged by the rules of version 9."

#: The number of sentences of a verdict between its headline and the last one.
MAX_DETAILS = 3

OnInconclusive = t.Literal["fail", "pass"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricResult:
    """A result of one metric, with its limit and status.

    :param limit: The limit; None for a metric without one.
    :param pattern: The metric or glob that gave the limit.
    :param status: The status; None for a metric without a limit.
    :param findings: The findings about this metric.
    :param confidence: The confidence of the intervals.
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
    def is_only_undecided(self) -> bool:
        """Whether only a limit inside its interval prevents a pass."""
        raise NotImplementedError

    @property
    def limit_origin(self) -> str:
        """The pattern of the limit as text, "" for the metric's own name."""
        if self.pattern is None or self.pattern == self.metric.name:
            return ""
        return f" ({self.pattern})"

    def has_finding(self, kind: str) -> bool:
        """Return whether the row has an untolerated finding of a kind."""
        return any(
            run_finding.finding.kind == kind and not run_finding.tolerated
            for run_finding in self.findings
        )

    def cells(self) -> Cells:
        """Return figure, interval and limit as texts for a table."""
        return NO_CELLS

    def brief(self) -> str:
        """Return figure and limit as a short text, or ""."""
        cells = self.cells()
        if not cells.figure:
            return ""
        interval = f"{self.confidence * 100:g} % interval {cells.interval}, "
        interval = interval if cells.interval else ""
        return f"{cells.figure} ({interval}{cells.limit})"

    def sentence(self) -> str:
        """Return figure, limit and verdict, or why none, as text."""
        raise NotImplementedError

    def sentences(self) -> list[str]:
        """Return all sentences about the row, as a list."""
        return [self.sentence()]

    def remarks(self) -> list[str]:
        """Return the sentences shown even for a pass, as a list."""
        return []

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        :param void: True if a finding voids the whole run.
        """
        status: verdict.Status | None = None
        if self.limit is not None:
            void = void or any(run_finding.voids for run_finding in findings)
            status = "void" if void else self._status(self.limit)
        return dataclasses.replace(self, status=status, findings=findings)

    def voiding_findings(self) -> list[finding.RunFinding]:
        """Return the findings that void this metric alone, as a list."""
        return [
            run_finding
            for run_finding in self.findings
            if run_finding.voids
            and run_finding.finding.subject == self.metric.name
        ]

    def void_reasons(self) -> list[str]:
        """Return why this metric alone is void, a list of sentences.

        The summary reports findings that void several metrics once.
        """
        return finding.sentences(self.voiding_findings())

    def _status(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        raise NotImplementedError

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        :param planned: The number of counted repetitions of the task.
        """
        raise NotImplementedError


ResultT = t.TypeVar("ResultT", bound=MetricResult)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(t.Generic[ResultT]):
    """The verdict that SLAs return and reports show.

    :param status: The status of the run as a whole.
    :param rows: The rows, with and without a limit.
    :param missing: The repetitions that were planned and are missing.
    :param findings: All findings, including those of the rows, the most
        severe ones first.
    :param unmatched: The limits that match no metric of the run.
    :param omitted: The numbers of void repetitions that are not judged.
    """

    status: verdict.Status
    rows: tuple[ResultT, ...]
    missing: shortfall.Shortfall
    findings: tuple[finding.RunFinding, ...]
    unmatched: tuple[str, ...]
    omitted: tuple[int, ...] = ()
    confidence: float
    on_inconclusive: OnInconclusive

    @property
    def limited(self) -> tuple[ResultT, ...]:
        """The rows that have a limit, a tuple."""
        return tuple(row for row in self.rows if row.status is not None)

    @property
    def passed(self) -> bool:
        """Whether the SLA passes with this judgement.

        ``on_inconclusive: pass`` only accepts a limit that lies inside its
        interval. It accepts neither a limit without an interval nor missing
        repetitions.
        """
        if self.status == "inconclusive" and self.on_inconclusive == "pass":
            is_complete = not (self.unmatched or self.missing)
            is_forgiven = [
                row.status == "passed" or row.is_only_undecided
                for row in self.limited
            ]
            return bool(is_forgiven) and all(is_forgiven) and is_complete
        return self.status == "passed"

    def sentence(self) -> str:
        """Return the verdict as one paragraph of text."""
        return " ".join(self.sentences())

    def lines(self) -> list[str]:
        """Return the verdict as at most five sentences, the gravest first.

        Metrics that passed are only counted.
        """
        headline, *grave = self._grave_sentences()
        shown = grave[:MAX_DETAILS]
        rest = len(grave) - len(shown)
        more = f"{rest} more reasons and all" if rest else "All"
        where = f"{more} figures: rally-vmperf judge. {RULES}"
        return [headline, *shown, where]

    def sentences(self) -> list[str]:
        """Return the sentences of the verdict, a list, gravest first."""
        texts = []
        passed: dict[str, list[str]] = collections.defaultdict(list)
        not_passed = {
            row.metric.name for row in self.limited if row.status != "passed"
        }
        for row in self.limited:
            if row.metric.name not in not_passed:
                passed[row.metric.name].append(row.brief())
        if passed:
            passed_texts = [
                f"{name} {', '.join(filter(None, figures))}".rstrip()
                for name, figures in passed.items()
            ]
            texts.append(f"passed: {'; '.join(passed_texts)}")
        for row in self.limited:
            if row.status == "passed":
                texts += row.remarks()
        return self._grave_sentences() + [f"{text}." for text in texts]

    def _grave_sentences(self) -> list[str]:
        """Return the headline and all that is not passed, as sentences."""
        texts = [self.headline(), *self._void_sentences()]
        for status in ("failed", "void", "inconclusive"):
            for row in self.limited:
                if row.status == status:
                    texts += row.sentences()
        return [f"{text}." for text in texts + self._absences()]

    def reasons(self) -> list[str]:
        """Return the sentences that are not about figures, as a list.

        The most severe ones are first.
        """
        void = [row for row in self.limited if row.status == "void"]
        findings = [
            *self._voiding(),
            *(
                run_finding
                for row in void
                for run_finding in row.voiding_findings()
            ),
        ]
        row_sentences = dict.fromkeys(
            text
            for row in void
            if not row.voiding_findings()
            for text in row.void_reasons()
        )
        sentences = finding.sentences(findings)
        return [
            *self._omissions(),
            *sentences,
            *row_sentences,
            *self._absences(),
        ]

    def _void_sentences(self) -> list[str]:
        """Return sentences on omissions and on shared void findings."""
        return self._omissions() + finding.sentences(self._voiding())

    def _voiding(self) -> list[finding.RunFinding]:
        """Return the findings that void more than one metric, as a list."""
        names = {row.metric.name for row in self.limited}
        return [
            run_finding
            for run_finding in self.findings
            if run_finding.voids and run_finding.finding.subject not in names
        ]

    def _name_void_metrics(self) -> str:
        """Return which metrics without a limit are void, as a clause."""
        voided = {
            name
            for run_finding in self._voiding()
            for name in (
                run_finding.finding.subject,
                *run_finding.finding.metrics,
            )
        }
        names = sorted(voided & {row.metric.name for row in self.rows})
        if not names:
            return "a finding voids metrics without a limit"
        verb = "has no limit, is" if len(names) == 1 else "have no limit, are"
        return f"{finding.join_first(names, ', ')}, which {verb} void"

    def _absences(self) -> list[str]:
        """Return sentences on unmatched limits and missing repetitions."""
        texts = []
        if self.rows:
            texts += [
                f"limit {pattern!r} matches no metric of this run"
                for pattern in self.unmatched
            ]
        if self.missing:
            texts.append(self.missing.sentence())
        return texts

    def _omissions(self) -> list[str]:
        """Return sentences on void repetitions and samples, with reasons."""
        return [*self._void_repetitions(), *self._void_samples()]

    def _void_samples(self) -> list[str]:
        """Return sentences on void samples of judged repetitions."""
        findings = [
            run_finding
            for run_finding in self.findings
            if run_finding.omitted
            and run_finding.finding.kind in finding.ABOUT_SAMPLES
            if not run_finding.tolerated
            and {*run_finding.repetitions} - {*self.omitted}
        ]
        if not findings:
            return []
        reasons = "; ".join(finding.sentences(findings))
        return [f"void samples are omitted: {reasons}"]

    def _void_repetitions(self) -> list[str]:
        """Return sentences on void repetitions, with the reasons."""
        if not self.omitted:
            return []
        numbers = ", ".join(map(str, self.omitted))
        reasons = finding.sentences(
            run_finding
            for run_finding in self.findings
            if run_finding.omitted and run_finding.finding.severity == "void"
            if not run_finding.tolerated
            and {*run_finding.repetitions} & {*self.omitted}
        )
        void = units.number_of("repetition", len(self.omitted))
        of = f"of {self.missing.planned}" if self.missing.planned else ""
        verb = "is" if len(self.omitted) == 1 else "are"
        return [
            f"{void} {of} {verb} void and omitted ({numbers}): "
            f"{'; '.join(reasons)}"
        ]

    def headline(self) -> str:
        """Return status, cause and kinds of warnings as one line of text."""
        warnings = finding.describe_warnings(self.findings)
        return f"{self._status_sentence()}{warnings and f', {warnings}'}"

    def _status_sentence(self) -> str:
        """Return the status and the number of its figures as a sentence."""
        total = len(self.limited)
        if not any(row.measured for row in self.limited or self.rows):
            return f"{self.status}: nothing was measured"
        if not total:
            return f"{self.status}: no metric has a limit"
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
                return f"void: {self._name_void_metrics()}"
            count = units.number_of(noun, number["void"])
            return f"void: {count} cannot be judged"
        if number["inconclusive"]:
            return (
                f"inconclusive: {number['inconclusive']} {of} {verb} undecided"
            )
        return "inconclusive: measurements are missing"


def overall_status(
    rows: collections.abc.Sequence[MetricResult], void: bool, missing: bool
) -> verdict.Status:
    """Return the status of a run: the most severe one of its rows.

    Failed has precedence over void, because a limit that is exceeded stays
    exceeded if other metrics are void. A run without measurements is void, so
    that it never passes.
    """
    statuses = {row.status for row in rows}
    if "failed" in statuses:
        return "failed"
    limited = [row for row in rows if row.status is not None] or rows
    nothing = not any(row.measured for row in limited)
    if void or nothing or "void" in statuses:
        return "void"
    if missing or "inconclusive" in statuses or statuses == {None}:
        return "inconclusive"
    return "passed"
