# SPDX-License-Identifier: Apache-2.0
"""The runs of an audit: by name, in a directory, or of the last days."""

import argparse
import collections.abc
import datetime
import pathlib
import typing as t

from rally_vmperf import errors
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import runs
from rally_vmperf.questions import table
from rally_vmperf.records import journal
from rally_vmperf.records import sources

if t.TYPE_CHECKING:
    from rally_vmperf.audit import hosts

Warn = collections.abc.Callable[[str], None]


class SelectionError(errors.VMPerfError):
    """Runs that cannot be audited; the message is one line."""


def read_hosts(
    parsed: argparse.Namespace,
    names: collections.abc.Sequence[str],
    days: int | None,
    warn: Warn,
) -> "list[hosts.Host]":
    """Return the results of the hosts in runs.

    :param names: The names of runs, or directories of journals.
    :param days: The age of the oldest runs of the directory of journals in
        days, in addition to those with a name; None for none.
    :param warn: A function that is called with a line for each run that
        cannot be read.
    :raises SelectionError: If there are no runs.
    """
    from rally_vmperf.audit import collection

    journals: dict[pathlib.Path, journal.IndexedRun] = {}
    run_sources: list[sources.Source] = []
    for name in names:
        if pathlib.Path(name).is_dir():
            journals |= _index(pathlib.Path(name), None)
        else:
            run_sources += runs.read_sources(parsed, name)
    if days is not None:
        journals |= _index(runs.find_journal_dir(parsed), days)
    tasks = {
        record.task: None
        for source in run_sources
        for record in source.readable
    } | {run.task: None for run in journals.values()}
    if not tasks:
        where = f" in {', '.join(names)}" if names else ""
        raise SelectionError(
            f"no run to audit{where}; start one with: rally task start "
            "tasks/capacity-audit.yaml, or list the runs with: rally-vmperf "
            "runs"
        )
    run_sources += _read_journals(journals, warn)
    return collection.collect(
        run_sources, _list_failures(parsed.config_file, tasks, warn)
    )


def _index(
    directory: pathlib.Path, days: int | None
) -> dict[pathlib.Path, journal.IndexedRun]:
    """Return the runs in a directory that are at most so many days old."""
    oldest = ""
    if days is not None:
        now = datetime.datetime.now(datetime.UTC)
        oldest = (now - datetime.timedelta(days=days)).isoformat()
    return {
        run.path: run
        for run in journal.list_runs(directory, table.questions())
        if run.started_at >= oldest
    }


def _read_journals(
    journals: collections.abc.Iterable[pathlib.Path], warn: Warn
) -> collections.abc.Iterator[sources.Source]:
    """Yield the runs in journals; report those that cannot be read."""
    for path in journals:
        try:
            yield from sources.read(str(path), ())
        except errors.VMPerfError as error:
            warn(f"omitted: {error}")


def _list_failures(
    config_file: str | None,
    tasks: collections.abc.Iterable[str],
    warn: Warn,
) -> dict[str, str]:
    """Return the reasons why hosts of tasks have no repetition, by host.

    Rally's database has them. Without it, only a warning is possible.
    """
    try:
        failed = rally_api.list_failed_hosts(config_file, [*tasks])
    except Exception as error:
        reason = str(error).partition("\n")[0]
        warn(
            "hosts without any repetition are not listed, because Rally's "
            f"database cannot be read: {reason}"
        )
        return {}
    return {
        host: reason
        for by_host in failed.values()
        for host, reason in by_host.items()
    }
