"""Neighbours: guests that run another workload while others are measured."""

import asyncio
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers as servers_
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import scripts
from rally_vmperf.workloads import base as workloads

#: JSON Schema of the argument of scenarios.
SCHEMA: dict[str, t.Any] = {
    "type": ["object", "null"],
    "additionalProperties": False,
    "required": ["guests", "workload"],
    "properties": {
        "guests": {
            "type": "integer",
            "minimum": 1,
            "description": "How many guests, the last ones, are neighbours "
            "and not measured; of VMPerf.density on each host.",
        },
        "workload": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name"],
            "properties": assignment.WORKLOAD,
            "description": "What neighbours run, again and again.",
        },
    },
}
#: Tells the workload of neighbours from one that is measured.
LABEL = "neighbour"
#: Seconds beyond those of the measured commands after which neighbours end
#: by themselves: machines are looked at, rebooted, or slow.
_SLACK = 3600.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Neighbours:
    """What a task asks of neighbours.

    :param guests: how many of the guests they are, the last ones
    :param work: what they run
    :param names: of the guests that they are, once these have booted
    """

    guests: int
    work: assignment.Assignment
    names: tuple[str, ...] = ()

    def plain(self) -> dict[str, t.Any]:
        """Return it for records."""
        return {
            "guests": self.guests,
            "workload": self.work.workload.name,
            "arguments": self.work.arguments,
        }


def of_argument(
    given: collections.abc.Mapping[str, t.Any] | None,
) -> Neighbours | None:
    """Return the neighbours of a task, None for one without.

    :param given: the argument of the scenario
    :raises WorkloadError: for an unknown workload, a wrong argument, or one
        that needs another guest
    """
    if given is None:
        return None
    (work,) = assignment.assign([{**given["workload"], "label": LABEL}])
    if "partner" in work.workload.needs(work.arguments):
        raise workloads.WorkloadError(
            f"neighbours: {work.workload.name} needs a partner guest, and "
            "neighbours have none; leave guest_to_guest out"
        )
    return Neighbours(guests=given["guests"], work=work)


@dataclasses.dataclass(kw_only=True)
class Load:
    """The jobs of neighbours, between the begin and the end of a condition.

    :param measured: what is measured meanwhile
    :param stations: the neighbours
    :param others: number of the measured stations
    :param settling: seconds that they have to get to work
    """

    work: assignment.Assignment
    measured: collections.abc.Sequence[assignment.Assignment]
    stations: collections.abc.Sequence[stations_.Station]
    others: int
    peer: stations_.Station | None
    settling: float = 2.0
    _jobs: dict[str, job.Job] = dataclasses.field(default_factory=dict)
    _servers: servers_.Servers | None = None

    async def begin(self) -> dict[str, str]:
        """Have all neighbours run their workload until ``end``.

        :returns: machine -> why it does not
        """
        seconds = _SLACK + sum(map(_longest, self.measured))
        self._servers = servers_.Servers(
            title=self.work.title, peer=self.peer, seconds=seconds
        )
        trouble = await self._each(
            self._start(station, ends, seconds)
            for station, ends in zip(self.stations, self._ends(), strict=True)
        )
        await asyncio.sleep(self.settling)
        return trouble

    async def end(self) -> dict[str, str]:
        """End what runs; harmless if nothing does.

        :returns: neighbour -> why it did not run its workload throughout
        """
        jobs, self._jobs = self._jobs, {}
        trouble = await self._each(
            self._stop(station, jobs[station.name])
            for station in self.stations
            if station.name in jobs
        )
        if self._servers is not None:
            await self._servers.close()
        return trouble

    def _ends(self) -> collections.abc.Iterator[workloads.Ends]:
        """Yield the other ends of each; no measured machine has its ports."""
        begin = ports.used(self.measured, self.others).stop
        (allotment,) = ports.allot([self.work], begin)
        for place in range(len(self.stations)):
            yield workloads.Ends(
                peer=self.peer.address if self.peer else "",
                partner="",
                own_ports=allotment.own(place),
                shared_ports=allotment.shared,
            )

    async def _each(
        self,
        steps: collections.abc.Iterable[
            collections.abc.Coroutine[t.Any, t.Any, tuple[str, str]]
        ],
    ) -> dict[str, str]:
        found = await concurrency.wait_for_all(steps)
        return {name: why for name, why in found if why}

    async def _start(
        self,
        station: stations_.Station,
        ends: workloads.Ends,
        seconds: float,
    ) -> tuple[str, str]:
        one = self.work.narrowed(ends)
        words: list[str] = []
        try:
            for command in one.workload.commands(one.arguments, ends):
                words += [str(len(command.argv)), *command.argv]
                if self._servers is not None:
                    await self._servers.hold(station, command, seconds)
            self._jobs[station.name] = started = job.Job(
                machine=station.machine,
                folder=station.folder_of(one.title),
                name=one.title,
                argv=scripts.argv("neighbour.bash", *words),
                timeout=seconds,
                prefix=(*station.prefix, *station.tools),
            )
            await started.start()
        except (base.MachineError, workloads.WorkloadError) as error:
            return station.name, f"neighbour {station.name}: {error}"
        return station.name, ""

    async def _stop(
        self, station: stations_.Station, started: job.Job
    ) -> tuple[str, str]:
        """End a job that is still at work; one that is not has failed."""
        try:
            if await started.running():
                await started.cancel()
                return station.name, ""
            result = await started.finish()
            why = base.last_line(result.stderr) or "it ended by itself"
        except base.MachineError as error:
            await started.give_up()
            why = str(error)
        return station.name, (
            f"neighbour {station.name} did not run {self.work.workload.name} "
            f"throughout: {why}"
        )


def _longest(one: assignment.Assignment) -> float:
    """Return the seconds that a measured workload takes at most."""
    return sum(
        one.cooldown + 2 * command.timeout
        for command in estimate.commands(one)
    )
