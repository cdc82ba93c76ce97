"""A session: machines are made ready once and measured repeatedly.

A session holds the connections, so that a repetition costs no new ones.  It
is synchronous on the outside and serves many machines at once on the inside.
"""

import asyncio
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import caches as caches_
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import workfolder
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.measurement import finding


@dataclasses.dataclass(kw_only=True)
class Session:
    """Stations with what they need to run the workloads.

    Use ``open_session`` to make one.

    :param beside: workloads that are prepared, and that others run
    :param fingerprints: by station name
    :param tools: by station name, then by command
    :param facts: by station name, then by workload title
    :param last_look: by station name, from the end of the last repetition
    """

    assignments: tuple[assignment.Assignment, ...]
    stations: list[stations_.Station]
    peer: stations_.Station | None
    progress: measure.Progress
    runner: asyncio.Runner
    owns_runner: bool = True
    beside: tuple[assignment.Assignment, ...] = ()
    fingerprints: dict[str, dict[str, t.Any]] = dataclasses.field(
        default_factory=dict
    )
    tools: dict[str, dict[str, provision.ToolFacts]] = dataclasses.field(
        default_factory=dict
    )
    facts: measure.Facts = dataclasses.field(default_factory=dict)
    last_look: dict[str, health.Look] = dataclasses.field(default_factory=dict)
    _before: dict[str, health.Look] = dataclasses.field(default_factory=dict)
    caches: caches_.Caches = dataclasses.field(default_factory=caches_.Caches)

    def everyone(self) -> list[stations_.Station]:
        """Return all stations, the peer included."""
        return [*self.stations, *([self.peer] if self.peer else [])]

    def repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None = None,
        on_measured: collections.abc.Callable[[], object] = lambda: None,
        assignments: collections.abc.Sequence[assignment.Assignment]
        | None = None,
    ) -> collections.abc.Sequence[finding.Finding]:
        """Run every workload once; what was measured goes into ``result``.

        ``result`` keeps what it has when this is interrupted.

        :param names: of the stations that take part, in the order in which
            they pair up; all by default
        :param on_measured: called when all workloads have run, before the
            machines are looked at once more
        :param assignments: those of the workloads to run; all by default
        :returns: what was seen on the machines meanwhile
        """
        return self.runner.run(
            self._repeat(result, names, on_measured, assignments)
        )

    def silent(self, names: collections.abc.Iterable[str]) -> frozenset[str]:
        """Return which machines of the last repetition no longer answer."""
        return frozenset(names) - self.last_look.keys()

    def look_again(
        self, names: collections.abc.Container[str]
    ) -> collections.abc.Sequence[finding.Finding]:
        """Look once more at machines that were silent after a repetition.

        :returns: what happened to those that answer now
        """
        stations = [one for one in self.stations if one.name in names]
        after = self.runner.run(health.look(stations))
        self.last_look |= after
        return health.compare(self._before, after)

    def close_connections(self, names: collections.abc.Container[str]) -> None:
        """Close the connections to stations; their next use opens new ones.

        A station that falls silent would break them.
        """
        self.runner.run(self._close_connections(names))

    def forget(self, names: collections.abc.Iterable[str]) -> None:
        """Forget the last look at stations that something else has changed."""
        for name in names:
            self.last_look.pop(name, None)

    async def _close_connections(
        self, names: collections.abc.Container[str]
    ) -> None:
        stations = [
            station for station in self.stations if station.name in names
        ]
        await asyncio.gather(
            *(station.machine.close() for station in stations)
        )

    async def _repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None,
        on_measured: collections.abc.Callable[[], object],
        assignments: collections.abc.Sequence[assignment.Assignment] | None,
    ) -> list[finding.Finding]:
        stations = self.stations
        if names is not None:
            by_name = {station.name: station for station in stations}
            stations = [by_name[name] for name in names]
            for station in stations:
                station.partner = None
            stations_.pair_up(stations)
        before = self._before = await self._look_before(stations)
        found = await measure.repetition(
            assignments or self.assignments,
            stations,
            self.peer,
            self.progress,
            result,
            lost={station.name for station in stations} - before.keys(),
            caches=self.caches,
        )
        on_measured()
        after = await health.look(stations)
        self.forget(station.name for station in stations)
        self.last_look |= after
        return found + health.compare(before, after)

    async def _look_before(
        self, stations: list[stations_.Station]
    ) -> dict[str, health.Look]:
        """Return the last look at each machine, a new one where it failed.

        Nothing that happens to a machine between repetitions is missed.
        """
        unseen = [one for one in stations if one.name not in self.last_look]
        return {**self.last_look, **(await health.look(unseen))}

    def describe(self, name: str) -> dict[str, t.Any]:
        """Return a station's fingerprint and tools as plain documents."""
        return {
            "fingerprint": self.fingerprints[name],
            "tools": {
                command: dataclasses.asdict(tool)
                for command, tool in self.tools[name].items()
            },
        }

    def close(self) -> None:
        """Remove our folders from lasting machines; leave the connections.

        Guests are deleted, so theirs stay.
        """
        try:
            self.runner.run(self._close())
        finally:
            if self.owns_runner:
                self.runner.close()

    async def _close(self) -> None:
        await asyncio.gather(*(self._leave(one) for one in self.everyone()))

    async def _leave(self, station: stations_.Station) -> None:
        """Remove our folder; report it where that fails."""
        try:
            if station.folder and station.role != "guest":
                await workfolder.remove(station.machine, station.folder)
        except base.MachineError as error:
            self.progress(
                f"{station.folder} is left on {station.name}: {error}"
            )
        finally:
            await station.machine.close()


def open_session(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: list[stations_.Station],
    peer: stations_.Station | None,
    *,
    supply: provision.Supply,
    progress: measure.Progress,
    runner: asyncio.Runner | None = None,
    beside: tuple[assignment.Assignment, ...] = (),
) -> Session:
    """Reach all machines, look at them, provision and prepare them.

    :param supply: how tools that guests lack may be installed
    :param runner: whose event loop the machines already use, if they do
    :param beside: workloads that are prepared as well, and that others run
    :raises MachineError: naming the machine that cannot be made ready
    :raises WorkloadError: when a workload cannot be prepared
    """
    ports.used(assignments, len(stations))
    session = Session(
        assignments=tuple(assignments),
        stations=stations,
        peer=peer,
        progress=progress,
        runner=runner or asyncio.Runner(),
        owns_runner=runner is None,
        beside=beside,
    )
    try:
        session.runner.run(_make_ready(session, supply))
    except BaseException:
        session.close()
        raise
    return session


async def _make_ready(session: Session, supply: provision.Supply) -> None:
    everyone = session.everyone()
    session.progress("looking at " + ", ".join(one.name for one in everyone))
    seen = await concurrency.wait_for_all(
        _look(station) for station in everyone
    )
    session.fingerprints = {
        station.name: facts
        for station, facts in zip(everyone, seen, strict=True)
    }
    every = (*session.assignments, *session.beside)
    session.tools = await requirements.ensure(
        every, session.stations, session.peer, supply=supply
    )
    session.facts = await measure.prepare(
        every, session.stations, session.peer, session.progress
    )
    if any(one.drop_caches for one in session.assignments):
        await session.caches.check(session.stations)


async def _look(station: stations_.Station) -> dict[str, t.Any]:
    """Return a machine's fingerprint, having a folder made there."""
    station.folder = await workfolder.make(station.machine, station.parent)
    return await fingerprint.take(station.machine)
