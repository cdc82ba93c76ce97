"""Command that judges runs."""

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
    from rally_vmperf.records import sources

#: The exit code for a run that has not passed.
NOT_PASSED = 2


class JudgeError(errors.VMPerfError):
    """A run that cannot be judged; the message is one line."""


class Judge(base.Command):
    """Judge runs, and print their verdicts as a table, failures first.

    The verdicts are the same as those of the SLAs and of the report. Journals
    and records contain no limits and require --limits. With --baseline and
    --raw, the command judges outputs of tools that ran in a guest, without a
    cloud.

    The exit code is 0 if all verdicts are passed, 2 if a verdict is not
    passed, and 1 if a run cannot be judged.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "runs",
            nargs="*",
            metavar="RUN",
            help="UUID of a task, journal (*.jsonl), record (*.json) or "
            "output of: rally task report --json; default: the current task "
            "of Rally",
        )
        parser.add_argument(
            "--limits",
            metavar="FILE",
            help="YAML with the names of SLAs and their limits, instead of "
            "those of the task",
        )
        raw_outputs.add_raw_options(
            parser,
            baseline_help="registered baseline with which guests are "
            "compared, instead of the baseline of the run; machines and tools "
            "are compared, too; --raw requires it",
        )
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Print the verdicts; a failed one sets the exit code."""
        raw_outputs.check_options(parsed, parsed.runs)
        if parsed.raw:
            lines, passed = raw_outputs.judge_outputs(parsed)
            for line in lines:
                self.print_line(line)
            self.code = 0 if passed else NOT_PASSED
            return
        # These imports take a second, and --help does not require them.
        from rally_vmperf.judging import verdict_table
        from rally_vmperf.questions import source_judge

        judged_sources: list[sources.Source] = []
        for name in parsed.runs or [None]:
            for source in _read_sources(name, parsed.config_file):
                if parsed.baseline:
                    source = _replace_baseline(
                        source, parsed.baseline, parsed.config_file
                    )
                judged_sources.append(source)
                run = source_judge.judge_by_file(source, parsed.limits)
                if run.status == "none":
                    raise JudgeError(
                        f"{name or run.title} has no limits; specify them "
                        "with --limits"
                    )
                for line in verdict_table.lines(run):
                    self.print_line(line)
                if not run.passed:
                    self.code = NOT_PASSED
        for line in source_judge.format_skipped(parsed.limits, judged_sources):
            self.warn(line)


def _read_sources(
    name: str | None, config_file: str | None
) -> "list[sources.Source]":
    """Return the runs in a file or a Rally task as a list of sources."""
    from rally_vmperf.records import sources

    scenarios = table.scenarios()
    journal_dir = rally_api.get_journal_dir(config_file)
    is_file = name is not None and (
        name.endswith((".json", ".jsonl")) or pathlib.Path(name).exists()
    )
    if name is not None and is_file:
        return sources.read(name, scenarios, journal_dir)
    try:
        content = rally_api.load_results(config_file, name)
    except ValueError as error:
        raise JudgeError(str(error)) from error
    return sources.of_results(
        content, f"task {name or 'in use'}", scenarios, journal_dir
    )


def _replace_baseline(
    source: "sources.Source", name: str, config_file: str | None
) -> "sources.Source":
    """Return a source that is compared with another baseline.

    :raises BaselineError: If the baseline does not exist, or does not cover
        the run.
    """
    from rally_vmperf.records import files
    from rally_vmperf.runs import comparability

    baseline = rally_api.open_baseline_store(config_file).load(name)
    records = list(source.records)
    for index, record in enumerate(source.decoded):
        if record is not None:
            machines, reason = files.describe_machines(source.folder, record)
            records[index] = comparability.compare_record(
                record, machines, baseline, reason
            )
    return dataclasses.replace(source, records=records)
