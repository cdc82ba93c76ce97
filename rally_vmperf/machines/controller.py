"""The process that controls a run, and whether it still exists."""

import dataclasses
import hashlib
import os
import pathlib
import re
import socket
import typing as t

State = t.Literal["running", "killed", "unknown"]

_PROC = pathlib.Path("/proc")
_TEXT = re.compile(
    r"([A-Za-z0-9._-]{1,255}) ([0-9a-f]{16}) ([0-9]{1,10}) (-?[0-9]{1,20})"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Process:
    """A process, distinguished from a later one with the same number.

    :param machine: The name of its machine.
    :param boot: The digest of the boot identifier of the machine.
    :param started: The start in clock ticks since that boot.
    """

    machine: str
    boot: str
    pid: int
    started: int

    @classmethod
    def parse(cls, text: str) -> t.Self | None:
        """Return the process in a text from ``str``; None if it is invalid."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        machine, boot, pid, started = match.groups()
        return cls(
            machine=machine, boot=boot, pid=int(pid), started=int(started)
        )

    def __str__(self) -> str:
        return f"{self.machine} {self.boot} {self.pid} {self.started}"

    def state(self) -> State:
        """Return running, killed, or unknown (on another machine)."""
        if self.machine != socket.gethostname():
            return "unknown"
        is_running = (
            self.boot == _read_boot_id()
            and _read_start_time(self.pid) == self.started
        )
        return "running" if is_running else "killed"


def get_current_process() -> Process:
    """Return the identity of the calling process."""
    pid = os.getpid()
    return Process(
        machine=socket.gethostname(),
        boot=_read_boot_id(),
        pid=pid,
        started=_read_start_time(pid),
    )


def _read_boot_id() -> str:
    """Return a hash of this machine's boot id, 16 hexadecimal digits."""
    identifier = (_PROC / "sys/kernel/random/boot_id").read_bytes()
    return hashlib.sha256(identifier.strip()).hexdigest()[:16]


def _read_start_time(pid: int) -> int:
    """Return a process's start in clock ticks after boot; -1 if it ended."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return -1
    # The name, in parentheses, may contain any text; the start is field 22.
    fields = stat.rpartition(")")[2].split()
    return -1 if fields[0] in "ZX" else int(fields[19])
