"""A run of a test: measured, journalled, judged and reported."""

import dataclasses
import pathlib
import typing as t
import uuid

from rally_vmperf.baseline import document
from rally_vmperf.guests import guest
from rally_vmperf.questions import judging
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.records import journal
from rally_vmperf.report import page
from rally_vmperf.report import run as reports
from rally_vmperf.report import sources
from rally_vmperf.report import text
from rally_vmperf.runs import opened

Progress = t.Callable[[str], None]
#: Arguments of scenarios that all questions have.
_COMMON = ("workloads", "warmup", "peer")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run came to.

    :param run: with its verdicts
    :param journal: file with its records
    :param report: page about it
    """

    run: reports.Run
    journal: pathlib.Path
    report: pathlib.Path

    @property
    def passed(self) -> bool:
        """Whether each limit is held."""
        return all(one.passed for one in self.run.judgements.values())

    def sentence(self) -> str:
        """Return the verdict, and where the report is."""
        words = " ".join(
            one.sentence()
            for one in self.run.judgements.values()
            if not one.passed
        )
        said = words or f"{self.run.headline}."
        return text.printable(f"{said} Report: {self.report}")

    def table(self) -> str:
        """Return the verdict and every figure, one a line."""
        lines = []
        for what, one in self.run.judgements.items():
            lines.append(f"{what}: {one.headline()}")
            lines += [f"  {line}" for row in one.rows for line in row.lines()]
            lines += [f"  {found.sentence()}" for found in one.findings]
        lines += [f"journal: {self.journal}", f"report: {self.report}"]
        return "\n".join(map(text.printable, lines)) + "\n"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measurement:
    """What is the same for all runs of a test class.

    :param identifier: of the run of the class, the task of records
    :param connect: to the cloud, as the owner of the guests
    :param journal_dir: folder of the journals
    :param report_dir: folder of the reports
    """

    identifier: str
    booted: guest.Booted
    connect: t.Callable[[], t.Any]
    baseline: document.Json | None
    journal_dir: pathlib.Path
    report_dir: pathlib.Path
    progress: Progress
    warn: Progress

    def run(self, asked: task.Task, entry: question.Question) -> Outcome:
        """Make all repetitions and judge them.

        :param entry: the question that the task asks
        :raises KeyboardInterrupt: when its user interrupts it; the journal
            has what was measured
        """
        owner = str(uuid.uuid4())
        written = journal.Journal(self.journal_dir, owner)
        own = {k: v for k, v in asked.arguments.items() if k not in _COMMON}
        opening = opened.Opened()
        try:
            run = entry.run(
                opened.Asked(
                    opened=opening,
                    question=entry.name,
                    task=self.identifier,
                    owner=owner,
                    times=asked.times,
                    warmup=asked.warmup,
                    workloads=asked.arguments["workloads"],
                    peer=asked.peer,
                    booted=self.booted,
                    options=asked.guest_options,
                    baseline=self.baseline,
                    journal=written,
                    connect=self.connect,
                    progress=self.progress,
                    warn=self.warn,
                ),
                own,
            )
            opening.run(owner, lambda: run)
            records = []
            for number in range(1, asked.times + 1):
                records.append(run.repeat(number))
                if records[-1]["state"] == "interrupted":
                    raise KeyboardInterrupt
                if run.failure:
                    break
        finally:
            opening.close(owner)
        judged = judging.run(
            sources.Source(
                question=entry.name,
                scenario=entry.scenario,
                records=records,
                criteria=dict(asked.criteria),
                folder=self.journal_dir,
            )
        )
        return Outcome(
            run=judged,
            journal=written.path,
            report=self._report(owner, judged),
        )

    def _report(self, owner: str, judged: reports.Run) -> pathlib.Path:
        self.report_dir.mkdir(parents=True, exist_ok=True)
        path = self.report_dir / f"{owner}.html"
        path.write_text(page.standalone([judged]), encoding="utf-8")
        return path
