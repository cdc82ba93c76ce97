"""Command that turns records into a page."""

import argparse
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.questions import table

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as runs


class ReportError(errors.VMPerfError):
    """A report cannot be made; one line."""


class Report(base.Command):
    """Write an HTML page about runs, from journals or from Rally's results.

    Journals are complete up to the last repetition even if Rally was killed.
    A journal holds no limits, so without --limits its page has figures and
    no verdict; Rally's results bring the limits of their task. Several runs,
    such as one per flavor, are put side by side. With --raw and --baseline,
    the page shows outputs of tools that ran in a guest, without a cloud.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
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
            "files that describe machines; a journal has them next to it",
        )
        parser.add_argument(
            "-o",
            "--output",
            default="report.html",
            metavar="FILE",
            help="page to write; default: %(default)s",
        )
        parser.add_argument(
            "--baseline",
            metavar="NAME",
            help="with --raw: registered baseline that the outputs are "
            "compared with",
        )
        parser.add_argument(
            "--raw",
            action="store_true",
            help="report outputs of tools that ran in a guest, instead of "
            "runs; give them by the options named after the tools",
        )
        raw_outputs.add_arguments(parser)
        raw_outputs.add_bounds(parser)
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the page and say where it is and what it says."""
        # Drawing and Rally take a second to load: not for a mere --help.
        from rally_vmperf.report import page

        raw_outputs.check_options(parsed, parsed.files)
        if not (parsed.raw or parsed.files):
            raise ReportError(
                "FILE is missing; give a journal, the output of: rally task "
                "report --json, or --raw with outputs of tools"
            )
        if parsed.raw:
            shown = [raw_outputs.report(parsed)]
        else:
            shown = self._read(parsed)
        try:
            pathlib.Path(parsed.output).write_text(
                page.standalone(shown), encoding="utf-8"
            )
        except OSError as error:
            raise ReportError(
                f"page {parsed.output}: {error.strerror or error}; choose "
                "another place with --output"
            ) from error
        for one in shown:
            self.say(f"{one.title}: {one.headline}")
        self.say(f"written to {parsed.output}")

    def _read(self, parsed: argparse.Namespace) -> "list[runs.RunReport]":
        """Return the judged runs of the files, and warn of skipped SLAs."""
        from rally_vmperf.questions import judging
        from rally_vmperf.report import sources

        folder = (
            pathlib.Path(parsed.journal_dir) if parsed.journal_dir else None
        )
        measured = [
            source
            for path in parsed.files
            for source in sources.read(path, table.scenarios(), folder)
        ]
        shown = [judging.by_file(source, parsed.limits) for source in measured]
        for line in judging.skipped(parsed.limits, measured):
            self.warn(line)
        return shown
