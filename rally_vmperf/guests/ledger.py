"""Who owns what in the cloud, written down before it is made.

A run that is killed cleans nothing up. Its entry tells the next run, and
``rally-vmperf cleanup``, whose resources those are and that nobody needs them.
"""

import collections.abc
import dataclasses
import hashlib
import json
import os
import pathlib
import socket
import typing as t

from rally_vmperf import atomic
from rally_vmperf.guests import errors

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


def this_process() -> Process:
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """A run that has, or had, guests.

    :param owner: Rally's identifier of the workload, part of the names
    :param task: Rally's identifier of the task
    :param prefix: what the names of its resources begin with
    :param auth_url: the cloud it uses
    :param project: the project it uses there
    :param started_at: ISO 8601
    """

    owner: str
    task: str
    prefix: str
    auth_url: str
    project: str
    started_at: str
    process: Process


class Ledger:
    """The entries of all runs, one file each.

    :param journal_folder: the folder of the journals; entries lie below it
    """

    def __init__(self, journal_folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(journal_folder, "owners")

    def write(self, entry: Entry) -> None:
        """Store an entry so that it survives a crash of this machine.

        :raises GuestError: when the disk does not take it
        """
        text = json.dumps(dataclasses.asdict(entry), indent=1) + "\n"
        try:
            atomic.write(self._path(entry.owner), text)
        except OSError as error:
            raise errors.GuestError(
                f"ledger {self.folder}: {error.strerror or error}; make room "
                "or set [vmperf] journal_dir to another folder"
            ) from error

    def drop(self, owner: str) -> None:
        """Forget a run that left nothing; harmless when unknown."""
        self._path(owner).unlink(missing_ok=True)

    def entries(self) -> collections.abc.Iterator[Entry]:
        """Yield the entries; what is damaged is left out."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                fields = json.loads(path.read_text())
                fields["process"] = Process(**fields["process"])
                yield Entry(**fields)
            except (OSError, ValueError, TypeError, KeyError):
                continue

    def _path(self, owner: str) -> pathlib.Path:
        return self.folder / f"{owner}.json"
