"""Command that writes HTML reports."""

import argparse
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.questions import table

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports


class ReportError(errors.VMPerfError):
    """A report that cannot be written; the message is one line."""


class Report(base.Command):
    """Write an HTML report of runs from journals or Rally's results.

    A journal contains all completed repetitions, even if Rally was killed. A
    journal contains no limits; without --limits, its report has no verdicts.
    Rally's results contain the limits of their task. Several runs, such as
    one per flavor, are shown side by side. With --raw and --baseline, the
    report shows outputs of tools that ran in a guest, without a cloud.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "files",
            nargs="*",
            metavar="FILE",
            help="journal (*.jsonl) or output of: rally task report --json",
        )
        parser.add_argument(
            "--limits",
            metavar="FILE",
            help="YAML with the names of SLAs and their limits, as in the "
            "section sla of a task",
        )
        parser.add_argument(
            "--journal-dir",
            metavar="DIRECTORY",
            help="directory of the journals of Rally's results, with the "
            "descriptions of machines; default for a journal: its directory",
        )
        parser.add_argument(
            "-o",
            "--output",
            default="report.html",
            metavar="FILE",
            help="path of the report; default: %(default)s",
        )
        raw_outputs.add_raw_options(
            parser,
            baseline_help="with --raw: registered baseline with which the "
            "outputs are compared",
        )
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the report, and print its path and headlines."""
        # These imports take a second, and --help does not require them.
        from rally_vmperf.report import page

        raw_outputs.check_options(parsed, parsed.files)
        if not (parsed.raw or parsed.files):
            raise ReportError(
                "FILE is missing; specify a journal, the output of: rally "
                "task report --json, or --raw with outputs of tools"
            )
        if parsed.raw:
            run_reports = [raw_outputs.report_outputs(parsed)]
        else:
            run_reports = self._read(parsed)
        try:
            pathlib.Path(parsed.output).write_text(
                page.standalone(run_reports), encoding="utf-8"
            )
        except OSError as error:
            raise ReportError(
                f"report {parsed.output}: {error.strerror or error}; select "
                "another path with --output"
            ) from error
        for run_report in run_reports:
            self.print_line(f"{run_report.title}: {run_report.headline}")
        self.print_line(f"written to {parsed.output}")

    def _read(self, parsed: argparse.Namespace) -> "list[reports.RunReport]":
        """Judge the runs in files, and return a report of each."""
        from rally_vmperf.questions import source_judge
        from rally_vmperf.records import sources

        journal_dir = (
            pathlib.Path(parsed.journal_dir) if parsed.journal_dir else None
        )
        run_sources = [
            source
            for path in parsed.files
            for source in sources.read(path, table.scenarios(), journal_dir)
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
