# SPDX-License-Identifier: Apache-2.0
"""A session: machines are prepared once and measured repeatedly.

A session keeps the connections open between repetitions. Its interface is
synchronous; internally it serves many machines concurrently.
"""

import asyncio
import collections.abc
import dataclasses
import shlex
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import assignment
from rally_vmperf.execution import caches
from rally_vmperf.execution import disk_space
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.execution import volumes
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import workfolder
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.machines.provisioning import raw_devices
from rally_vmperf.measurement import finding


@dataclasses.dataclass(frozen=True, kw_only=True)
class Control:
    """The control machine with its workload."""

    station: roles.Station
    work: assignment.Assignment


@dataclasses.dataclass(kw_only=True)
class Session:
    """Stations that are prepared for the workloads.

    ``open_session`` creates sessions.

    :param extra_assignments: The workloads that are prepared, but not
        measured.
    :param control: The control machine; None without one.
    :param fingerprints: The fingerprints by station name.
    :param tools: The tools by station name and command.
    :param facts: The facts by station name and workload title.
    :param volumes: The devices of the volumes by station name.
    :ivar last_look: The counters by station name, from the end of the last
        repetition.
    """

    assignments: tuple[assignment.Assignment, ...]
    stations: list[roles.Station]
    peer: roles.Station | None
    progress: measure.Progress
    runner: asyncio.Runner
    owns_runner: bool = True
    extra_assignments: tuple[assignment.Assignment, ...] = ()
    control: Control | None = None
    fingerprints: dict[str, documents.Facts] = dataclasses.field(
        default_factory=dict
    )
    tools: dict[str, dict[str, provision.ToolFacts]] = dataclasses.field(
        default_factory=dict
    )
    facts: measure.Facts = dataclasses.field(default_factory=dict)
    volumes: dict[str, list[devices.Attached]] = dataclasses.field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.last_look: dict[str, health.Counters] = {}
        self.caches = caches.Caches()
        self._before: dict[str, health.Counters] = {}

    def everyone(self) -> list[roles.Station]:
        """Return all stations, peer and control machine included."""
        control = self.control.station if self.control else None
        return [*self.stations, *filter(None, (self.peer, control))]

    def repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None = None,
        on_measured: collections.abc.Callable[[], object] = lambda: None,
        assignments: collections.abc.Sequence[assignment.Assignment]
        | None = None,
    ) -> collections.abc.Sequence[finding.Finding]:
        """Run every workload once, fill ``result``; return findings.

        If the call is interrupted, ``result`` keeps the results so far.

        :param result: The results, which this method extends.
        :param names: The names of the stations that participate, in the order
            in which they form pairs; all by default.
        :param on_measured: A function that is called after all workloads,
            before the machines are checked again.
        :param assignments: The assignments of the workloads to run; all by
            default.
        :returns: The findings on the machines.
        """
        return self.runner.run(
            self._repeat(result, names, on_measured, assignments)
        )

    def silent(self, names: collections.abc.Iterable[str]) -> frozenset[str]:
        """Return the names of those machines that did not answer last."""
        return frozenset(names) - self.last_look.keys()

    def look_again(
        self, names: collections.abc.Container[str]
    ) -> collections.abc.Sequence[finding.Finding]:
        """Check silent machines again; return findings on answering ones.

        :returns: The findings on the machines that answer now.
        """
        stations = self._select(names)
        after = self.runner.run(health.read_counters(stations))
        self.last_look |= after
        return health.compare(self._before, after)

    def is_clock_explained(
        self, name: str, stopped: tuple[float, float]
    ) -> bool:
        """Return whether a stop explains the clock in the last repetition.

        :param stopped: The least and the most seconds of the stop.
        """
        before, after = self._before.get(name), self.last_look.get(name)
        return (
            before is not None
            and after is not None
            and health.is_clock_right(before, after, stopped)
        )

    def close_connections(self, names: collections.abc.Container[str]) -> None:
        """Close the connections to stations; the next use opens new ones.

        Otherwise they break when a station stops answering.
        """
        self.runner.run(roles.close_connections(self._select(names)))

    def forget(self, names: collections.abc.Iterable[str]) -> None:
        """Discard the last counters of stations that were changed."""
        for name in names:
            self.last_look.pop(name, None)

    def _select(
        self, names: collections.abc.Container[str]
    ) -> list[roles.Station]:
        """Return the stations with these names, without the peer."""
        return [station for station in self.stations if station.name in names]

    async def _repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None,
        on_measured: collections.abc.Callable[[], object],
        assignments: collections.abc.Sequence[assignment.Assignment] | None,
    ) -> list[finding.Finding]:
        """Run every workload once; return findings on health and runs."""
        stations = self.stations
        if names is not None:
            by_name = {station.name: station for station in stations}
            stations = [by_name[name] for name in names]
            for station in stations:
                station.partner = None
            roles.pair_up(stations)
        start = await health.read_counters(stations)
        is_first = not self._before
        # Events between repetitions are detected, too.
        before = self._before = {**start, **self.last_look}
        lost = {
            station.name: f"{station.name} no longer answers"
            for station in stations
            if station.name not in before
        }
        if not is_first:  # an event or an action may have booted them
            lost |= await volumes.attach_again(
                station for station in stations if station.name not in lost
            )
        findings = await measure.repetition(
            assignments or self.assignments,
            stations,
            self.peer,
            self.progress,
            result,
            lost=lost,
            page_caches=self.caches,
        )
        on_measured()
        after = await health.read_counters(stations)
        self.forget(station.name for station in stations)
        self.last_look |= after
        guests = {
            station.name for station in stations if station.role == "guest"
        }
        # A guest that waited for other conditions had idle vCPUs.
        for name, cpu_time in health.count_cpu_time(start, after).items():
            if name in guests:
                result.cpu_times[name] += cpu_time
        return findings + health.compare(before, after)

    def describe(self, name: str) -> dict[str, t.Any]:
        """Return a station's fingerprint and tools as a dict."""
        return {
            "fingerprint": self.fingerprints[name],
            "tools": {
                command: dataclasses.asdict(tool)
                for command, tool in self.tools[name].items()
            },
        }

    def close(self) -> None:
        """Remove the work directories, and close the connections.

        The directories on guests remain, because guests are deleted.
        """
        try:
            self.runner.run(self._close())
        finally:
            if self.owns_runner:
                self.runner.close()

    async def _close(self) -> None:
        """Remove all stations' work directories, and close connections."""
        await asyncio.gather(
            *(self._leave(station) for station in self.everyone())
        )

    async def _leave(self, station: roles.Station) -> None:
        """Remove a work directory, close the connection; report a failure."""
        try:
            if station.folder and station.role != "guest":
                if station.attach_again is not None:
                    await devices.detach(station.machine, station.folder)
                    await raw_devices.clear(
                        station.machine, station.device_paths
                    )
                await workfolder.remove(station.machine, station.folder)
        except base.MachineError as error:
            self.progress(
                f"{station.folder} is left on {station.name}: {error}"
            )
        finally:
            await station.machine.close()


