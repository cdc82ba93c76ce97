"""Command that judges runs again."""

import argparse
import dataclasses
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.questions import table

if t.TYPE_CHECKING:
    from rally_vmperf.report import sources

#: Exit code of a run that has not passed.
NOT_PASSED = 2


class JudgeError(errors.VMPerfError):
    """A run cannot be judged; one line."""


class Judge(base.Command):
    """Judge runs, and print their verdicts as one table, failed ones first.

    The verdicts are those of the SLAs and of the report. A journal and a
    record hold no limits: give --limits. With --baseline and --raw, outputs
    of tools that ran in a guest are judged, without a cloud.

    The exit code is 0 when all verdicts are passed, 2 when one is not, and 1
    when there is nothing that can be judged.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "runs",
            nargs="*",
            metavar="RUN",
            help="UUID of a task, journal (*.jsonl), record (*.json) or "
            "output of: rally task report --json; default: the task that "
            "Rally has in use",
        )
        parser.add_argument(
            "--limits",
            metavar="FILE",
            help="YAML with the names of SLAs and their limits, instead of "
            "those of the task",
        )
        parser.add_argument(
            "--baseline",
            metavar="NAME",
            help="registered baseline that guests are compared with, instead "
            "of the one of the run; machines and tools are compared, too; "
            "--raw needs it",
        )
        parser.add_argument(
            "--raw",
            action="store_true",
            help="judge outputs of tools that ran in a guest, instead of a "
            "run; give them by the options named after the tools",
        )
        raw_outputs.add_arguments(parser)
        raw_outputs.add_bounds(parser)
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Print the verdicts."""
        raw_outputs.check_options(parsed, parsed.runs)
        if parsed.raw:
            lines, passed = raw_outputs.judge(parsed)
            for line in lines:
                self.say(line)
            self.code = 0 if passed else NOT_PASSED
            return
        # Drawing and Rally take a second to load: not for a mere --help.
        from rally_vmperf.questions import judging
        from rally_vmperf.report import verdict_table

        judged: list[sources.Source] = []
        for name in parsed.runs or [None]:
            for source in _read(name, parsed.config_file):
                if parsed.baseline:
                    source = _against(
                        source, parsed.baseline, parsed.config_file
                    )
                judged.append(source)
                run = judging.by_file(source, parsed.limits)
                if run.status == "none":
                    raise JudgeError(
                        f"{name or run.title} has no limits to judge it by; "
                        "give --limits"
                    )
                for line in verdict_table.lines(run):
                    self.say(line)
                if not run.passed:
                    self.code = NOT_PASSED
        for line in judging.skipped(parsed.limits, judged):
            self.warn(line)


def _read(name: str | None, config_file: str | None) -> "list[sources.Source]":
    """Return what a file, or a task of Rally's, holds."""
    from rally_vmperf.report import sources

    scenarios = table.scenarios()
    folder = rally_api.journal_dir(config_file)
    is_file = name is not None and (
        name.endswith((".json", ".jsonl")) or pathlib.Path(name).exists()
    )
    if name is not None and is_file:
        return sources.read(name, scenarios, folder)
    try:
        content = rally_api.results(config_file, name)
    except ValueError as error:
        raise JudgeError(str(error)) from error
    return sources.of_results(
        content, f"task {name or 'in use'}", scenarios, folder
    )


def _against(
    source: "sources.Source", name: str, config_file: str | None
) -> "sources.Source":
    """Return a source whose guests are compared with another baseline.

    :raises BaselineError: when there is none, or it does not cover the run
    """
    from rally_vmperf.records import files
    from rally_vmperf.runs import comparability

    baseline = rally_api.registry(config_file).load(name)
    records: list[t.Any] = []
    for record in source.records:
        if record is not None:
            details: t.Any = {}
            reason = ""
            try:
                details = files.read(
                    source.folder, record["files"]["machines"]
                ).get("machines", {})
            except files.FileError as error:
                reason = str(error)
            record = comparability.against(record, details, baseline, reason)
        records.append(record)
    return dataclasses.replace(source, records=records)
