# SPDX-License-Identifier: Apache-2.0
"""Command that plans, measures and judges a task."""

import argparse
import pathlib

from rally_vmperf import live_line
from rally_vmperf.cmd import base
from rally_vmperf.cmd import plan
from rally_vmperf.cmd import quick
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import report
from rally_vmperf.cmd import runs
from rally_vmperf.cmd import task_file
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import source_judge
from rally_vmperf.records import sources


class Run(base.Command):
    """Plan, measure and judge a task, and write its report.

    The command checks the task as rally-vmperf plan does, starts it as rally
    task start does, and prints the verdicts as rally-vmperf judge does.

    The exit code is that of rally task start: 0 if the task passed, 2 if it
    did not, and 1 if it did not run.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        plan.add_task_arguments(parser)
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            help="path of the HTML page; default: report.html, or "
            "report-UUID.html if it exists",
        )

    def take_action(self, parsed: argparse.Namespace) -> int:
        """Run the task; return its exit code."""
        source = task_file.describe_source(parsed.task, parsed)
        self.print_line(f"task: {source}")
        planned = plan.create_plan(parsed)
        for line in planned.remarks:
            self.warn(line)
        if planned.is_rejected:
            return 1
        self.print_line(f"duration: about {planned.minutes} minutes")
        content = task_file.render(parsed.task, parsed)
        uuid, outcome = rally_api.run_task(
            parsed.config_file,
            parsed.env,
            content,
            live_line.replace_messages,
        )
        if outcome == "error":
            self.warn(
                f"the task did not run to its end; for details: rally task "
                f"detailed {uuid}"
            )
        judged = self._judge(parsed, uuid)
        if judged:
            path = _choose_path(parsed.output, uuid)
            report.write_page(path, judged)
            self.print_line(f"page: {path.resolve()}")
        statuses = (run.status for run in judged)
        status = verdict.find_most_severe(statuses) or "none"
        if outcome == "error":
            return 1
        mark = quick.MARK if parsed.quick else ""
        self.print_line(f"verdict: {status}{mark}")
        return 0 if outcome == "passed" else base.NOT_PASSED

    def _judge(
        self, parsed: argparse.Namespace, uuid: str
    ) -> list[judged_run.JudgedRun]:
        """Print the verdicts of a task, and return its judged runs."""
        journal_dir = rally_api.get_journal_dir(parsed.config_file)
        try:
            found = runs.read_task(parsed.config_file, uuid, journal_dir)
        except sources.SourceError as error:
            self.warn(str(error))
            return []
        judged = []
        for source in found:
            if not source.readable:
                self.warn(
                    f"task {uuid}: a run has no repetitions; for its errors: "
                    f"rally task detailed {uuid}"
                )
                continue
            run = source_judge.judge_source(source)
            judged.append(run)
            for line in verdict_table.lines(run):
                self.print_line(line)
        return judged


def _choose_path(output: str | None, uuid: str) -> pathlib.Path:
    """Return the path of the page, by default one that does not exist."""
    if output:
        return pathlib.Path(output)
    path = pathlib.Path("report.html")
    return pathlib.Path(f"report-{uuid}.html") if path.exists() else path
