"""Processes of this machine, identified by more than their number."""

import collections.abc
import dataclasses
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Identity:
    """One process: numbers are used again, this triple is not."""

    pid: int
    start_time: int
    boot_id: str


class ProcessTable:
    """The machine's processes, read from /proc.

    :param root: where it is mounted
    """

    def __init__(self, root: pathlib.Path = pathlib.Path("/proc")) -> None:
        self.root = root

    def identify(self, pid: int) -> Identity | None:
        """Return the identity of a living process; None for a zombie too."""
        fields = self._stat(pid)
        if not fields or fields[0] in ("Z", "X"):
            return None
        return Identity(pid, int(fields[19]), self.boot_id())

    def alive(self, identity: Identity) -> bool:
        """Return whether that process still runs."""
        return self.identify(identity.pid) == identity

    def session(self, pid: int) -> int | None:
        """Return the session a process belongs to."""
        fields = self._stat(pid)
        return int(fields[3]) if fields else None

    def stopped(self, pid: int) -> bool:
        """Return whether a process is stopped by a signal."""
        return self._stat(pid)[:1] == ["T"]

    def mounts(self, pid: int) -> set[str]:
        """Return the mount points that a process sees."""
        text = self._read(self.root / str(pid) / "mounts")
        return {line.split()[1] for line in text.splitlines()}

    def outputs(self, pid: int) -> set[pathlib.Path]:
        """Return the files that a process prints into."""
        found = set()
        for number in ("1", "2"):
            try:
                target = os.readlink(self.root / str(pid) / "fd" / number)
            except OSError:
                continue
            found.add(pathlib.Path(target.removesuffix(" (deleted)")))
        return found

    def boot_id(self) -> str:
        """Return the identifier of this boot of the machine."""
        return self._read(self.root / "sys/kernel/random/boot_id").strip()

    def pids(self) -> list[int]:
        """Return the numbers of all processes."""
        return sorted(
            int(entry.name)
            for entry in self.root.iterdir()
            if entry.name.isdigit()
        )

    def command_line(self, pid: int) -> list[str]:
        """Return program and arguments; nothing for a kernel thread."""
        text = self._read(self.root / str(pid) / "cmdline")
        return text.rstrip("\0").split("\0") if text else []

    def environment(self, pid: int) -> collections.abc.Mapping[str, str]:
        """Return the environment a process was started with."""
        text = self._read(self.root / str(pid) / "environ")
        pairs = (item.partition("=") for item in text.split("\0"))
        return {name: value for name, _, value in pairs}

    def _stat(self, pid: int) -> list[str]:
        """Return the fields after the name, which may hold anything."""
        text = self._read(self.root / str(pid) / "stat")
        return text.rpartition(")")[2].split()

    @staticmethod
    def _read(path: pathlib.Path) -> str:
        try:
            return path.read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return ""