def open_session(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: list[roles.Station],
    peer: roles.Station | None,
    *,
    supply: provision.Supply,
    progress: measure.Progress,
    runner: asyncio.Runner | None = None,
    extra_assignments: tuple[assignment.Assignment, ...] = (),
    control: Control | None = None,
) -> Session:
    """Connect to all machines, provision them, and return the session.

    :param supply: The permitted ways to install missing tools on guests.
    :param runner: The runner of the event loop that the machines already use;
        None creates one.
    :param extra_assignments: The workloads that are also prepared, but not
        measured.
    :param control: The control machine; None without one.
    :raises MachineError: If a machine cannot be prepared; with its name.
    :raises WorkloadError: If a workload cannot be prepared.
    """
    ports.used_ports(assignments, len(stations))
    session = Session(
        assignments=tuple(assignments),
        stations=stations,
        peer=peer,
        progress=progress,
        runner=runner or asyncio.Runner(),
        owns_runner=runner is None,
        extra_assignments=extra_assignments,
        control=control,
    )
    try:
        session.runner.run(_make_ready(session, supply))
    except BaseException:
        session.close()
        raise
    return session


def check_others(
    assignments: collections.abc.Sequence[assignment.Assignment],
    peer: roles.Station | None,
    control: Control | None,
    progress: measure.Progress,
) -> None:
    """Connect to peer and control machine, and check their tools.

    A session does the same with all machines, when the guests have booted.

    :raises MachineError: If a machine does not answer, or has no such tool;
        with its name.
    """
    session = Session(
        assignments=tuple(assignments),
        stations=[],
        peer=peer,
        progress=progress,
        runner=asyncio.Runner(),
        control=control,
    )
    try:
        session.runner.run(_provision(session, provision.NO_SUPPLY))
    finally:
        session.close()


