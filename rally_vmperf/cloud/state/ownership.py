"""Find out which processes belong to the embedded cloud."""

import os.path
import re

from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs

INTERPRETERS = re.compile(r"(python|uwsgi)[0-9a-z_.]*$")
RIVALS = re.compile(
    r"(libvirtd|virtqemud|keystone-wsgi-public|placement-api|glance-api"
    r"|nova-(api|conductor|scheduler|compute|novncproxy)"
    r"|neutron-(server|[a-z0-9]+-agent))$"
)


class Ownership:
    """Distinguishes the processes of one state root from all others.

    A service is known by its record. What it started is known by its
    session, by the mark in its environment or, as libvirtd cleans the
    environment of guests, by the disk on the command line.

    :param folders: the state root's folders
    :param processes: the machine's process table
    """

    def __init__(
        self, folders: layout.Layout, processes: procfs.ProcessTable
    ) -> None:
        self._folders = folders
        self._processes = processes
        known = records.Records(folders).all()
        self._leaders = {
            record.identity.pid
            for record in known
            if processes.alive(record.identity)
        }

    def ours(self, pid: int) -> bool:
        """Return whether a process belongs to the cloud."""
        if pid in self._leaders:
            return True
        if self._processes.session(pid) in self._leaders:
            return True
        marks = self._processes.environment(pid)
        if marks.get(commands.MARK) == str(self._folders.root):
            return True
        return self.guest(pid) or self.retitled(pid)

    def retitled(self, pid: int) -> bool:
        """Return whether a process is the cloud's, by its log.

        Neutron's programs write a title over their environment.
        """
        return any(
            path.parent == self._folders.log and path.match("neutron-*.log")
            for path in self._processes.outputs(pid)
        )

    def guest(self, pid: int) -> bool:
        """Return whether a process is a guest of the cloud."""
        argv = self._processes.command_line(pid)
        disks = f"{self._folders.data}/nova/instances/"
        return (
            bool(argv)
            and os.path.basename(argv[0]).startswith("qemu-system")
            and any(disks in argument for argument in argv)
        )

    def all(self) -> list[int]:
        """Return every process of the cloud, except for the caller."""
        return [
            pid
            for pid in self._processes.pids()
            if pid != os.getpid() and self.ours(pid)
        ]

    def rivals(self) -> list[tuple[int, str]]:
        """Return virtualisation and OpenStack services that are not ours."""
        found = []
        for pid in self._processes.pids():
            name = program(self._processes.command_line(pid))
            if RIVALS.fullmatch(name) and not self.ours(pid):
                found.append((pid, name))
        return found


def program(argv: list[str]) -> str:
    """Return the program of a command line, not its interpreter."""
    names = [os.path.basename(word) for word in argv[:2] if word]
    if len(names) == 2 and INTERPRETERS.match(names[0]):
        return names[1]
    return names[0] if names else ""
