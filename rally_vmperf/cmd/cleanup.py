# SPDX-License-Identifier: Apache-2.0
"""Command that deletes what killed runs left in the cloud and on hosts."""

import argparse
import asyncio
import collections.abc
import typing as t

from rally_vmperf import errors
from rally_vmperf import opts
from rally_vmperf.cmd import base
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd import rally_api
from rally_vmperf.execution import servers
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.machines import base as machines
from rally_vmperf.machines import workfolder
from rally_vmperf.measurement.samples import units

#: The units of ages in seconds.
_AGES = ((86400, "day"), (3600, "hour"), (60, "minute"))
_COLUMNS = ("Task", "Run", "Kind", "Name", "ID", "Outcome")
_MACHINE_COLUMNS = ("Run", "Kind", "Name", "ID", "Size in MiB", "Outcome")


class Cleanup(base.Lister):
    """List what runs left in the cloud or on a machine, or delete it.

    The resources are guests, volumes, addresses, ports, groups, key pairs,
    flavors and images of rally_vmperf, and servers, networks, subnets,
    routers, users and projects of Rally's contexts. A resource is included
    if its name has the exact form of Rally's names, and if its run has ended
    according to the ledger of this machine or Rally's database. --all and
    --task also include runs whose state is unknown: runs that neither of them
    knows, and runs whose process was on another machine or in another PID
    namespace, such as a container. Resources that a process in this PID
    namespace uses are never deleted.

    If the environment has an admin, the following projects are searched: the
    project of the admin, projects with Rally's names, projects with servers
    that have such names, projects in the ledger, and those given with
    --project.

    With --host or --local, the work directories on a compute host or a peer
    are included, with the processes of their jobs and servers. A directory is
    included if rally_vmperf created it for the same user. It is removed if
    the process that controls its run was in this PID namespace and has ended;
    with --all, also if that process is in another one or on another machine.

    The exit code is 0 if no resource remains, and 1 if a resource remains or
    the cloud does not list some kinds of them, with and without --yes.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "--env", help="Rally environment; default: the current environment"
        )
        parser.add_argument(
            "--task", metavar="UUID", help="only resources of this task"
        )
        parser.add_argument(
            "--project",
            metavar="NAME_OR_ID",
            action="append",
            default=[],
            help="also search this project, as an admin; may be repeated",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="include runs whose state is unknown; make sure that they "
            "have ended",
        )
        parser.add_argument(
            "--yes", action="store_true", help="delete the resources"
        )
        machine_options.add_arguments(parser, "clean up", required=False)
        parser.add_argument(
            "--work-dir",
            metavar="DIRECTORY",
            action="append",
            help="parent of the work directories on the machine; may be "
            "repeated; default: /var/tmp and the home directory of the user",
        )

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Remove resources with --yes; return columns and rows."""
        # The import of the SDK is slow, and --help does not require it.
        from rally_vmperf.guests.cleanup import inventory
        from rally_vmperf.guests.cleanup import killed
        from rally_vmperf.guests.cleanup import removal

        if parsed.host or parsed.local:
            return _MACHINE_COLUMNS, asyncio.run(self._clean_host(parsed))
        rally_api.load_database(parsed.config_file)
        platform = rally_api.get_platform(parsed.env)
        credentials = platform.get("admin"), platform.get("users") or []
        run_ledger = ledger.Ledger(opts.read(parsed.config_file).journal_dir)
        entries = list(run_ledger.entries())
        tasks = rally_api.list_tasks()
        sweep = removal.OrphanCleanup(
            killed.create_views(*credentials, entries, parsed.project),
            ownership.RunIndex(entries, tasks),
            task=parsed.task,
            everything=parsed.all,
        )
        is_complete = True
        try:
            orphans = sweep.find()
        except inventory.IncompleteError as error:
            self.warn(str(error))
            orphans, is_complete = error.resources, False
        remaining = dict.fromkeys(filter(sweep.is_chosen, orphans), "")
        if parsed.yes:
            remaining = sweep.remove(
                orphans, self.app.LOG.info, is_complete=is_complete
            )
            ended = [
                ledger_entry
                for ledger_entry in entries
                if parsed.task in (None, ledger_entry.task)
                and sweep.includes_owner(ledger_entry.owner)
                and sweep.includes_owner(ledger_entry.task)
            ]
            if is_complete:
                names = {resource.name for resource in remaining}
                killed.drop_entries(run_ledger, ended, *credentials, names)
                mark_killed_tasks(ended, tasks)
        if any(sweep.find_run(orphan).state == "killed" for orphan in orphans):
            # The cloud does not know peer and control machine of a run.
            self.warn(
                "a killed run leaves its load on its peer and its control "
                "machine, if it had one; to end it: rally-vmperf cleanup "
                "--host USER@ADDRESS"
            )
        self.code = 1 if remaining or not is_complete else 0
        rows = []
        for resource in orphans:
            run = sweep.find_run(resource)
            outcome = _describe_kept(run.state, run.age)
            if sweep.is_chosen(resource):
                outcome = "to be removed with --yes"
                if parsed.yes:
                    reason = remaining.get(resource)
                    outcome = f"not removed: {reason}" if reason else "removed"
            identity = (resource.kind, resource.name, resource.id)
            rows.append((run.task, run.state, *identity, outcome))
        return _COLUMNS, rows

    async def _clean_host(
        self, parsed: argparse.Namespace
    ) -> list[tuple[object, ...]]:
        """Remove work directories with --yes; return the rows of all."""
        for option in ("env", "task", "project"):
            if getattr(parsed, option):
                raise errors.VMPerfError(
                    f"--{option}: requires the cloud; remove the option, or "
                    "--host and --local"
                )
        parents = parsed.work_dir or ["/var/tmp", ""]  # noqa: S108
        rows: list[tuple[object, ...]] = []
        async with machine_options.connect(parsed) as machine:
            for directory in await workfolder.find(machine, parents):
                outcome = _describe_kept(directory.state, directory.age)
                if directory.state == "killed" or (
                    parsed.all and directory.state == "unknown"
                ):
                    outcome = "to be removed with --yes"
                    if parsed.yes:
                        outcome = await _remove(machine, directory)
                    if outcome != "removed":
                        self.code = 1
                rows.extend(_create_rows(directory, outcome))
        return rows


