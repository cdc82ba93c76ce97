"""Machines made ready once, then measured again and again.

A session holds the connections, so that a repetition costs no new ones.  It
is synchronous on the outside and serves many machines at once on the inside.
"""

import asyncio
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import concurrency
from rally_vmperf.execution import health
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import requirements
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import provision
from rally_vmperf.machines import workfolder
from rally_vmperf.measurement import finding


@dataclasses.dataclass(kw_only=True)
class Session:
    """Stations with what they need to run the workloads.

    Use ``open_session`` to make one.

    :param fingerprints: by station name
    :param tools: by station name, then by command
    :param facts: by station name, then by workload title
    :param last_look: by station name, from the end of the last repetition
    """

    assignments: tuple[assignment.Assignment, ...]
    places: list[stations.Station]
    peer: stations.Station | None
    progress: measure.Progress
    runner: asyncio.Runner
    owns_runner: bool = True
    fingerprints: dict[str, dict[str, t.Any]] = dataclasses.field(
        default_factory=dict
    )
    tools: dict[str, dict[str, provision.ToolFacts]] = dataclasses.field(
        default_factory=dict
    )
    facts: measure.Facts = dataclasses.field(default_factory=dict)
    last_look: dict[str, health.Look] = dataclasses.field(default_factory=dict)

    def everyone(self) -> list[stations.Station]:
        """Return all stations, the peer included."""
        return [*self.places, *([self.peer] if self.peer else [])]

    def repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None = None,
        on_measured: collections.abc.Callable[[], object] = lambda: None,
    ) -> collections.abc.Sequence[finding.Finding]:
        """Run every workload once; what was measured goes into ``result``.

        ``result`` keeps what it has when this is interrupted.

        :param names: of the stations that take part, in the order in which
            they pair up; all by default
        :param on_measured: called when all workloads have run, before the
            machines are looked at once more
        :returns: what was seen on the machines meanwhile
        """
        return self.runner.run(self._repeat(result, names, on_measured))

    def silent(self, names: collections.abc.Iterable[str]) -> frozenset[str]:
        """Return who of those that measured last answered no more."""
        return frozenset(names) - self.last_look.keys()

    def hang_up(self, names: collections.abc.Container[str]) -> None:
        """Close the connections to stations; their next use opens new ones.

        A station that falls silent would break them.
        """
        self.runner.run(self._hang_up(names))

    def forget(self, names: collections.abc.Iterable[str]) -> None:
        """Forget how stations were seen last, where others changed them."""
        for name in names:
            self.last_look.pop(name, None)

    async def _hang_up(self, names: collections.abc.Container[str]) -> None:
        places = [place for place in self.places if place.name in names]
        await asyncio.gather(*(place.machine.close() for place in places))

    async def _repeat(
        self,
        result: measured.Measured,
        names: collections.abc.Collection[str] | None,
        on_measured: collections.abc.Callable[[], object],
    ) -> list[finding.Finding]:
        places = self.places
        if names is not None:
            by_name = {place.name: place for place in places}
            places = [by_name[name] for name in names]
            for place in places:
                place.partner = None
            stations.pair_up(places)
        before = await self._look_before(places)
        found = await measure.repetition(
            self.assignments,
            places,
            self.peer,
            self.progress,
            result,
            lost={place.name for place in places} - before.keys(),
        )
        on_measured()
        after = await health.look(places)
        self.forget(place.name for place in places)
        self.last_look |= after
        return found + health.compare(before, after)

    async def _look_before(
        self, places: list[stations.Station]
    ) -> dict[str, health.Look]:
        """Return the last look at each machine, a new one where it failed.

        So nothing that befalls a machine between repetitions is overlooked.
        """
        unseen = [p for p in places if p.name not in self.last_look]
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

        Guests are thrown away whole, so theirs stay.
        """
        try:
            self.runner.run(self._close())
        finally:
            if self.owns_runner:
                self.runner.close()

    async def _close(self) -> None:
        await asyncio.gather(*(self._leave(p) for p in self.everyone()))

    async def _leave(self, place: stations.Station) -> None:
        """Remove our folder and go; say so where that cannot be done."""
        try:
            if place.folder and place.role != "guest":
                await workfolder.remove(place.machine, place.folder)
        except base.MachineError as error:
            self.progress(f"{place.folder} is left on {place.name}: {error}")
        finally:
            await place.machine.close()


def open_session(
    assignments: collections.abc.Sequence[assignment.Assignment],
    places: list[stations.Station],
    peer: stations.Station | None,
    *,
    supply: provision.Supply,
    progress: measure.Progress,
    runner: asyncio.Runner | None = None,
) -> Session:
    """Reach all machines, look at them, provision and prepare them.

    :param supply: how tools that guests lack may come there
    :param runner: whose event loop the machines already use, if they do
    :raises MachineError: naming the machine that cannot be made ready
    :raises WorkloadError: when a workload cannot be prepared
    """
    session = Session(
        assignments=tuple(assignments),
        places=places,
        peer=peer,
        progress=progress,
        runner=runner or asyncio.Runner(),
        owns_runner=runner is None,
    )
    try:
        session.runner.run(_make_ready(session, supply))
    except BaseException:
        session.close()
        raise
    return session


async def _make_ready(session: Session, supply: provision.Supply) -> None:
    everyone = session.everyone()
    session.progress("looking at " + ", ".join(p.name for p in everyone))
    seen = await concurrency.wait_for_all(_look(place) for place in everyone)
    session.fingerprints = {
        place.name: facts for place, facts in zip(everyone, seen, strict=True)
    }
    session.tools = await requirements.ensure(
        session.assignments, session.places, session.peer, supply=supply
    )
    session.facts = await measure.prepare(
        session.assignments, session.places, session.progress
    )


async def _look(place: stations.Station) -> dict[str, t.Any]:
    """Return a machine's fingerprint, having a folder made there."""
    place.folder = await workfolder.make(place.machine, place.parent)
    return await fingerprint.take(place.machine)
