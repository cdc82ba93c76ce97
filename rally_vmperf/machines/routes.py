"""Routes to an SSH server: directly, or out of a network namespace."""

import asyncio
import collections.abc
import ctypes
import os
import pathlib
import re
import socket
import threading
import typing as t

from rally_vmperf.machines import base

#: Seconds for a TCP answer.
DIAL = 2


class Route:
    """How the TCP connection to an SSH server comes about: directly.

    :ivar words: what messages add to the server's address
    """

    words = ""

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        """Return what asyncssh needs for a connection that goes this way.

        :param user: whoever goes, until it says ``leave``
        :raises OSError: when the server does not answer
        :raises MachineError: when the way itself cannot be gone
        """
        return {"sock": await dial(host, port, DIAL, self.make)}

    async def leave(self, user: object) -> None:
        """Be told that somebody has closed all its connections."""

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return an unconnected socket."""
        return socket.socket(family, kind, protocol)


#: Makes an unconnected socket of a family, kind and protocol.
Maker = collections.abc.Callable[[int, int, int], socket.socket]


async def dial(
    host: str, port: int, timeout: float, make: Maker = socket.socket
) -> socket.socket:
    """Return a connected socket; IPv4 and IPv6, the first that answers.

    A short time-out here, with a long one for the SSH handshake, finds a
    booting guest within a second of its coming up and still bears with an
    emulated one that takes many seconds to log in.

    :param timeout: seconds per address
    :raises OSError: as the last address answered; ``TimeoutError`` is one
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    last = OSError(f"no address for {host}")
    for family, kind, protocol, _, address in found:
        connection = make(family, kind, protocol)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await loop.sock_connect(connection, address)
        except OSError as error:
            connection.close()
            last = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise last


_FOLDER = pathlib.Path("/run/netns")
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}")
_CLONE_NEWNET = 0x40000000


class Namespace(Route):
    """Out of a network namespace, such as that of Neutron's router."""

    def __init__(self, name: str) -> None:
        self.words = f" in namespace {name}"
        self._name = name

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return one that stays in the namespace."""
        return open_socket(self._name, family, kind, protocol)


def open_socket(
    name: str,
    family: int = socket.AF_INET,
    kind: int = socket.SOCK_STREAM,
    protocol: int = 0,
) -> socket.socket:
    """Return a new socket, which stays in the namespace wherever it is used.

    A thread enters the namespace, makes the socket and ends; this process
    stays where it is.

    :raises MachineError: when there is no such namespace, or no right to it
    """
    outcome: list[socket.socket | OSError] = []

    def work() -> None:
        try:
            _enter(name)
            outcome.append(socket.socket(family, kind, protocol))
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name=f"netns {name}")
    thread.start()
    thread.join()
    (made,) = outcome
    if isinstance(made, socket.socket):
        return made
    raise _refusal(name, made)


def _enter(name: str) -> None:
    """Move the calling thread; Python has ``os.setns`` from 3.12 on."""
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(name)
    library = ctypes.CDLL(None, use_errno=True)
    with open(_FOLDER / name, "rb") as handle:
        if library.setns(handle.fileno(), _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _refusal(name: str, error: OSError) -> base.MachineError:
    if isinstance(error, FileNotFoundError):
        there = sorted(path.name for path in _FOLDER.glob("*"))
        listed = ", ".join(there) or "none"
        why = f"is not on this machine (it has: {listed}); see ip netns"
    elif isinstance(error, PermissionError):
        why = "can be entered by root alone; run rally as root"
    else:
        why = f"cannot be entered: {error.strerror}; see ip netns"
    return base.MachineError(f"namespace {name!r} {why}")
