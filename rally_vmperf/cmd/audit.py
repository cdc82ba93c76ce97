# SPDX-License-Identifier: Apache-2.0
"""Command that compares the hosts of a cloud with each other."""

import argparse
import collections
import collections.abc
import datetime
import itertools
import json
import pathlib
import typing as t

import yaml

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.cmd import compare
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import runs
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import table
from rally_vmperf.records import journal
from rally_vmperf.records import sources
from rally_vmperf.report import export

if t.TYPE_CHECKING:
    from rally_vmperf.audit import fleet_capacity
    from rally_vmperf.audit import hosts
    from rally_vmperf.audit import result

_parse_number = base.create_number_parser(1)
_FORMATS = ("table", "csv", "json", "junit", "openmetrics")
Warn = collections.abc.Callable[[str], None]


class Audit(base.Command):
    """Compare each host of a cloud with the others of its class.

    The runs are those of tasks/capacity-audit.yaml, a subtask for each host.
    A host is worse if the whole interval of a metric is beyond --margin,
    compared with the median of the other hosts of its class, which is the CPU
    model and the number of CPUs. Two hosts differ, and neither is worse. The
    confidence is 95 % for all hosts and metrics together. With numbers of
    guests (density: true), the capacity of all hosts is printed in one
    sentence for each flavor.

    With --list-hosts, the command writes the argument of the task.

    The exit code is 0 if no host is worse. It is 2 if a host is worse, lost
    CPUs or memory, has no result, lacks a metric, differs from the only other
    host, or is not compared; if a metric with a limit in the SLAs of the run
    or with a --margin is undecided; or if fewer guests than --min-guests keep
    the limits. It is 1 if the runs cannot be compared.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "runs",
            nargs="*",
            metavar="RUN",
            help="last, last:2, UUID of a task, journal (*.jsonl), directory "
            "of journals, host, or output of: rally task report --json",
        )
        parser.add_argument(
            "--days",
            type=base.create_number_parser(1, base.MAX_DAYS),
            metavar="DAYS",
            help="also the runs of the last DAYS days in the directory of "
            "journals; the newest run of a host counts",
        )
        parser.add_argument(
            "--margin",
            action="append",
            default=[],
            type=compare.parse_margin,
            metavar="[METRIC=]PERCENT",
            help="largest loss that is not worse, of all metrics or of a "
            "metric or a glob, and that decides the exit code; may be "
            "repeated; default: 5",
        )
        base.add_on_inconclusive(parser)
        parser.add_argument(
            "--earlier",
            action="append",
            default=[],
            metavar="RUN",
            help="runs of an earlier audit, as RUN; hosts that became slower "
            "are worse, too; may be repeated",
        )
        parser.add_argument(
            "--acknowledge",
            metavar="FILE",
            help="YAML list of known differences: host, metrics (default: "
            "all), loss_percent (the largest accepted loss; 100 accepts what "
            "is missing, too), until (the last day) and reason",
        )
        self._add_capacity_options(parser)
        add_arguments(parser)
        runs.add_journal_dir(parser)
        self._add_output_options(parser)

    def _add_capacity_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options for the capacity."""
        parser.add_argument(
            "--min-guests",
            action="append",
            default=[],
            type=_parse_min_guests,
            metavar="[FLAVOR=]NUMBER",
            help="smallest number of guests that must keep the limits on all "
            "hosts together; may be repeated",
        )
        parser.add_argument(
            "--placement",
            nargs="?",
            const="",
            metavar="FILE",
            help="state how many guests Placement admits: by FILE, which "
            "--list-hosts --placement FILE writes, or without FILE by the "
            "cloud of Rally's environment, as administrator",
        )

    def _add_output_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options for formats and files."""
        parser.add_argument(
            "-f",
            "--format",
            choices=_FORMATS,
            default="table",
            help="format of the results; default: %(default)s",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            help="path of the results or of the list of hosts; default: "
            "standard output",
        )
        parser.add_argument(
            "--html", metavar="FILE", help="write a page with a strip of hosts"
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Print the result; a host that is worse sets the exit code."""
        if parsed.list_hosts:
            self._write(parsed, list_hosts(parsed, self.warn))
            return
        found = self._audit(parsed)
        if not found.passed:
            self.code = base.NOT_PASSED
            undecided = sum(
                host_result.status == "undecided"
                and not found.is_accepted(host_result)
                for host_result in found.results
            )
            if undecided:
                self.warn(
                    f"Undecided: {units.number_of('host', undecided)}; record "
                    "more repetitions, name the metrics that decide with "
                    "--margin, or use --on-inconclusive pass"
                )
        if parsed.html:
            _write_page(parsed.html, found)
        self._write(parsed, _render(parsed.format, found))

    def _audit(self, parsed: argparse.Namespace) -> "result.Audit":
        """Return the result of the audit of the selected runs.

        :raises VMPerfError: If no hosts can be compared.
        """
        from rally_vmperf.audit import acknowledged
        from rally_vmperf.audit import result

        if not parsed.runs and parsed.days is None:
            raise errors.VMPerfError(
                "RUN is missing; specify last, a task or --days"
            )
        accepted = None
        if parsed.acknowledge:
            today = datetime.datetime.now(datetime.UTC).date()
            accepted = acknowledged.read(parsed.acknowledge, today)
        audited = read_hosts(parsed, parsed.runs, parsed.days, self.warn)
        earlier = None
        if parsed.earlier:
            earlier = read_hosts(parsed, parsed.earlier, None, self.warn)
        metrics = {figure.metric for host in audited for figure in host.means}
        found = result.audit(
            audited,
            compare.create_margins(parsed.margin, metrics),
            earlier=earlier,
            accepted=accepted,
            inventories=_read_inventories(
                parsed, [host.name for host in audited]
            ),
            required=dict(parsed.min_guests),
            accepts_undecided=parsed.on_inconclusive == "pass",
        )
        if not (found.is_compared or found.capacities or parsed.earlier):
            reasons = {
                host_result.host.reason or host_result.explain_alone()
                for host_result in found.results
            }
            raise errors.VMPerfError(
                f"no host can be compared: {'; '.join(sorted(reasons)[:3])}"
            )
        return found

    def _write(
        self,
        parsed: argparse.Namespace,
        pieces: collections.abc.Iterable[str],
    ) -> None:
        """Write a document to the output."""
        if not parsed.output or parsed.output == "-":
            self.print_document(pieces)
            return
        base.write_file(parsed.output, pieces, "--output")
        self.print_line(f"written to {parsed.output}")


