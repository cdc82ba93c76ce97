"""The verdict on a run, with everything that it rests on."""

import collections
import dataclasses

from rally_vmperf.measurement import counts
from rally_vmperf.measurement import noted
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement import terms
from rally_vmperf.measurement import verdict

AnyRow = rows.Row | counts.CountRow


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement:
    """What an SLA answers and a report shows.

    :param status: of the run as a whole
    :param rows: metrics that are compared with bare metal
    :param counts: metrics that are held to absolute limits
    :param missing: what was planned and is not there
    :param findings: all of them, those of the rows included, gravest first
    :param unmatched: limits that no metric of the run goes with
    :param reference: what the guests were compared with, None if unknown
    """

    status: verdict.Status
    rows: tuple[rows.Row, ...]
    counts: tuple[counts.CountRow, ...]
    missing: shortfall.Shortfall
    findings: tuple[noted.Noted, ...]
    unmatched: tuple[str, ...]
    reference: repetition.Reference | None
    confidence: float
    on_inconclusive: terms.OnInconclusive

    @property
    def every(self) -> tuple[AnyRow, ...]:
        """All rows, with and without a limit."""
        return (*self.rows, *self.counts)

    @property
    def judged(self) -> tuple[AnyRow, ...]:
        """The rows that have a limit."""
        return tuple(row for row in self.every if row.status is not None)

    @property
    def passed(self) -> bool:
        """Whether an SLA passes.

        ``on_inconclusive: pass`` forgives what is undecided, never a limit
        for which nothing was measured.
        """
        if self.status == "inconclusive" and self.on_inconclusive == "pass":
            measured = [row.measured for row in self.judged]
            return bool(measured) and all(measured) and not self.unmatched
        return self.status == "passed"

    def sentence(self) -> str:
        """Return the verdict in one paragraph, what matters most first."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the verdict, one sentence a thing, gravest first."""
        parts = [self.headline()]
        grave = [one for one in self.findings if one.voids]
        names = {row.metric.name for row in self.judged}
        parts += [
            one.sentence() for one in grave if one.finding.subject not in names
        ]
        for status in ("failed", "void", "inconclusive"):
            parts += [
                row.sentence() for row in self.judged if row.status == status
            ]
        if self.every:
            parts += [
                f"limit {pattern!r} matches no metric of this run"
                for pattern in self.unmatched
            ]
        if self.missing:
            parts.append(self.missing.sentence())
        passed = [
            row.metric.name for row in self.judged if row.status == "passed"
        ]
        if passed:
            parts.append(f"passed: {', '.join(passed)}")
        return [f"{part}." for part in parts]

    def headline(self) -> str:
        """Return the verdict and what it comes from, in one line."""
        total = len(self.judged)
        if not any(row.measured for row in self.judged or self.every):
            return f"{self.status}: nothing was measured"
        if not total:
            return f"{self.status}: no metric was held to a limit"
        number = collections.Counter(row.status for row in self.judged)
        of = f"of {total} {'metric' if total == 1 else 'metrics'}"
        verb = "is" if number[self.status] == 1 else "are"
        if self.status == "passed":
            return f"passed: {total} {of} {verb} within the limit"
        if self.status == "failed":
            return f"failed: {number['failed']} {of} {verb} beyond the limit"
        if self.status == "void":
            words = "is without meaning" if verb == "is" else "mean nothing"
            return f"void: {number['void']} {of} {words}"
        if number["inconclusive"]:
            return (
                f"inconclusive: {number['inconclusive']} {of} {verb} undecided"
            )
        return "inconclusive: measurements are missing"
