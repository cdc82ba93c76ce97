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
import dataclasses
import re
import secrets
import time
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Seconds one waiting command lasts.
HOLD = 60.0
#: Seconds a machine has for starting a job, and to come back after its end.
_PATIENCE = 120.0
_RUNNING = 75
_LOST = 3
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
    done = await _persist(machine, ("start", *arguments), 60, 0, _PATIENCE)
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
    :raises Unreachable: when the machine stays away beyond the job's time
    """
    deadline = time.monotonic() + handle.timeout + _PATIENCE
    while True:
        left = max(deadline - time.monotonic(), 1)
        done = await _persist(
            machine,
            ("await", handle.place, f"{min(HOLD, left):.3f}"),
            HOLD + 60,
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
    arguments: tuple[str, ...],
    timeout: float,
    output_limit: int,
    patience: float,
) -> base.Completed:
    """Ask again while the machine is away; every request may be repeated."""
    deadline = time.monotonic() + patience
    pause = 0.2
    while True:
        try:
            return await machine.run(
                scripts.argv("job.bash", *arguments),
                timeout=timeout,
                output_limit=output_limit + _HEADER,
            )
        except (base.Unreachable, base.TimedOut):
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2)


def _result(
    machine: base.Machine, handle: Handle, done: base.Completed
) -> JobResult:
    header, _, stdout = done.stdout.partition("\n\n")
    account: dict[str, t.Any] = dict(re.findall(r"(\w+)=(\S+)", header))
    if "too_long" in account:
        raise base.too_long(machine.name, handle.name, handle.output_limit)
    if "timed_out" in account:
        raise base.timed_out(machine.name, handle.name, handle.timeout)
    if "cancelled" in account:
        raise base.MachineError(
            f"{machine.name}: command {handle.name} was cancelled"
        )
    try:
        started, ended = float(account["started"]), float(account["ended"])
        return JobResult(
            name=handle.name,
            exit_status=int(account["exit"]),
            seconds=ended - started,
            started=started,
            ended=ended,
            cpu_seconds=float(account["user"]) + float(account["system"]),
            stdout=stdout,
            stderr=done.stderr,
        )
    except (KeyError, ValueError):
        raise base.MachineError(
            f"{machine.name}: command {handle.name} left no account of "
            f"itself but {header[:100]!r}; was its folder cleared or full?"
        ) from None
