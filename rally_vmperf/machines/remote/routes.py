"""Routes to an SSH server: directly, or out of a network namespace."""

import asyncio
import collections.abc
import ctypes
import functools
import ipaddress
import os
import pathlib
import re
import socket
import threading
import typing as t

import psutil

from rally_vmperf.machines import base

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Made = t.TypeVar("Made")

#: Seconds for a TCP answer.
DIAL = 2


class Route:
    """The route of TCP connections to an SSH server: a direct one.

    :ivar label: what messages add to the server's address
    """

    label = ""

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        """Return what asyncssh needs for a connection by this route.

        :param user: whoever goes, until it says ``leave``
        :raises OSError: when the server does not answer
        :raises MachineError: when the route itself cannot be used
        """
        return {"sock": await dial(host, port, DIAL, self.make)}

    async def leave(self, user: object) -> None:
        """Note that a user has closed all its connections."""

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return an unconnected socket."""
        return socket.socket(family, kind, protocol)


class Command(Route):
    """A route by a command of the user's own, ssh_config's ProxyCommand."""

    def __init__(self, command: str) -> None:
        self.label = " by ProxyCommand"
        self._command = command

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        return {"proxy_command": self._command}


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
    """A route out of a network namespace, such as a Neutron router's."""

    def __init__(self, name: str) -> None:
        self.label = f" in namespace {name}"
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

    :raises MachineError: when there is no such namespace, or no right to it
    """
    return _inside(name, lambda: socket.socket(family, kind, protocol))


def _inside(name: str, work: t.Callable[[], Made]) -> Made:
    """Return what a function returns in a network namespace.

    A thread enters the namespace, does the work and ends; this process stays
    where it is.

    :raises MachineError: when there is no such namespace, or no right to it
    """
    outcome: list[Made] = []
    refusals: list[OSError] = []

    def enter_and_work() -> None:
        try:
            _enter(name)
            outcome.append(work())
        except OSError as error:
            refusals.append(error)

    thread = threading.Thread(target=enter_and_work, name=f"netns {name}")
    thread.start()
    thread.join()
    for error in refusals:
        raise _refusal(name, error)
    return outcome[0]


def source(address: str, namespace: str | None = None) -> Network | None:
    """Return the network out of which this machine reaches an address.

    It is that of the interface by which the route leaves, as a machine may
    change its address (IPv6 does, for privacy).

    :param namespace: out of which it is reached, None for this process's own
    :return: None without a route
    :raises MachineError: when the namespace cannot be entered
    """
    look = functools.partial(_source, address)
    return _inside(namespace, look) if namespace else look()


def _source(address: str) -> Network | None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((address, 22))  # of UDP: nothing is sent
        except OSError:
            return None
        own = asking.getsockname()[0].partition("%")[0]
    for one in (
        one for all_ in psutil.net_if_addrs().values() for one in all_
    ):
        if one.netmask and one.address.partition("%")[0] == own:
            ones = int(ipaddress.ip_address(one.netmask)).bit_count()
            return ipaddress.ip_network(f"{own}/{ones}", strict=False)
    return ipaddress.ip_network(own)


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
