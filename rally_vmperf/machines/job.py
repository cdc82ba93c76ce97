"""Long jobs, which a dropped connection does not end.

A supervisor on the machine (scripts/job.bash) runs the command in a process
group of its own, takes the times as close around it as can be, bounds its
output and its time, and writes its account last.  So a controller that dies
leaves nothing running for ever, and one that lost the connection finds a
complete result.

While it runs the machine is left alone: one waiting command sleeps in a read
of a FIFO that the kernel ends with the supervisor.  No polling, no process
started, which matters where guests are emulated and ten times slower; the
wait is renewed once a minute, or when the connection had to be.
"""

import asyncio
import collections.abc
import contextlib
import time

from rally_vmperf.machines import base
from rally_vmperf.machines import job_asking
from rally_vmperf.machines import job_handle
from rally_vmperf.machines import job_result

#: Seconds one waiting command lasts.
HOLD = 60.0
#: Seconds that a machine which answers has beyond the time a job may take.
PATIENCE = 120.0
#: Seconds for one request: more than a connection needs to notice that the
#: machine is gone, so that a time-out means a slow machine.
REQUEST = 90.0
#: What the script says of a job: gone without a result, not yet ended.
LOST, RUNNING = 3, 75


async def start(
    machine: base.Machine,
    folder: str,
    name: str,
    argv: collections.abc.Sequence[str],
    *,
    timeout: float,
    output_limit: int = 1 << 20,
    prefix: collections.abc.Sequence[str] = (),
) -> job_handle.Handle:
    """Start a command in a folder, which is made, and return at once.

    :param timeout: seconds after which the machine itself ends it
    :param output_limit: bytes per stream; a program that prints more is ended
    :param prefix: command line put before the job's supervisor, for holding
        it to a shape; its own start-up is not measured
    :raises MachineError: when it cannot be started
    :raises Unreachable: when the machine is away for a minute
    """
    handle = job_handle.new(folder, name, timeout, output_limit)
    words = job_handle.words(handle, folder, argv, prefix)
    done = await job_asking.persist(
        machine, name, ("start", *words), REQUEST, 0, PATIENCE
    )
    if done.exit_status:
        raise job_result.not_started(machine, name, folder, done)
    return handle


async def run(
    machine: base.Machine,
    folder: str,
    name: str,
    argv: collections.abc.Sequence[str],
    *,
    timeout: float,
    output_limit: int = 1 << 20,
    prefix: collections.abc.Sequence[str] = (),
    spent: list[str],
) -> job_result.JobResult:
    """Start a command, wait for its end and return what it left.

    It costs one request, where the connection holds and the job is short:
    each costs an emulated machine a fifth of a second.

    :param spent: places of earlier jobs, cleared away before this one
        starts; then this one's, for the next
    :raises MachineError: as ``start`` and ``finish`` do; the job is ended
    """
    handle = job_handle.new(folder, name, timeout, output_limit)
    words = job_handle.words(handle, folder, argv, prefix)
    hold = min(HOLD, timeout + PATIENCE)
    try:
        done = await job_asking.persist(
            machine,
            name,
            ("run", f"{hold:.3f}", str(len(spent)), *spent, *words),
            HOLD + REQUEST,
            output_limit,
            HOLD + PATIENCE,
        )
        if done.exit_status not in (0, LOST, RUNNING):
            raise job_result.not_started(machine, name, folder, done)
        if done.exit_status == RUNNING:
            done = await wait(machine, handle, ("await", handle.place))
        result = job_result.read(machine, handle, done)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await asyncio.shield(cancel(machine, handle))
        raise
    spent[:] = [handle.place]
    return result


async def finish(
    machine: base.Machine, handle: job_handle.Handle
) -> job_result.JobResult:
    """Wait for a job's end, collect what it left, and clear it away.

    :raises TimedOut: when the machine had to end it
    :raises OutputTooLong: likewise
    :raises Unreachable: when the machine is away for a minute
    """
    done = await wait(machine, handle, ("await", handle.place))
    if not done.exit_status:
        # All is here: a machine that goes away now takes nothing with it.
        with contextlib.suppress(base.MachineError):
            await job_asking.ask(machine, ("discard", handle.place))
    return job_result.read(machine, handle, done)


async def cancel(machine: base.Machine, handle: job_handle.Handle) -> None:
    """End a job with everything it started, and clear it away."""
    await job_asking.ask(machine, ("cancel", handle.place))


async def wait(
    machine: base.Machine,
    handle: job_handle.Handle,
    words: tuple[str, ...],
) -> base.Completed:
    """Wait, once more and once more, until a job has ended.

    :param words: what is asked for, ahead of for how long
    """
    deadline = time.monotonic() + handle.timeout + PATIENCE
    while True:
        left = max(deadline - time.monotonic(), 1)
        done = await job_asking.persist(
            machine,
            handle.name,
            (*words, f"{min(HOLD, left):.3f}"),
            HOLD + REQUEST,
            handle.output_limit,
            left,
        )
        if done.exit_status != RUNNING:
            return done
        if time.monotonic() > deadline:
            raise base.timed_out(machine.name, handle.name, handle.timeout)
