# SPDX-License-Identifier: Apache-2.0
"""One command of a workload on a station: alone, or behind a barrier."""

import asyncio
import collections.abc
import dataclasses
import time

from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import curves
from rally_vmperf.workloads import base as workloads

#: Seconds to wait for the other machines after the first one is ready.
PATIENCE = 120.0
#: The delay of the start, as a multiple of the longest preparation: the
#: release is a single and smaller request.
_MARGIN = 1.5
#: The shortest and the longest delay of the start in seconds.
_SOONEST, _LATEST = 0.1, 30.0


class StartBarrier:
    """A barrier at which machines start and end a command together.

    A machine that leaves the barrier does not delay the other machines.

    :param names: The names of the machines that participate.
    """

    def __init__(self, names: collections.abc.Iterable[str]) -> None:
        self._absent = set(names)
        self._working = set(self._absent)
        self._slowest = 0.0
        self._impatience: asyncio.TimerHandle | None = None
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._instant = 0.0

    async def wait_for_start(self, name: str, seconds: float) -> float:
        """Wait until all machines are ready; return the Unix start time.

        :param name: The name of the machine that is ready.
        :param seconds: The duration of its preparation in seconds.
        :returns: The start time on the clock of the controller, in seconds.
        :raises MachineError: If the other machines started without it.
        """
        if self._begun.is_set():
            raise base.MachineError(
                f"{name} was not ready {PATIENCE:.0f} s after the first "
                "machine, so the other machines started without it; check "
                "its load"
            )
        if self._impatience is None:
            loop = asyncio.get_running_loop()
            self._impatience = loop.call_later(PATIENCE, self._begin)
        self._slowest = max(self._slowest, seconds)
        self._absent.discard(name)
        self._update_events()
        await self._begun.wait()
        return self._instant

    async def wait_for_end(self, name: str) -> None:
        """Wait until all machines have finished their measured work."""
        self._working.discard(name)
        self._update_events()
        await self._over.wait()

    def leave(self, name: str) -> None:
        """Remove a machine from the barrier; repeated calls have no effect."""
        self._absent.discard(name)
        self._working.discard(name)
        self._update_events()

    def _update_events(self) -> None:
        """Set the start and end events if no machine is awaited any more."""
        if not self._absent:
            self._begin()
        if not self._working:
            self._over.set()

    def _begin(self) -> None:
        """Set the start time, and let the ready machines start."""
        if self._begun.is_set():
            return
        if self._impatience is not None:
            self._impatience.cancel()
        self._working -= self._absent
        delay = min(max(self._slowest * _MARGIN, _SOONEST), _LATEST)
        self._instant = time.time() + delay
        self._begun.set()
        self._update_events()


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
    start_barrier: StartBarrier
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
            self.station, self.command, work, 2 * PATIENCE
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
