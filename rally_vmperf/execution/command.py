"""One command of a workload on one station, alone or begun with others."""

import dataclasses
import time

from rally_vmperf.execution import barrier
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import job
from rally_vmperf.machines import job_result
from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.workloads import base as workloads


async def run(
    station: stations_.Station,
    command: workloads.Command,
    folder: str,
) -> workloads.Outcome:
    """Run a command to its end and return what it left.

    :param folder: the workload's folder on the station
    :raises MachineError: when a machine cannot do it
    """
    return outcome(
        await job_of(station, command, folder).run(station.finished)
    )


def job_of(
    station: stations_.Station, command: workloads.Command, folder: str
) -> job.Job:
    """Return the job of a command, which is not begun."""
    return job.Job(
        machine=station.machine,
        folder=folder,
        name=command.name,
        argv=command.argv,
        timeout=command.timeout,
        output_limit=command.output_limit,
        prefix=(*station.prefix, *station.tools),
    )


def outcome(result: job_result.JobResult) -> workloads.Outcome:
    """Return what a command's job left, as workloads read it."""
    return workloads.Outcome(**dataclasses.asdict(result))


@dataclasses.dataclass(kw_only=True)
class Part:
    """Arms the command, begins it with the others, and keeps the load up.

    :param folder: the workload's folder on the station
    :param clock_offset: seconds that the station's clock is ahead of ours
    :param outcome: what the counted run left, once it is there, without what
        it printed: many machines' outputs are not held until the end
    :param course: how much of its work the counted run had done when, if it
        tells
    :param kept_up_until: until when the load was kept up, by the station's
        clock
    """

    station: stations_.Station
    command: workloads.Command
    folder: str
    servers: servers.Servers
    meeting: barrier.Meeting
    clock_offset: float
    outcome: workloads.Outcome | None = None
    course: courses.Course | None = None
    kept_up_until: float | None = None
    _job: job.Job | None = None

    async def run(self) -> workloads.Outcome:
        """Begin the command when all others do; return what it left.

        :raises MachineError: when a machine cannot do it
        """
        own = job_of(self.station, self.command, self.folder)

        async def work() -> workloads.Outcome:
            begun = time.monotonic()
            await own.arm(
                self.station.finished, keep_up=self.command.bound == "size"
            )
            self._job = own
            instant = await self.meeting.ready(
                self.station.name, time.monotonic() - begun
            )
            return outcome(await own.release(instant + self.clock_offset))

        given = await self.servers.serve(
            self.station, self.command, work, 2 * barrier.PATIENCE
        )
        self.outcome = dataclasses.replace(given, stdout="", stderr="")
        return given

    async def settle(self) -> None:
        """Keep the load up until all others are done; leave nothing running.

        :raises MachineError: when the machine cannot be told to stop
        """
        try:
            if self.outcome is not None and self._job is not None:
                self.station.finished.append(self._job.path)
                await self._keep_up(self._job)
                self._job = None
        finally:
            self.meeting.leave(self.station.name)
            if self._job is not None:
                await self._job.give_up()

    async def _keep_up(self, own: job.Job) -> None:
        if self.command.bound == "size":
            await self.meeting.done(self.station.name)
            self.kept_up_until = await own.end_load()
