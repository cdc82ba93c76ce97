# SPDX-License-Identifier: Apache-2.0
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
_MACHINE_ID = pathlib.Path("/etc/machine-id")
#: The inode of the PID namespace that is not one of a container.
_HOST_NAMESPACE = 0xEFFFFFFC
_TEXT = re.compile(
    r"([A-Za-z0-9._-]{1,255}) ([0-9a-f]{16}|none) ([0-9a-f]{16}) "
    r"([0-9]{1,20}) ([0-9]{1,10}) (-?[0-9]{1,20})"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Process:
    """A process, distinguished from a later one with the same number.

    Earlier versions stored neither ``machine_id`` nor ``namespace``.

    :param machine: The name of its machine.
    :param boot: The digest of the boot identifier of the machine.
    :param pid: The number in its PID namespace.
    :param started: The start in clock ticks since that boot.
    :param machine_id: The digest of the machine's identifier; ``none`` if the
        machine has none.
    :param namespace: The inode of its PID namespace, which a container has
        of its own.
    """

    machine: str
    boot: str
    pid: int
    started: int
    machine_id: str = ""
    namespace: int = -1

    @classmethod
    def parse(cls, text: str) -> t.Self | None:
        """Return the process in a text from ``str``; None if it is invalid."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        machine, machine_id, boot, *numbers = match.groups()
        namespace, pid, started = map(int, numbers)
        return cls(
            machine=machine,
            boot=boot,
            pid=pid,
            started=started,
            machine_id=machine_id,
            namespace=namespace,
        )

    def __str__(self) -> str:
        return (
            f"{self.machine} {self.machine_id} {self.boot} {self.namespace} "
            f"{self.pid} {self.started}"
        )

    def state(self) -> State:
        """Return running, killed, or unknown.

        A process in another PID namespace or on another machine is unknown.
        After a boot, only the namespace of the host itself is known to be the
        same one: containers have new namespaces, and the machine identifiers
        of their images.
        """
        current = get_current_process()
        if (self.machine, self.machine_id, self.namespace) != (
            current.machine,
            current.machine_id,
            current.namespace,
        ):
            return "unknown"
        if self.boot != current.boot:
            is_host = self.namespace == _HOST_NAMESPACE
            return (
                "killed"
                if is_host and self.machine_id != "none"
                else "unknown"
            )
        is_running = _read_start_time(self.pid) == self.started
        return "running" if is_running else "killed"


def get_current_process() -> Process:
    """Return the identity of the calling process."""
    pid = os.getpid()
    return Process(
        machine=socket.gethostname(),
        boot=_hash(_PROC / "sys/kernel/random/boot_id"),
        pid=pid,
        started=_read_start_time(pid),
        machine_id=_hash(_MACHINE_ID),
        namespace=(_PROC / "self/ns/pid").stat().st_ino,
    )


def _hash(path: pathlib.Path) -> str:
    """Return 16 hexadecimal digits for an identifier in a file, or none."""
    try:
        identifier = path.read_bytes().strip()
    except OSError:
        identifier = b""
    return (
        hashlib.sha256(identifier).hexdigest()[:16] if identifier else "none"
    )


def _read_start_time(pid: int) -> int:
    """Return a process's start in clock ticks after boot; -1 if it ended."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return -1
    # The name, in parentheses, may contain any text; the start is field 22.
    fields = stat.rpartition(")")[2].split()
    return -1 if fields[0] in "ZX" else int(fields[19])
