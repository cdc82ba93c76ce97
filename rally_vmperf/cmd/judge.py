# SPDX-License-Identifier: Apache-2.0
"""Command that judges runs."""

import argparse
import collections.abc

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.cmd import runs
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import verdict_table
from rally_vmperf.questions import source_judge
from rally_vmperf.records import sources
from rally_vmperf.report import export


class Judge(base.Command):
    """Judge runs, and print their verdicts as a table, failures first.

    The verdicts are the same as those of the SLAs and of the report. Runs
    contain the limits of their task; --limits replaces them. With --raw, the
    command compares outputs of tools, without a cloud: those of --guest with
    those of --bare-metal or with --baseline.

    The exit code is 0 if all verdicts are passed, 2 if a verdict is not
    passed, and 1 if a run cannot be judged.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        runs.add_arguments(parser)
        parser.add_argument(
            "-f",
            "--format",
            choices=("table", "csv", "json"),
            default="table",
            help="format of the verdicts and figures; default: %(default)s",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Print the verdicts; a failed one sets the exit code."""
        raw_outputs.check_options(parsed, parsed.runs)
        if parsed.raw and parsed.format == "table":
            lines, passed = raw_outputs.judge_outputs(parsed)
            for line in lines:
                self.print_line(line)
            self.code = 0 if passed else base.NOT_PASSED
            return
        judged = []
        for run in self._judge(parsed):
            if not run.passed:
                self.code = base.NOT_PASSED
            if parsed.format != "table":
                judged.append(run)
                continue
            for line in verdict_table.lines(run):
                self.print_line(line)
        if parsed.format != "table":
            self.print_document(export.render_verdicts(parsed.format, judged))

    def _judge(
        self, parsed: argparse.Namespace
    ) -> collections.abc.Iterator[judged_run.JudgedRun]:
        """Yield the judged runs; print the SLAs that apply to none.

        :raises VMPerfError: If a run has no limits.
        """
        if parsed.raw:
            yield raw_outputs.report_outputs(parsed)
            return
        judged_sources = []
        for name in parsed.runs or [None]:
            for source in runs.read(parsed, name):
                judged_sources.append(source)
                run = source_judge.judge_by_file(source, parsed.limits)
                if run.status == "none":
                    raise errors.VMPerfError(
                        _describe_missing_limits(
                            name or run.title, source, parsed.limits
                        )
                    )
                yield run
        for line in source_judge.format_skipped(parsed.limits, judged_sources):
            self.warn(line)


def _describe_missing_limits(
    title: str, source: sources.Source, path: str | None
) -> str:
    """Return why a run has no limits, in one line.

    :param title: The name of the run.
    :param path: The path of the limits file; None for the limits of the task.
    """
    if path is None:
        return f"{title} has no limits; specify them with --limits"
    skipped = source_judge.format_skipped(path, [source])
    scenario = source_judge.get_question(source).scenario
    return f"{title} is a run of {scenario}; {'; '.join(skipped)}"
