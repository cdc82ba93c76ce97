"""A station's part in a command that several begin together."""

import dataclasses
import time

from rally_vmperf.execution import barrier
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import job
from rally_vmperf.measurement import course as courses
from rally_vmperf.workloads import base as workloads


@dataclasses.dataclass(kw_only=True)
class Part:
    """Arms the command, begins it with the others, and keeps the load up.

    :param folder: the workload's folder on the station
    :param ahead: seconds that the station's clock is ahead of ours
    :param outcome: what the counted run left, once it is there, without what
        it printed: many machines' outputs are not held until the end
    :param course: how much of its work the counted run had done when, if it
        tells
    :param kept_up_until: until when the load was kept up, by the station's
        clock
    """

    place: stations.Station
    command: workloads.Command
    folder: str
    peer: stations.Station | None
    meeting: barrier.Meeting
    ahead: float
    outcome: workloads.Outcome | None = None
    course: courses.Course | None = None
    kept_up_until: float | None = None
    _job: job.Job | None = None

    async def run(self) -> workloads.Outcome:
        """Begin the command when all others do; return what it left.

        :raises MachineError: when a machine cannot do it
        """
        own = commands.job_of(self.place, self.command, self.folder)
        async with commands.serving(
            self.place, self.command, self.peer, 2 * barrier.PATIENCE
        ):
            begun = time.monotonic()
            await own.arm(
                self.place.spent, keep_up=self.command.bound == "size"
            )
            self._job = own
            instant = await self.meeting.ready(
                self.place.name, time.monotonic() - begun
            )
            result = await own.release(instant + self.ahead)
        outcome = commands.outcome(result)
        self.outcome = dataclasses.replace(outcome, stdout="", stderr="")
        return outcome

    async def settle(self) -> None:
        """Keep the load up until all others are done; leave nothing running.

        :raises MachineError: when the machine cannot be told to stop
        """
        try:
            if self.outcome is not None and self._job is not None:
                self.place.spent.append(self._job.place)
                await self._keep_up(self._job)
                self._job = None
        finally:
            self.meeting.leave(self.place.name)
            if self._job is not None:
                await self._job.give_up()

    async def _keep_up(self, own: job.Job) -> None:
        if self.command.bound == "size":
            await self.meeting.done(self.place.name)
            self.kept_up_until = await own.enough()
