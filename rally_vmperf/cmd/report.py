"""Command that turns records into a page."""

import argparse
import pathlib

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.cmd import base
from rally_vmperf.questions import table


class ReportError(errors.VMPerfError):
    """A report cannot be made; one line."""


class Report(base.Command):
    """Write an HTML page about runs, from journals or from Rally's results.

    Journals are complete up to the last repetition even if Rally was killed.
    A journal holds no limits, so without --limits its page has figures and
    no verdict; Rally's results bring the limits of their task. Several runs,
    such as one per flavor, are put side by side.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "files",
            nargs="+",
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
            "--journals",
            metavar="FOLDER",
            help="where the journals of Rally's results are, with the files "
            "that describe machines; they lie beside a journal in any case",
        )
        parser.add_argument(
            "-o",
            "--output",
            default="report.html",
            metavar="FILE",
            help="page to write; default: %(default)s",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the page and say where it is and what it says."""
        # Drawing and Rally take a second to load: not for a mere --help.
        from rally_vmperf.questions import judging
        from rally_vmperf.report import page
        from rally_vmperf.report import sources

        folder = pathlib.Path(parsed.journals) if parsed.journals else None
        found = [
            source
            for path in parsed.files
            for source in sources.read(path, table.scenarios(), folder)
        ]
        shown = [judging.by_file(source, parsed.limits) for source in found]
        for line in judging.skipped(parsed.limits, found):
            self.warn(line)
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
            self.say(sanitize.printable(f"{one.title}: {one.headline}"))
        self.say(f"written to {parsed.output}")
