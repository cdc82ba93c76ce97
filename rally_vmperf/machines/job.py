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
import dataclasses
import time

from rally_vmperf.machines import account
from rally_vmperf.machines import base
from rally_vmperf.machines import job_asking
from rally_vmperf.machines import job_handle

#: Seconds one waiting command lasts.
HOLD = 60.0
#: Seconds that a machine which answers has beyond the time a job may take.
_PATIENCE = 120.0
#: Seconds for one request: more than a connection needs to notice that the
#: machine is gone, so that a time-out means a slow machine.
_REQUEST = 90.0
#: What the script says of a job: gone without a result, not yet ended.
_LOST, _RUNNING = 3, 75


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobResult:
    """A finished job and the machine's own account of it.

    :param exit_status: 128 + signal when a signal ended it
    :param seconds: wall time on the machine's clock
    :param started: seconds since the epoch on the machine's clock
    :param cpu_seconds: user and system time of it and its children
    """

    name: str
    exit_status: int
    seconds: float
    started: float
    ended: float
    cpu_seconds: float
    stdout: str
    stderr: str


async def start(
    machine: base.Machine,
    folder: str,
    name: str,
    argv: collections.abc.Sequence[str],
    *,
    timeout: float,
    output_limit: int = 1 << 20,
    prefix: collections.abc.Sequence[str] = (),
    armed: bool = False,
) -> job_handle.Handle:
    """Start a command in a folder, which is made, and return at once.

    :param timeout: seconds after which the machine itself ends it
    :param output_limit: bytes per stream; a program that prints more is ended
    :param prefix: command line put before the job's supervisor, for holding
        it to a shape; its own start-up is not measured
    :param armed: have everything ready, and begin only on ``release``
    :raises MachineError: when it cannot be started
    :raises Unreachable: when the machine is away for a minute
    """
    handle = job_handle.new(folder, name, timeout, output_limit)
    words = job_handle.words(handle, folder, argv, prefix, armed=armed)
    done = await job_asking.persist(
        machine, name, ("start", *words), _REQUEST, 0, _PATIENCE
    )
    if done.exit_status:
        raise _not_started(machine, name, folder, done)
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
) -> JobResult:
    """Start a command, wait for its end and return what it left.

    It costs one request, where the connection holds and the job is short:
    each costs an emulated machine a fifth of a second.

    :param spent: places of earlier jobs, cleared away before this one
        starts; then this one's, for the next
    :raises MachineError: as ``start`` and ``finish`` do; the job is ended
    """
    handle = job_handle.new(folder, name, timeout, output_limit)
    words = job_handle.words(handle, folder, argv, prefix, armed=False)
    hold = min(HOLD, timeout + _PATIENCE)
    try:
        done = await job_asking.persist(
            machine,
            name,
            ("run", f"{hold:.3f}", str(len(spent)), *spent, *words),
            HOLD + _REQUEST,
            output_limit,
            HOLD + _PATIENCE,
        )
        if done.exit_status not in (0, _LOST, _RUNNING):
            raise _not_started(machine, name, folder, done)
        if done.exit_status == _RUNNING:
            done = await _await(machine, handle)
        result = _result(machine, handle, done)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await asyncio.shield(cancel(machine, handle))
        raise
    spent[:] = [handle.place]
    return result


async def release(
    machine: base.Machine, handle: job_handle.Handle, at: float
) -> None:
    """Let an armed job begin.

    :param at: seconds since the epoch on the machine's own clock
    """
    await job_asking.ask(machine, ("release", handle.place, f"{at:.6f}"))


async def finish(
    machine: base.Machine, handle: job_handle.Handle
) -> JobResult:
    """Wait for a job's end, collect what it left, and clear it away.

    :raises TimedOut: when the machine had to end it
    :raises OutputTooLong: likewise
    :raises Unreachable: when the machine is away for a minute
    """
    done = await _await(machine, handle)
    if not done.exit_status:
        # All is here: a machine that goes away now takes nothing with it.
        with contextlib.suppress(base.MachineError):
            await job_asking.ask(machine, ("discard", handle.place))
    return _result(machine, handle, done)


async def cancel(machine: base.Machine, handle: job_handle.Handle) -> None:
    """End a job with everything it started, and clear it away."""
    await job_asking.ask(machine, ("cancel", handle.place))
    await job_asking.ask(machine, ("discard", handle.place))


def _not_started(
    machine: base.Machine, name: str, folder: str, done: base.Completed
) -> base.MachineError:
    return base.MachineError(
        f"{machine.name}: command {name} cannot be started in {folder}: "
        f"{base.last_line(done.stderr)}; the machine needs bash and a "
        "writable folder"
    )


async def _await(
    machine: base.Machine, handle: job_handle.Handle
) -> base.Completed:
    """Wait, once more and once more, until a job has ended."""
    deadline = time.monotonic() + handle.timeout + _PATIENCE
    while True:
        left = max(deadline - time.monotonic(), 1)
        done = await job_asking.persist(
            machine,
            handle.name,
            ("await", handle.place, f"{min(HOLD, left):.3f}"),
            HOLD + _REQUEST,
            handle.output_limit,
            left,
        )
        if done.exit_status != _RUNNING:
            return done
        if time.monotonic() > deadline:
            raise base.timed_out(machine.name, handle.name, handle.timeout)


def _result(
    machine: base.Machine, handle: job_handle.Handle, done: base.Completed
) -> JobResult:
    """Return what a job left.

    :raises MachineError: when it left nothing, or was ended for cause
    """
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name}: command {handle.name} vanished without a "
            f"result ({base.last_line(done.stderr)}); see whether the "
            "machine was rebooted or ran out of memory"
        )
    header, _, stdout = done.stdout.partition("\n\n")
    marks = account.words(header)
    if "too_long" in marks:
        raise base.too_long(machine.name, handle.name, handle.output_limit)
    if "timed_out" in marks:
        raise base.timed_out(machine.name, handle.name, handle.timeout)
    if "cancelled" in marks:
        raise base.MachineError(
            f"{machine.name}: command {handle.name} was cancelled"
        )
    told = account.read(machine.name, handle.name, header)
    return JobResult(
        name=handle.name,
        exit_status=told.exit_status,
        seconds=told.ended - told.started,
        started=told.started,
        ended=told.ended,
        cpu_seconds=told.cpu_seconds,
        stdout=stdout,
        stderr=done.stderr,
    )