async def _make_ready(session: Session, supply: provision.Supply) -> None:
    """Check all stations, provision tools, and prepare the workloads."""
    await _provision(session, supply)
    await _report_leftovers(session)
    assignments = (*session.assignments, *session.extra_assignments)
    for line in requirements.describe_omissions(assignments, session.tools):
        session.progress(line)
    session.volumes = await volumes.attach(session.stations, assignments)
    session.facts = await measure.prepare(
        assignments, session.stations, session.peer, session.progress
    )
    if control := session.control:
        facts = await measure.prepare(
            [control.work], [control.station], session.peer, session.progress
        )
        session.facts[control.station.name] = facts[control.station.name]
    if any(assigned.drop_caches for assigned in session.assignments):
        await session.caches.check(session.stations)


async def _provision(session: Session, supply: provision.Supply) -> None:
    """Check all stations and their disk space, and provision their tools."""
    stations = session.everyone()
    session.progress(
        "checking " + ", ".join(station.name for station in stations)
    )
    fingerprints = await concurrency.wait_for_all(
        _read_fingerprint(station) for station in stations
    )
    session.fingerprints = {
        station.name: facts
        for station, facts in zip(stations, fingerprints, strict=True)
    }
    assignments = (*session.assignments, *session.extra_assignments)
    disk_space.check(session.stations, disk_space.find_need(assignments))
    if session.peer:
        disk_space.check(
            [session.peer], disk_space.find_peer_need(assignments)
        )
    session.tools = await requirements.ensure(
        assignments, session.stations, session.peer, supply=supply
    )
    if control := session.control:
        session.tools |= await requirements.ensure(
            [control.work], [control.station], None, supply=supply
        )


async def _report_leftovers(session: Session) -> None:
    """Report other runs' work directories on bare metal, peer and control.

    Those of running processes on this machine are not reported.
    """
    hosts = {
        station.machine: station
        for station in session.everyone()
        if station.role != "guest"
    }
    for machine, station in hosts.items():
        login = "--local" if machine.shares_clock else "--host USER@ADDRESS"
        if station.parent:
            login += f" --work-dir {shlex.quote(station.parent)}"
        for directory in await workfolder.find(machine, [station.parent]):
            option = ""
            if directory.state == "unknown":
                option = " --all, if the run has ended"
            if directory.state != "running":
                session.progress(
                    f"warning: {machine.name}: {directory.path} "
                    f"({directory.kib / 1024:.0f} MiB, "
                    f"{len(directory.processes)} processes) is from a run "
                    f"whose state is {directory.state}; to list and remove "
                    f"it: rally-vmperf cleanup {login}{option}"
                )


async def _read_fingerprint(station: roles.Station) -> documents.Facts:
    """Create the work directory; return the machine's fingerprint."""
    created = await workfolder.create(station.machine, station.parent)
    station.folder = created.path
    station.available_bytes = created.available_bytes
    return await fingerprint.collect(station.machine)