def _render(name: str, found: "result.Audit") -> collections.abc.Iterator[str]:
    """Yield an audit in a format, in pieces."""
    from rally_vmperf.audit import host_table

    if name == "table":
        yield from (f"{line}\n" for line in host_table.list_lines(found))
    else:
        yield from export.load_format(name).render(
            lambda: host_table.list_rows(found)
        )


def _write_page(path: str, found: "result.Audit") -> None:
    """Write the page of an audit to a file."""
    # The import of Jinja is slow, and other formats do not require it.
    from rally_vmperf.audit import page

    base.write_file(path, [page.render(found)], "--html")


def _read_inventories(
    parsed: argparse.Namespace, names: list[str]
) -> "fleet_capacity.Inventories | None":
    """Return the inventories of ``--placement``; None without the option."""
    from rally_vmperf.audit import fleet_capacity

    path = parsed.placement
    if path is None:
        return None
    if not path:
        from rally_vmperf.guests.planning import compute_hosts

        admin = connect_admin(parsed.config_file)
        return compute_hosts.read_inventories(admin, names)
    try:
        content = documents.read_json(pathlib.Path(path))
        documents.check(fleet_capacity.SCHEMA, content, path)
    except documents.DocumentError as error:
        raise errors.VMPerfError(
            f"--placement {error}; create it with: rally-vmperf audit "
            "--list-hosts --placement FILE"
        ) from error
    return t.cast("fleet_capacity.Inventories", content)


def _parse_min_guests(text: str) -> tuple[str, int]:
    """Return flavor and number of [FLAVOR=]NUMBER; reject other texts."""
    flavor, _, number = text.rpartition("=")
    return flavor, _parse_number(number)


