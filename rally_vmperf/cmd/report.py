# SPDX-License-Identifier: Apache-2.0
"""Command that writes reports."""

import argparse
import collections.abc
import pathlib
import typing as t

from rally_vmperf.cmd import base
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.cmd import runs
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import verdict_table
from rally_vmperf.questions import source_judge
from rally_vmperf.report import export

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports

_STDOUT = "-"


class Report(base.Command):
    """Write a report of runs, as an HTML page or for other programs.

    A journal contains all completed repetitions, even if Rally was killed.
    Runs contain the limits of their task; --limits replaces them. Several
    runs, such as one per flavor, are shown side by side. With --raw, the
    report compares outputs of tools, without a cloud: those of --guest with
    those of --bare-metal or with --baseline.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        runs.add_arguments(parser)
        parser.add_argument(
            "--format",
            choices=("html", *export.NAMES),
            default="html",
            help="format of the report; default: %(default)s",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            help="path of the report, - for standard output; default: "
            "report.html for html, standard output for other formats",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the report, and print its path and headlines."""
        raw_outputs.check_options(parsed, parsed.runs)
        if parsed.raw:
            run_reports = [raw_outputs.report_outputs(parsed)]
        else:
            run_reports = self._read(parsed)
        is_html = parsed.format == "html"
        path = parsed.output or ("report.html" if is_html else _STDOUT)
        pieces = _render(parsed.format, run_reports)
        if path == _STDOUT:
            self.print_document(pieces)
            return
        _write(path, pieces)
        for run_report in run_reports if is_html else ():
            for line in verdict_table.lines(run_report):
                self.print_line(line)
        self.print_line(f"written to {path}")

    def _read(self, parsed: argparse.Namespace) -> "list[reports.RunReport]":
        """Judge the runs in files or tasks, and return a report of each."""
        run_sources = [
            source
            for name in parsed.runs or [None]
            for source in runs.read(parsed, name)
        ]
        run_reports = [
            source_judge.create_report(
                source_judge.judge_by_file(source, parsed.limits)
            )
            for source in run_sources
        ]
        for line in source_judge.format_skipped(parsed.limits, run_sources):
            self.warn(line)
        return run_reports


def write_page(
    path: str | pathlib.Path,
    runs_of_task: collections.abc.Iterable[judged_run.JudgedRun],
) -> None:
    """Write the HTML page of judged runs.

    :raises VMPerfError: If the file cannot be written.
    """
    run_reports = [*map(source_judge.create_report, runs_of_task)]
    _write(path, _render("html", run_reports))


def _write(
    path: str | pathlib.Path, pieces: collections.abc.Iterable[str]
) -> None:
    """Write a report in pieces to a file."""
    base.write_file(path, pieces, "report", "--output")


def _render(
    name: str, run_reports: "list[reports.RunReport]"
) -> collections.abc.Iterator[str]:
    """Yield the report in a format, in pieces."""
    if name != "html":
        yield from export.render(name, run_reports)
        return
    # The import takes a second, and other formats do not require it.
    from rally_vmperf.report import page

    yield page.standalone(run_reports)
