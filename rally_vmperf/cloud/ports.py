"""Which process listens where."""

import os
import pathlib
import re
import socket
import struct

from rally_vmperf.cloud import procfs

LISTENING = "0A"
SOCKET = re.compile(r"socket:\[(\d+)\]")


def listeners(root: pathlib.Path, address: str) -> set[str]:
    """Return the numbers of the sockets that keep others off an address.

    :param root: where /proc is mounted
    :param address: HOST:PORT of this machine
    """
    host, _, port = address.rpartition(":")
    taking = {hexadecimal(host), "0" * 8, "0" * 32}
    found = set()
    for name in ("net/tcp", "net/tcp6"):
        try:
            table = (root / name).read_text()
        except FileNotFoundError:
            continue
        for line in table.splitlines()[1:]:
            fields = line.split()
            local, _, number = fields[1].partition(":")
            if (
                fields[3] == LISTENING
                and int(number, 16) == int(port)
                and local in taking
            ):
                found.add(fields[9])
    return found


def hexadecimal(host: str) -> str:
    """Return an IPv4 address as the kernel's tables write it."""
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}"


def holders(processes: procfs.ProcessTable, address: str) -> list[int]:
    """Return the processes that listen at an address.

    :param processes: the machine's process table
    :param address: HOST:PORT
    """
    wanted = listeners(processes.root, address)
    if not wanted:
        return []
    return [
        pid
        for pid in processes.pids()
        if sockets(processes.root / str(pid) / "fd") & wanted
    ]


def sockets(folder: pathlib.Path) -> set[str]:
    """Return the numbers of the sockets that a process has open."""
    found = set()
    try:
        for entry in folder.iterdir():
            match = SOCKET.fullmatch(os.readlink(entry))
            if match:
                found.add(match[1])
    except OSError:
        # it has ended in the meantime
        return found
    return found
