"""Network namespaces of this machine, as ``ip netns`` names them."""

import collections.abc
import ctypes
import os
import pathlib
import re
import socket
import threading
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import dialing
from rally_vmperf.machines import ways

_FOLDER = pathlib.Path("/run/netns")
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}")
_CLONE_NEWNET = 0x40000000


class Namespace:
    """Out of a network namespace, such as that of Neutron's router."""

    def __init__(self, name: str) -> None:
        self.words = f" in namespace {name}"
        self._name = name

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        def make(family: int, kind: int, protocol: int) -> socket.socket:
            return open_socket(self._name, family, kind, protocol)

        return {"sock": await dialing.dial(host, port, ways.DIAL, make)}

    async def leave(self, user: object) -> None:
        """Nothing is shared."""


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
        there = ", ".join(_names()) or "none"
        why = f"is not on this machine (it has: {there}); see ip netns"
    elif isinstance(error, PermissionError):
        why = "can be entered by root alone; run rally as root"
    else:
        why = f"cannot be entered: {error.strerror}; see ip netns"
    return base.MachineError(f"namespace {name!r} {why}")


def _names() -> collections.abc.Iterator[str]:
    if _FOLDER.is_dir():
        yield from sorted(path.name for path in _FOLDER.iterdir())
