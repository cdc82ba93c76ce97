# SPDX-License-Identifier: Apache-2.0
"""Runs on the command line: tasks of Rally, journals, records, results.

The command ``runs`` lists those in the directory of journals.
"""

import argparse
import collections.abc
import dataclasses
import datetime
import pathlib
import re
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import host_names
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import sources

_COLUMNS = (
    *("Name", "Date", "Question", "Hosts", "Flavors", "Verdict", "Task"),
    "UUID",
)
#: The number of hosts that are listed by name.
_MOST_HOSTS = 4
_DEFAULT_LIMIT = 20
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class UnknownTaskError(errors.VMPerfError):
    """A task that Rally does not have; the message is one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for runs, their limits and raw outputs."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="UUID of a task, journal (*.jsonl), record (*.json), output of: "
        "rally task report --json, last, last:2 for the task before it, or "
        "a host for the newest task on it; default: the current task of "
        "Rally",
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


def read(parsed: argparse.Namespace, name: str | None) -> list[sources.Source]:
    """Return the runs of one argument, with the baseline of ``--baseline``.

    :param name: The file or the UUID of the task; None for the current task.
    :raises VMPerfError: If the task does not exist.
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
) -> list[sources.Source]:
    """Return the runs in a file or a Rally task as a list of sources.

    :param name: The file, the UUID of the task or of a run, ``last``,
        ``last:N``, or a host; None for the current task. Without the task in
        Rally, such as on another machine, its journals are read.
    :raises VMPerfError: If the task does not exist.
    :raises SourceError: If the file has no runs.
    """
    journal_dir = find_journal_dir(parsed)
    is_file = name is not None and (
        name.endswith((".json", ".jsonl")) or pathlib.Path(name).exists()
    )
    if name is not None and is_file:
        return sources.read(name, table.scenarios(), journal_dir)
    if name is None:
        return read_task(parsed.config_file, name, journal_dir)
    if _UUID.fullmatch(name):
        # Rally has the results of its SLAs, too.
        try:
            return read_task(parsed.config_file, name, journal_dir)
        except UnknownTaskError:
            if journals := _read_journals(name, journal_dir):
                return journals
            raise
    journals = _read_journals(name, journal_dir)
    return journals or read_task(parsed.config_file, name, journal_dir)


def _read_journals(
    name: str, journal_dir: pathlib.Path
) -> list[sources.Source]:
    """Return the runs in journals that a name stands for, as a list."""
    indexed = journal.find_runs(name, journal_dir, table.questions())
    return [
        source
        for run in indexed
        for source in sources.read(str(run.path), table.scenarios())
    ]


def read_task(
    config_file: str | None, uuid: str | None, journal_dir: pathlib.Path
) -> list[sources.Source]:
    """Return the runs of a Rally task.

    :param uuid: The UUID of the task; None for the current task.
    :raises UnknownTaskError: If the task does not exist.
    :raises SourceError: If the task has no runs.
    """
    try:
        content = rally_api.load_results(config_file, uuid)
    except ValueError as error:
        raise UnknownTaskError(str(error)) from error
    return sources.of_results(
        content, f"task {uuid or 'in use'}", table.scenarios(), journal_dir
    )


def find_journal_dir(parsed: argparse.Namespace) -> pathlib.Path:
    """Return the directory of journals of the options or of rally.conf."""
    if parsed.journal_dir:
        return pathlib.Path(parsed.journal_dir)
    return rally_api.get_journal_dir(parsed.config_file)


def _replace_baseline(
    source: sources.Source, name: str, config_file: str | None
) -> sources.Source:
    """Return a source that is compared with another baseline.

    :raises BaselineError: If the baseline does not exist, or does not cover
        the run.
    """
    # Other options do not require this import.
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


class Runs(base.Lister):
    """List the runs in the directory of journals, the newest task first.

    judge, report, compare and audit accept the names in the first column:
    last is the newest task, last:2 the task before it. They accept the name
    of a host for the newest task with a guest on it, too. A task has a run
    for each of its subtasks.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "--limit",
            type=base.create_number_parser(0),
            default=_DEFAULT_LIMIT,
            metavar="NUMBER",
            help="largest number of tasks, 0 for all; default: %(default)s",
        )
        parser.add_argument(
            "--host",
            metavar="NAME",
            help="only the runs with a guest on this host",
        )
        parser.add_argument(
            "--journal-dir",
            metavar="DIRECTORY",
            help="directory of the journals; default: that of rally.conf",
        )

    def take_action(
        self, parsed: argparse.Namespace
    ) -> tuple[tuple[str, ...], collections.abc.Iterator[tuple[t.Any, ...]]]:
        """Return the columns and one row per run."""
        journal_dir = find_journal_dir(parsed)
        indexed = journal.list_runs(journal_dir, table.questions())
        if not indexed:
            self.warn(
                f"no run in {journal_dir}; another directory: --journal-dir "
                "DIRECTORY"
            )
        tasks = journal.group_by_task(indexed)
        limit = parsed.limit or len(tasks)
        selected = [
            (run, number)
            for number, task in enumerate(tasks[:limit], start=1)
            for run in task
            if parsed.host in (None, *_list_names(run.hosts))
        ]
        if indexed and not selected:
            self.warn(_describe_unknown_host(parsed.host, limit, tasks))
        return _COLUMNS, (_list_cells(*pair) for pair in selected)


def _list_names(hosts: collections.abc.Iterable[str]) -> list[str]:
    """Return the full and the short names of hosts."""
    return [
        name for host in hosts for name in (host, host_names.shorten(host))
    ]


def _describe_unknown_host(
    host: str, limit: int, tasks: list[list[journal.IndexedRun]]
) -> str:
    """Return that no listed run has a guest on a host, with the solution.

    :param limit: The number of tasks that are listed.
    """
    hosts = {name for task in tasks for run in task for name in run.hosts}
    if host in _list_names(hosts):
        return (
            f"--host={host}: no run of the newest {limit} of {len(tasks)} "
            "tasks has a guest on it; to search all: --limit 0"
        )
    listed_hosts = finding.join_first(
        sorted(map(host_names.shorten, hosts)) or ["none"], ", "
    )
    return f"--host={host}: no run has a guest on it (hosts: {listed_hosts})"


def _list_cells(run: journal.IndexedRun, number: int) -> tuple[t.Any, ...]:
    """Return the row of a run.

    :param number: The position of its task, 1 for the newest one.
    """
    name = "last" if number == 1 else f"last:{number}"
    hosts = [*map(host_names.shorten, run.hosts[:_MOST_HOSTS])]
    if len(run.hosts) > _MOST_HOSTS:
        hosts.append(f"{len(run.hosts) - _MOST_HOSTS} more")
    flavors, verdict = _judge(run)
    return (
        *(name, _format_date(run.started_at), run.question, ", ".join(hosts)),
        *(flavors, verdict, run.task, run.run),
    )


def _judge(run: journal.IndexedRun) -> tuple[str, str]:
    """Return the flavors and the verdict of a run as texts."""
    try:
        (source,) = sources.read(str(run.path), ())
        judged = source_judge.judge_source(source)
    except errors.VMPerfError as error:
        return "", f"not readable: {error}"
    return ", ".join(judged.flavors), judged.status


def _format_date(text: str) -> str:
    """Return a time of a record in local time as text."""
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{time.astimezone():%Y-%m-%d %H:%M}"
