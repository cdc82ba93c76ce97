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
import re
import secrets
import time

from rally_vmperf.machines import account
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Seconds one waiting command lasts.
HOLD = 60.0
#: Seconds that a machine which answers has beyond the time a job may take.
_PATIENCE = 120.0
#: Seconds that a machine may be away; one that died costs no more.
_AWAY = 60.0
#: Seconds for one request: more than a connection needs to notice that the
#: machine is gone, so that a time-out means a slow machine.
_REQUEST = 90.0
_RUNNING = 75
_HEADER = 4096


@dataclasses.dataclass(frozen=True, kw_only=True)
class Handle:
    """A started job; plain data, good for any connection to the machine."""

    name: str
    place: str
    timeout: float
    output_limit: int


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
) -> Handle:
    """Start a command in a folder, which is made, and return at once.

    :param timeout: seconds after which the machine itself ends it
    :param output_limit: bytes per stream; a program that prints more is ended
    :param prefix: command line put before the job's supervisor, for holding
        it to a shape; its own start-up is not measured
    :param armed: have everything ready, and begin only on ``release``
    :raises MachineError: when it cannot be started
    :raises Unreachable: when the machine is away for a minute
    """
    label = re.sub(r"[^\w.-]", "_", name)[:60]
    place = f"{folder}/.job-{label}-{secrets.token_hex(4)}"
    arguments = (
        place,
        folder,
        f"{timeout:.3f}",
        str(output_limit),
        str(int(armed)),
        str(len(prefix)),
        *prefix,
        *argv,
    )
    done = await _persist(
        machine, name, ("start", *arguments), _REQUEST, 0, _PATIENCE
    )
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name}: command {name} cannot be started in {folder}: "
            f"{base.last_line(done.stderr)}; the machine needs bash and "
            "a writable folder"
        )
    return Handle(
        name=name, place=place, timeout=timeout, output_limit=output_limit
    )


async def release(machine: base.Machine, handle: Handle, at: float) -> None:
    """Let an armed job begin.

    :param at: seconds since the epoch on the machine's own clock
    """
    await _ask(machine, ("release", handle.place, f"{at:.6f}"))


async def finish(machine: base.Machine, handle: Handle) -> JobResult:
    """Wait for a job's end, collect what it left, and clear it away.

    :raises TimedOut: when the machine had to end it
    :raises OutputTooLong: likewise
    :raises Unreachable: when the machine is away for a minute
    """
    deadline = time.monotonic() + handle.timeout + _PATIENCE
    while True:
        left = max(deadline - time.monotonic(), 1)
        done = await _persist(
            machine,
            handle.name,
            ("await", handle.place, f"{min(HOLD, left):.3f}"),
            HOLD + _REQUEST,
            handle.output_limit,
            left,
        )
        if done.exit_status != _RUNNING:
            break
        if time.monotonic() > deadline:
            raise base.timed_out(machine.name, handle.name, handle.timeout)
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name}: command {handle.name} vanished without a "
            f"result ({base.last_line(done.stderr)}); see whether the "
            "machine was rebooted or ran out of memory"
        )
    # All is here: a machine that goes away now takes nothing with it.
    with contextlib.suppress(base.MachineError):
        await _ask(machine, ("discard", handle.place))
    return _result(machine, handle, done)


async def cancel(machine: base.Machine, handle: Handle) -> None:
    """End a job with everything it started, and clear it away."""
    await _ask(machine, ("cancel", handle.place))
    await _ask(machine, ("discard", handle.place))


async def _ask(
    machine: base.Machine, arguments: tuple[str, ...]
) -> base.Completed:
    return await machine.run(scripts.argv("job.bash", *arguments), timeout=60)


async def _persist(
    machine: base.Machine,
    command: str,
    arguments: tuple[str, ...],
    timeout: float,
    output_limit: int,
    patience: float,
) -> base.Completed:
    """Ask again while the machine is away; every request may be repeated.

    After a loss at least one more connection is tried, for a silent one may
    have been dropped somewhere between here and a machine that is well.

    :param patience: seconds to go on asking a machine that is only slow
    """
    deadline = time.monotonic() + patience
    lost: float | None = None
    pause = 0.2
    while True:
        try:
            return await machine.run(
                scripts.argv("job.bash", *arguments),
                timeout=timeout,
                output_limit=output_limit + _HEADER,
            )
        except base.TimedOut:
            lost = None
            if time.monotonic() > deadline:
                raise
        except base.Unreachable as error:
            now = time.monotonic()
            if lost is None:
                lost = now - error.silent
            elif now > min(lost + _AWAY, deadline):
                raise base.Unreachable(
                    f"{machine.name}: connection lost {now - lost:.0f} s ago "
                    f"at command {command}, and no way back: {error}",
                    silent=now - lost,
                ) from None
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2)


def _result(
    machine: base.Machine, handle: Handle, done: base.Completed
) -> JobResult:
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
