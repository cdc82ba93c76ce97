"""What a job left, or why it left nothing."""

import dataclasses

from rally_vmperf.machines import account
from rally_vmperf.machines import base
from rally_vmperf.machines import job_handle


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


def read(
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
    if "late" in marks:
        raise base.MachineError(
            f"{machine.name}: command {handle.name} was released too late; "
            "is its clock stepped, or the way to it cut?"
        )
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


def not_started(
    machine: base.Machine, name: str, folder: str, done: base.Completed
) -> base.MachineError:
    return base.MachineError(
        f"{machine.name}: command {name} cannot be started in {folder}: "
        f"{base.last_line(done.stderr)}; the machine needs bash and a "
        "writable folder"
    )
