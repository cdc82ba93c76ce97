"""A run of a test: measured, journalled, judged and reported."""

import dataclasses
import pathlib
import typing as t
import uuid

from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.execution import requirements
from rally_vmperf.guests import guest
from rally_vmperf.questions import judging
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.records import journal
from rally_vmperf.report import page
from rally_vmperf.report import run as reports
from rally_vmperf.report import sources
from rally_vmperf.report import verdict_table
from rally_vmperf.runs import opened

Progress = t.Callable[[str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a run.

    :param run: with its verdicts
    :param journal: file with its records
    :param report: page about it
    """

    run: reports.RunReport
    journal: pathlib.Path
    report: pathlib.Path

    @property
    def passed(self) -> bool:
        """Whether every limit is kept."""
        return self.run.passed

    def sentence(self) -> str:
        """Return the verdict, and where the report is."""
        words = " ".join(
            one.sentence()
            for one in self.run.judgements.values()
            if not one.passed
        )
        said = words or f"{self.run.headline}."
        return sanitize.printable(f"{said} Report: {self.report}")

    def table(self) -> str:
        """Return the verdicts, and where records and report are."""
        lines = verdict_table.lines(self.run)
        lines += [f"journal: {self.journal}", f"report: {self.report}"]
        return "\n".join(map(sanitize.printable, lines)) + "\n"


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
        :raises ToolMissing: for guests without a tool, where none may be
            installed
        """
        owner = str(uuid.uuid4())
        written = journal.Journal(self.journal_dir, owner)
        own = {
            k: v for k, v in asked.arguments.items() if k not in task.COMMON
        }
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
                    protocol=asked.protocol,
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
                    self._check_image(run.failure)
                    break
        finally:
            opening.close(owner)
        judgement = judging.run(
            sources.Source(
                question=entry.name,
                scenario=entry.scenario,
                records=records,
                criteria=dict(asked.criteria),
                folder=self.journal_dir,
            )
        )
        return Outcome(
            run=judgement,
            journal=written.path,
            report=self._report(owner, judgement),
        )

    def _check_image(self, failure: Exception) -> None:
        names = {one.name for one in self.booted.guests}
        if (
            isinstance(failure, requirements.ToolMissing)
            and failure.machine in names
        ):
            raise failure

    def _report(
        self, owner: str, judgement: reports.RunReport
    ) -> pathlib.Path:
        self.report_dir.mkdir(parents=True, exist_ok=True)
        path = self.report_dir / f"{owner}.html"
        path.write_text(page.standalone([judgement]), encoding="utf-8")
        return path