async def _remove(
    machine: machines.Machine, directory: workfolder.WorkDirectory
) -> str:
    """Remove a work directory and its processes; return the outcome."""
    try:
        await workfolder.end(machine, directory.path)
    except machines.MachineError as error:
        return f"not removed: {error}"
    return "removed"


def _create_rows(
    directory: workfolder.WorkDirectory, outcome: str
) -> collections.abc.Iterator[tuple[object, ...]]:
    """Yield the rows of a work directory and of its processes."""
    size = round(directory.kib / 1024)
    state = directory.state
    yield (state, "directory", directory.path, "", size, outcome)
    for process in directory.processes:
        kind = "server" if process.uid >= servers.FIRST_UID else "job"
        yield (state, kind, process.program, process.pid, "", outcome)


def _describe_kept(state: ownership.State, age: float | None) -> str:
    """Return the outcome of what is kept; of an unknown run, with its age.

    :param age: The time since the start of the run in seconds; None if it is
        not known.
    """
    if state != "unknown":
        return "kept"
    started = ""
    if age is not None:
        size, noun = next(
            (unit for unit in _AGES if age >= unit[0]), _AGES[-1]
        )
        started = f", {units.number_of(noun, max(0, int(age // size)))} old"
    return f"kept{started}; if its run has ended, add --all"


def mark_killed_tasks(
    entries: list[ledger.Entry], tasks: list[ownership.OwningTask]
) -> None:
    """Mark the tasks of ended runs as crashed in Rally's database."""
    identifiers = {entry.task for entry in entries}
    for task in tasks:
        if not task.ended and task.uuid in identifiers:
            rally_api.mark_crashed(task.uuid)
