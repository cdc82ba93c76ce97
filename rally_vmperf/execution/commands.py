# SPDX-License-Identifier: Apache-2.0
"""One command of a workload on one station, alone or synchronised."""

import dataclasses
import time

from rally_vmperf.execution import barrier
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import job
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import curves
from rally_vmperf.workloads import base as workloads


async def run(
    station: roles.Station, command: workloads.Command, folder: str
) -> command_result.CommandResult:
    """Run a command to its end and return its result.

    :param folder: The directory of the workload on the station.
    :raises MachineError: If the machine cannot run the command.
    """
    command_job = create_job(station, command, folder)
    try:
        return await command_job.run(station.finished)
    finally:
        station.discard_later(folder, command.temporary_files)


def create_job(
    station: roles.Station, command: workloads.Command, folder: str
) -> job.Job:
    """Return the job of a command, without starting it."""
    return job.Job(
        machine=station.machine,
        folder=folder,
        name=command.name,
        argv=command.argv,
        timeout=command.timeout,
        output_limit=command.output_limit,
        prefix=(*station.prefix, *station.tools),
    )


@dataclasses.dataclass(kw_only=True)
class SynchronisedCommand:
    """A command that several machines start at the same time.

    :param folder: The directory of the workload on the station.
    :param clock_offset: The seconds by which the clock of the station is ahead
        of the controller's.
    :param outcome: The result of the measured run, without its output, to
        limit memory; None until it is available.
    :param progress: The progress of the measured run over time, if it is
        reported.
    :param kept_up_until: The time at which the continued load ended, on the
        clock of the station.
    """

    station: roles.Station
    command: workloads.Command
    folder: str
    servers: servers.Servers
    start_barrier: barrier.StartBarrier
    clock_offset: float
    outcome: command_result.CommandResult | None = None
    progress: curves.ProgressCurve | None = None
    kept_up_until: float | None = None
    _job: job.Job | None = None

    async def run(self) -> command_result.CommandResult:
        """Start the command at the barrier, and return its result.

        :raises MachineError: If the machine cannot run the command.
        """
        command_job = create_job(self.station, self.command, self.folder)

        async def work() -> command_result.CommandResult:
            """Arm the job, start it at the barrier, and return its result."""
            started_at = time.monotonic()
            await command_job.arm(
                self.station.finished, keep_up=self.command.bound == "size"
            )
            self._job = command_job
            start_time = await self.start_barrier.wait_for_start(
                self.station.name, time.monotonic() - started_at
            )
            return await command_job.release(start_time + self.clock_offset)

        result = await self.servers.serve(
            self.station, self.command, work, 2 * barrier.PATIENCE
        )
        self.outcome = result.without_output()
        return result

    async def finish(self) -> None:
        """Keep the load up until all machines have finished, then stop it.

        :raises MachineError: If the machine cannot stop the command.
        """
        try:
            if self.outcome is not None and self._job is not None:
                self.station.finished.append(self._job.path)
                await self._keep_up(self._job)
                self._job = None
        finally:
            self.station.discard_later(
                self.folder, self.command.temporary_files
            )
            self.start_barrier.leave(self.station.name)
            if self._job is not None:
                await self._job.give_up()

    async def _keep_up(self, command_job: job.Job) -> None:
        """Keep a job of limited size loaded until all machines have ended."""
        if self.command.bound == "size":
            await self.start_barrier.wait_for_end(self.station.name)
            self.kept_up_until = await command_job.end_load()
