"""Runs on the command line: tasks of Rally, journals, records, results."""

import argparse
import dataclasses
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.questions import table

if t.TYPE_CHECKING:
    from rally_vmperf.records import sources


class RunError(errors.VMPerfError):
    """A run that cannot be read or judged; the message is one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for runs, their limits and raw outputs."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="UUID of a task, journal (*.jsonl), record (*.json) or output "
        "of: rally task report --json; default: the current task of Rally",
    )
    add_limits(parser, "task")
    add_journal_dir(parser)
    raw_outputs.add_raw_options(
        parser,
        baseline_help="registered baseline with which guests are compared, "
        "instead of the baseline of the run; machines and tools are "
        "compared, too; with --raw: instead of --bare-metal",
    )


def add_limits(parser: argparse.ArgumentParser, owner: str) -> None:
    """Add the option for limits.

    :param owner: The task or the run whose limits are replaced.
    """
    parser.add_argument(
        "--limits",
        metavar="FILE",
        help="YAML with the names of SLAs and their limits, instead of those "
        f"of the {owner}",
    )


def add_journal_dir(parser: argparse.ArgumentParser) -> None:
    """Add the option for the directory of journals."""
    parser.add_argument(
        "--journal-dir",
        metavar="DIRECTORY",
        help="directory of the journals of Rally's results, with the "
        "descriptions of machines; default for a journal: its directory, "
        "for other runs: that of rally.conf",
    )


def read(
    parsed: argparse.Namespace, name: str | None
) -> "list[sources.Source]":
    """Return the runs of one argument, with the baseline of ``--baseline``.

    :param name: The file or the UUID of the task; None for the current task.
    :raises RunError: If the task does not exist.
    :raises SourceError: If the file has no runs.
    :raises BaselineError: If the baseline does not exist, or does not cover
        the run.
    """
    run_sources = read_sources(parsed, name)
    if not parsed.baseline:
        return run_sources
    return [
        _replace_baseline(source, parsed.baseline, parsed.config_file)
        for source in run_sources
    ]


def read_sources(
    parsed: argparse.Namespace, name: str | None
) -> "list[sources.Source]":
    """Return the runs in a file or a Rally task as a list of sources.

    :param name: The file or the UUID of the task; None for the current task.
    :raises RunError: If the task does not exist.
    :raises SourceError: If the file has no runs.
    """
    from rally_vmperf.records import sources

    scenarios = table.scenarios()
    journal_dir = (
        pathlib.Path(parsed.journal_dir)
        if parsed.journal_dir
        else rally_api.get_journal_dir(parsed.config_file)
    )
    is_file = name is not None and (
        name.endswith((".json", ".jsonl")) or pathlib.Path(name).exists()
    )
    if name is not None and is_file:
        return sources.read(name, scenarios, journal_dir)
    try:
        content = rally_api.load_results(parsed.config_file, name)
    except ValueError as error:
        raise RunError(str(error)) from error
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
    for index, record in enumerate(source.records):
        if record is not None:
            machines, reason = files.describe_machines(source.folder, record)
            records[index] = comparability.compare_record(
                record, machines, baseline, reason
            )
    return dataclasses.replace(source, records=records)
