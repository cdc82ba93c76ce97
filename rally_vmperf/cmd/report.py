"""Command that turns records into a page."""

import argparse
import pathlib
import typing as t

import jsonschema
import yaml
from cliff import command


class ReportError(Exception):
    """A report cannot be made; one line."""


class Report(command.Command):
    """Write an HTML page about runs, from journals or from Rally's results.

    Journals are complete up to the last repetition even if Rally was killed.
    A journal holds no limits, so without --limits its page has figures and
    no verdict; Rally's results bring the limits of their task. Several runs,
    such as one per flavor, are put side by side.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="journal (*.jsonl) or output of: rally task report --json",
        )
        parser.add_argument(
            "--limits",
            metavar="FILE",
            help="YAML with the keys of the SLA vmperf_overhead "
            "(max_percent, max, confidence, on_inconclusive, tolerate)",
        )
        parser.add_argument(
            "-o", "--output", default="report.html", help="page to write"
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write the page and say where it is and what it says."""
        # Drawing and Rally take a second to load: not for a mere --help.
        from rally_vmperf.plugins.sla import overhead
        from rally_vmperf.report import page
        from rally_vmperf.report import run
        from rally_vmperf.report import sources
        from rally_vmperf.report import text

        limits = _limits(parsed.limits, overhead.Overhead.CONFIG_SCHEMA)
        shown = []
        for path in parsed.files:
            for source in sources.read(path):
                criterion = limits or source.criterion
                judge = overhead.judge(criterion) if criterion else None
                shown.append(run.make(source.records, judge))
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
            words = (
                "figures without limits"
                if one.status == "none"
                else one.judgement.headline()
            )
            line = text.printable(f"{one.title}: {words}")
            self.app.stdout.write(f"{line}\n")
        self.app.stdout.write(f"written to {parsed.output}\n")


def _limits(
    path: str | None, schema: dict[str, t.Any]
) -> dict[str, t.Any] | None:
    """Return the limits in a file, None without one."""
    if path is None:
        return None
    try:
        limits = yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
        jsonschema.validate(limits, schema, jsonschema.Draft7Validator)
    except OSError as error:
        raise ReportError(
            f"limits {path}: {error.strerror or error}"
        ) from error
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ReportError(f"limits {path} are no YAML: {reason}") from error
    except jsonschema.ValidationError as error:
        raise ReportError(
            f"limits {path}: {error.json_path}: {error.message}; use the "
            "keys of the SLA vmperf_overhead"
        ) from error
    return t.cast(dict[str, t.Any], limits)
