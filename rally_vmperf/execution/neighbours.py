# SPDX-License-Identifier: Apache-2.0
"""Neighbours: guests that run another workload while others are measured."""

import asyncio
import collections.abc
import dataclasses
import typing as t

from rally_vmperf import json_schema
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import scripts
from rally_vmperf.workloads import base as workloads

#: JSON Schema of the argument of scenarios.
SCHEMA = json_schema.closed_mapping(
    {
        "guests": json_schema.integer(
            "Number of guests, the last ones, that are neighbours and not "
            "measured; per host in VMPerf.density.",
            minimum=1,
        ),
        "workload": json_schema.closed_mapping(
            assignment.WORKLOAD,
            "name",
            description="Workload that neighbours run repeatedly.",
        ),
    },
    *("guests", "workload"),
    type=["object", "null"],
)
#: Label that distinguishes the workload of neighbours from a measured one.
LABEL = "neighbour"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The neighbours in a task.

    :param guests: The number of guests, the last ones, that are neighbours.
    :param work: The assignment that they run.
    """

    guests: int
    work: assignment.Assignment

    def plain(self) -> dict[str, t.Any]:
        """Return the neighbours as a dict for records."""
        return {
            "guests": self.guests,
            "workload": self.work.workload.name,
            "arguments": self.work.arguments,
        }

    def for_vcpus(self, vcpus: int) -> "Neighbours":
        """Return a copy for guests with a number of vCPUs."""
        return dataclasses.replace(self, work=self.work.for_vcpus(vcpus))


def create_neighbours(
    argument: collections.abc.Mapping[str, t.Any] | None,
) -> Neighbours | None:
    """Return the neighbours of a task; None if it has none.

    :param argument: The argument of the scenario.
    :raises WorkloadError: If the workload is unknown, an argument is wrong, or
        the workload requires another guest.
    """
    if argument is None:
        return None
    document = {**argument["workload"], "label": LABEL}
    work = assignment.create_assignment(document)
    if "partner" in work.workload.needs(work.arguments):
        raise workloads.WorkloadError(
            f"neighbours: {work.workload.name} requires a partner guest, and "
            "neighbours have none; remove guest_to_guest"
        )
    return Neighbours(guests=argument["guests"], work=work)


@dataclasses.dataclass(kw_only=True)
class NeighbourLoad:
    """The jobs of neighbours during a condition.

    :param measured: The assignments that are measured meanwhile.
    :param stations: The stations of the neighbours.
    :param others: The number of the measured stations.
    :param settling: The seconds to wait for the load to build up.
    """

    work: assignment.Assignment
    measured: collections.abc.Sequence[assignment.Assignment]
    stations: collections.abc.Sequence[roles.Station]
    others: int
    peer: roles.Station | None
    settling: float = 2.0
    _jobs: dict[str, job.Job] = dataclasses.field(default_factory=dict)
    _servers: servers.Servers | None = None

    async def begin(self) -> dict[str, str]:
        """Start the workload on neighbours; return errors by station.

        :returns: Machine -> error.
        """
        seconds = estimate.get_longest_seconds(self.measured)
        self._servers = servers.Servers(
            title=self.work.title, peer=self.peer, seconds=seconds
        )
        errors = await self._collect_errors(
            self._start(station, endpoints, seconds)
            for station, endpoints in zip(
                self.stations, self._assign_endpoints(), strict=True
            )
        )
        await asyncio.sleep(self.settling)
        return errors

    async def end(self) -> dict[str, str]:
        """End the jobs, if there are any; return errors by station.

        :returns: The reasons for early ends of the workload, by neighbour.
        """
        jobs, self._jobs = self._jobs, {}
        errors = await self._collect_errors(
            self._stop(station, jobs[station.name])
            for station in self.stations
            if station.name in jobs
        )
        if self._servers is not None:
            await self._servers.close()
        return errors

    def _assign_endpoints(self) -> list[workloads.Endpoints]:
        """Return the endpoints of each neighbour, with ports of its own."""
        begin = ports.used_ports(self.measured, self.others).stop
        (allotment,) = ports.allocate([self.work], begin)
        return [
            allotment.connect(position, self.peer)
            for position in range(len(self.stations))
        ]

    async def _collect_errors(
        self,
        steps: collections.abc.Iterable[
            collections.abc.Coroutine[t.Any, t.Any, tuple[str, str]]
        ],
    ) -> dict[str, str]:
        """Run steps concurrently; return the errors by station name."""
        outcomes = await concurrency.wait_for_all(steps)
        return {name: error for name, error in outcomes if error}

    async def _start(
        self,
        station: roles.Station,
        endpoints: workloads.Endpoints,
        seconds: float,
    ) -> tuple[str, str]:
        """Start the workload; return the station's name and an error or ""."""
        assigned = self.work.for_endpoints(endpoints)
        argv: list[str] = []
        try:
            for command in assigned.workload.commands(
                assigned.arguments, endpoints
            ):
                argv += [str(len(command.argv)), *command.argv]
                if self._servers is not None:
                    await self._servers.hold(station, command, seconds)
            self._jobs[station.name] = started = job.Job(
                machine=station.machine,
                folder=station.folder_of(assigned.title),
                name=assigned.title,
                argv=scripts.argv("neighbour.bash", *argv),
                timeout=seconds,
                prefix=(*station.prefix, *station.tools),
            )
            await started.start()
        except (base.MachineError, workloads.WorkloadError) as error:
            return station.name, f"neighbour {station.name}: {error}"
        return station.name, ""

    async def _stop(
        self, station: roles.Station, started: job.Job
    ) -> tuple[str, str]:
        """End a job; return the station's name and an error or ""."""
        try:
            if await started.running():
                await started.cancel()
                return station.name, ""
            result = await started.finish()
            reason = base.last_line(result.stderr) or "it ended by itself"
        except base.MachineError as error:
            await started.give_up()
            reason = str(error)
        return station.name, (
            f"neighbour {station.name} did not run {self.work.workload.name} "
            f"throughout: {reason}"
        )


def create_load(
    neighbours: Neighbours,
    session: sessions.Session,
    names: collections.abc.Collection[str],
) -> NeighbourLoad:
    """Return the load of neighbours in a session.

    :param names: The names of the neighbours.
    """
    return NeighbourLoad(
        work=neighbours.work,
        measured=session.assignments,
        stations=[
            station for station in session.stations if station.name in names
        ],
        others=len(session.stations) - len(names),
        peer=session.peer,
    )
