"""Routes to an SSH server: directly, or from a network namespace."""

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

#: Timeout in seconds of a TCP connection.
DIAL = 2


class Route:
    """A direct route of TCP connections to an SSH server.

    :ivar label: The text after the address of the server in messages.
    """

    label = ""

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        """Return the options of asyncssh for a connection by this route.

        :param user: The user of the route, until it calls ``leave``.
        :raises OSError: If the server does not answer.
        :raises MachineError: If the route itself cannot be used.
        """
        return {"sock": await connect_socket(host, port, DIAL, self.make)}

    async def leave(self, user: object) -> None:
        """Unregister a user that has closed all its connections."""

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return an unconnected socket."""
        return socket.socket(family, kind, protocol)


class Command(Route):
    """A route by a ProxyCommand in the user's ssh_config."""

    def __init__(self, command: str) -> None:
        self.label = " by ProxyCommand"
        self._command = command

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        return {"proxy_command": self._command}


#: Makes an unconnected socket of a family, kind and protocol.
Maker = collections.abc.Callable[[int, int, int], socket.socket]


async def connect_socket(
    host: str, port: int, timeout: float, make: Maker = socket.socket
) -> socket.socket:
    """Return a connected socket of the first address that answers.

    A short timeout here, with a long one for the SSH handshake, detects a
    booting guest within a second after its boot, and tolerates an emulated
    guest that takes many seconds for the login.

    :param timeout: The timeout per address in seconds.
    :raises OSError: If no address answers, as ``TimeoutError``, for example.
    """
    loop = asyncio.get_running_loop()
    address_infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    last = OSError(f"no address for {host}")
    for family, kind, protocol, _, address in address_infos:
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
    """A route from a network namespace, such as that of a Neutron router."""

    def __init__(self, name: str) -> None:
        self.label = f" in namespace {name}"
        self._name = name

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return an unconnected socket in the namespace."""
        return open_socket(self._name, family, kind, protocol)


def open_socket(
    name: str,
    family: int = socket.AF_INET,
    kind: int = socket.SOCK_STREAM,
    protocol: int = 0,
) -> socket.socket:
    """Return a new socket, which remains in the namespace.

    :raises MachineError: If the namespace does not exist or is not permitted.
    """
    return _inside(name, lambda: socket.socket(family, kind, protocol))


def _inside(name: str, work: t.Callable[[], Made]) -> Made:
    """Run a function in a network namespace and return its result.

    A thread enters the namespace, runs the function and ends; the namespace of
    this process does not change.

    :raises MachineError: If the namespace does not exist or is not permitted.
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


def source_network(
    address: str, namespace: str | None = None
) -> Network | None:
    """Return the network from which this machine reaches an address.

    It is the network of the interface, as a machine may change its address
    (by the privacy extensions of IPv6).

    :param namespace: The network namespace; None for that of this process.
    :returns: The network; None without a route.
    :raises MachineError: If the namespace cannot be entered.
    """
    look = functools.partial(_source, address)
    return _inside(namespace, look) if namespace else look()


def _source(address: str) -> Network | None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as udp_socket:
        try:
            udp_socket.connect((address, 22))  # of UDP: nothing is sent
        except OSError:
            return None
        own_address = udp_socket.getsockname()[0].partition("%")[0]
    for interface_address in (
        interface_address
        for all_ in psutil.net_if_addrs().values()
        for interface_address in all_
    ):
        if (
            interface_address.netmask
            and interface_address.address.partition("%")[0] == own_address
        ):
            prefix_length = int(
                ipaddress.ip_address(interface_address.netmask)
            ).bit_count()
            return ipaddress.ip_network(
                f"{own_address}/{prefix_length}", strict=False
            )
    return ipaddress.ip_network(own_address)


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
        namespaces = sorted(path.name for path in _FOLDER.glob("*"))
        listed = ", ".join(namespaces) or "none"
        reason = f"is not on this machine (it has: {listed}); see ip netns"
    elif isinstance(error, PermissionError):
        reason = "can be entered by root alone; run rally as root"
    else:
        reason = f"cannot be entered: {error.strerror}; see ip netns"
    return base.MachineError(f"namespace {name!r} {reason}")