#: The default age in days at which a host is measured again.
OLDER_THAN = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the list of hosts."""
    parser.add_argument(
        "--list-hosts",
        action="store_true",
        help="write the argument hosts of tasks/capacity-audit.yaml: the "
        "enabled hosts, as administrator, without those with a result of an "
        "audit of the last days (--older-than)",
    )
    parser.add_argument(
        "--aggregate",
        metavar="NAME",
        help="with --list-hosts: only the hosts of this host aggregate",
    )
    parser.add_argument(
        "--older-than",
        type=base.create_number_parser(0, base.MAX_DAYS),
        default=OLDER_THAN,
        metavar="DAYS",
        help="with --list-hosts: omit the hosts with a result of an audit of "
        "the last DAYS days, but not those with other runs alone; 0 lists "
        "all; default: %(default)s",
    )


def list_hosts(
    parsed: argparse.Namespace, warn: Warn
) -> collections.abc.Iterator[str]:
    """Yield the arguments of the task as YAML.

    :raises VMPerfError: If the environment has no administrator.
    """
    from rally_vmperf.guests.planning import compute_hosts

    admin = connect_admin(parsed.config_file)
    usable = compute_hosts.list_usable(admin, parsed.aggregate)
    measured = _list_measured(parsed) if parsed.older_than else set()
    due = [host for host in usable if host not in measured]
    recent = len(usable) - len(due)
    warn(
        f"{len(due)} of {len(usable)} enabled hosts"
        + (
            f"; {recent} have a result of an audit of the last "
            f"{parsed.older_than} days"
            if recent
            else ""
        )
    )
    if parsed.placement:
        save_inventories(parsed.placement, admin, usable)
    yield yaml.safe_dump({"hosts": due})


#: The components that a test of the audit's task measures.
_COMPONENTS = frozenset({"cpu", "memory", "disk"})


def _list_measured(parsed: argparse.Namespace) -> set[str]:
    """Return the hosts with a result of the last days, a set of names.

    An audit compares results of the same test. Those of a test on one host
    alone count if it is the first one and has the metrics of the audit's task.
    """
    try:
        results = read_hosts(parsed, (), parsed.older_than, lambda line: None)
    except SelectionError:
        return set()
    tests = {
        host.name: {figure.setting for figure in host.means}
        for host in results
        if not host.reason
    }
    counts = collections.Counter(itertools.chain.from_iterable(tests.values()))
    shared = {test for test, count in counts.items() if count > 1}
    if shared:
        return {name for name, of_host in tests.items() if of_host & shared}
    return {
        host.name
        for host in results
        if not host.reason
        and {figure.metric.name.partition(".")[0] for figure in host.means}
        >= _COMPONENTS
    }


def connect_admin(config_file: str | None) -> t.Any:
    """Return a connection as the administrator of Rally's environment.

    :param config_file: The path of Rally's configuration file, or None.
    :raises VMPerfError: If the environment has no administrator.
    """
    from rally_vmperf.guests import cloud

    rally_api.load(config_file)
    admin = rally_api.get_platform(None)["admin"]
    if admin is None:
        raise errors.VMPerfError(
            "Rally's environment has no admin, and only an administrator can "
            "list hosts; add admin to its specification: rally env create"
        )
    return cloud.connect(admin)


def save_inventories(
    path: str, admin: t.Any, names: collections.abc.Collection[str]
) -> None:
    """Write the inventories of hosts in Placement to a JSON file."""
    from rally_vmperf.guests.planning import compute_hosts

    inventories = compute_hosts.read_inventories(admin, names)
    text = json.dumps(inventories, indent=1, sort_keys=True)
    base.write_file(path, [f"{text}\n"], "--placement")


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
            run_sources += _check_damage(runs.read_sources(parsed, name))
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


def _check_damage(run_sources: list[sources.Source]) -> list[sources.Source]:
    """Return runs; reject a journal that was damaged after the run.

    A host is compared by the repetitions that it has, so that a lost one
    would not be noticed.

    :raises JournalError: If a line is damaged; one that is cut off is not.
    """
    for source in run_sources:
        for line in source.damaged:
            if not line.is_cut_off:
                raise line.create_error()
    return run_sources


def _read_journals(
    journals: collections.abc.Iterable[pathlib.Path], warn: Warn
) -> collections.abc.Iterator[sources.Source]:
    """Yield the runs in journals; report those that cannot be read."""
    for path in journals:
        try:
            yield from _check_damage(sources.read(str(path), ()))
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
