"""Command that turns records into a page."""

import argparse
import pathlib
import typing as t

import jsonschema
import yaml

from rally_vmperf.cmd import base
from rally_vmperf.questions import table


class ReportError(Exception):
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
            "section sla of a task, or only the keys of the main SLA of the "
            "scenario, such as vmperf_overhead",
        )
        parser.add_argument(
            "--journals",
            metavar="FOLDER",
            help="where the journals of Rally's results are, with the files "
            "that describe machines; they lie beside a journal in any case",
        )
        parser.add_argument(
            "-o", "--output", default="report.html", help="page to write"
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the page and say where it is and what it says."""
        # Drawing and Rally take a second to load: not for a mere --help.
        from rally_vmperf.questions import judging
        from rally_vmperf.report import page
        from rally_vmperf.report import sources
        from rally_vmperf.report import text

        limits = _limits(parsed.limits)
        folder = pathlib.Path(parsed.journals) if parsed.journals else None
        shown = []
        for path in parsed.files:
            for source in sources.read(path, table.scenarios(), folder):
                criteria = None
                if parsed.limits is not None:
                    main, *_ = judging.asked(source).criteria
                    criteria = _by_sla(parsed.limits, limits, main.name)
                shown.append(judging.run(source, criteria))
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
            self.say(text.printable(f"{one.title}: {one.headline}"))
        self.say(f"written to {parsed.output}")


def _limits(path: str | None) -> t.Any:
    """Return what is in a file of limits, None without one."""
    if path is None:
        return None
    try:
        return yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(
            f"limits {path}: {error.strerror or error}"
        ) from error
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ReportError(f"limits {path} are no YAML: {reason}") from error


def _by_sla(
    path: str, limits: t.Any, main: str
) -> dict[str, dict[str, t.Any]]:
    """Return limits by the name of their SLA.

    :param main: the SLA that is meant where the file names none
    """
    known = table.criteria()
    named = isinstance(limits, dict) and any(name in known for name in limits)
    found = limits if named else {main: limits}
    for name, criterion in found.items():
        if name not in known:
            raise ReportError(
                f"limits {path}: {name} is no SLA of a report, use "
                f"{', '.join(known)}"
            )
        try:
            jsonschema.validate(
                criterion, known[name].schema, jsonschema.Draft7Validator
            )
        except jsonschema.ValidationError as error:
            raise ReportError(
                f"limits {path}: {error.json_path}: {error.message}; use the "
                f"keys of the SLA {name}"
            ) from error
    return t.cast(dict[str, dict[str, t.Any]], found)
