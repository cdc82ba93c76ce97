"""Whether the process that wrote something down is still the same one."""

import dataclasses
import hashlib
import os
import pathlib
import socket
import typing as t

State = t.Literal["running", "killed", "unknown"]

_PROC = pathlib.Path("/proc")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Process:
    """A process, told from a later one with the same number.

    :param machine: name of the machine it runs on
    :param boot: digest of that machine's boot identifier
    :param started: start in clock ticks since that boot
    """

    machine: str
    boot: str
    pid: int
    started: int

    def state(self) -> State:
        """Return whether it runs; of other machines nothing is known."""
        if self.machine != socket.gethostname():
            return "unknown"
        if self.boot != _boot():
            return "killed"
        return "running" if _started(self.pid) == self.started else "killed"


def this() -> Process:
    """Return the process that asks."""
    pid = os.getpid()
    return Process(
        machine=socket.gethostname(),
        boot=_boot(),
        pid=pid,
        started=_started(pid),
    )


def _boot() -> str:
    identifier = (_PROC / "sys/kernel/random/boot_id").read_bytes()
    return hashlib.sha256(identifier.strip()).hexdigest()[:16]


def _started(pid: int) -> int:
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return -1
    # The name, in parentheses, may hold anything; the start is field 22.
    fields = stat.rpartition(")")[2].split()
    return -1 if fields[0] in "ZX" else int(fields[19])
