"""The result of a job, as its untrusted supervisor reports it."""

import collections.abc
import dataclasses
import re

from rally_vmperf.machines import base

#: Seconds by which the clock and the uptime, of two digits, may disagree.
_APART = 0.02
#: Characters of an account; a supervisor writes about 200.
_LONGEST = 2048
#: Seconds since the epoch; no clock that is in use is beyond the year 9999.
_LATEST = 253402300800


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobResult:
    """A finished job and the machine's own account of it.

    :param exit_status: 128 + signal when a signal ended it
    :param seconds: wall time on the machine's clock
    :param started: seconds since the epoch on the machine's clock
    :param ended: likewise
    :param user: CPU seconds of the command and all that it waited for, in
        user mode
    :param system: likewise, in the kernel
    """

    name: str
    exit_status: int
    seconds: float
    started: float
    ended: float
    user: float
    system: float
    stdout: str
    stderr: str


def fields(header: str) -> dict[str, str]:
    """Return the fields of a supervisor's account, unchecked."""
    return dict(re.findall(r"(\w+)=(\S+)", header[:_LONGEST]))


def read(
    machine: str, command: str, header: str, stdout: str = "", stderr: str = ""
) -> JobResult:
    """Return the result of a job from its supervisor's checked report.

    :raises MachineError: when it is none, or the clock was stepped meanwhile
    """
    found = fields(header)
    try:
        status = _status(found["exit"])
        started, ended = moment(found["started"]), moment(found["ended"])
        step = _step(started, ended, found)
        seconds = ended - started if step else _positive(ended - started)
        user, system = _cpu_seconds(found["user"], found["system"])
    except (KeyError, ValueError):
        raise base.MachineError(
            f"{machine}: command {command} left {header[:100]!r} "
            "instead of its result; was its folder cleared or full?"
        ) from None
    if step:
        raise base.MachineError(
            f"clock of {machine} was stepped by {step:+.2f} s while "
            f"{command} ran; repeat, or stop its time synchronisation"
        )
    return JobResult(
        name=command,
        exit_status=status,
        seconds=seconds,
        started=started,
        ended=ended,
        user=user,
        system=system,
        stdout=stdout,
        stderr=stderr,
    )


def _cpu_seconds(*texts: str) -> list[float]:
    """Return CPU seconds; refuse more than a machine can have used.

    :raises ValueError: when one is no such number
    """
    return [_positive(moment(text)) for text in texts]


def _step(
    started: float, ended: float, found: collections.abc.Mapping[str, str]
) -> float:
    """Return by how much the clock was stepped, 0 when it was not.

    Uptime cannot be stepped, and goes as fast as the clock. What passed
    between reading one and the other, on a machine that is slow or has lost
    its CPU just then, is not held against it.
    """
    lasted = _positive(_finite(found["up_ended"]) - _finite(found["up"]))
    step = ended - started - lasted
    between = max(started - moment(found["before"]), 0) + max(
        moment(found["after"]) - ended, 0
    )
    return step if abs(step) > _APART + between else 0.0


def _status(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) > 255:
        raise ValueError(text)
    return int(text)


def _finite(text: str) -> float:
    # Python would also take 1_000, nan, and the digits of other scripts.
    if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", text):
        raise ValueError(text)
    return float(text)


def moment(text: str) -> float:
    """Return what a machine's clock said, in seconds since the epoch.

    :raises ValueError: when it is no such number
    """
    number = _finite(text)
    if not 0 <= number < _LATEST:
        raise ValueError(text)
    return number


def _positive(number: float) -> float:
    if number < 0:
        raise ValueError(number)
    return number
