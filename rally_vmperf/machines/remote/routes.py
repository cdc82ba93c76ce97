# SPDX-License-Identifier: Apache-2.0
"""Routes to an SSH server: directly, or from a network namespace."""

import asyncio
import collections.abc
import ctypes
import functools
import ipaddress
import itertools
import os
import pathlib
import re
import socket
import typing as t
from concurrent import futures

import psutil

from rally_vmperf import documents
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
    ) -> documents.Arguments:
        """Connect to the server; return the asyncssh options as a dict.

        :param user: The user of the route, until it calls ``leave``.
        :raises OSError: If the server does not answer.
        :raises MachineError: If the route itself cannot be used.
        """
        return {"sock": await connect_socket(host, port, DIAL, self.make)}

    async def leave(self, user: object) -> None:
        """Unregister a user that has closed all its connections."""

    def make(self, family: int, kind: int, protocol: int) -> socket.socket:
        """Return a new unconnected socket."""
        return socket.socket(family, kind, protocol)


class ProxyCommand(Route):
    """A route by a ProxyCommand in the user's ssh_config."""

    def __init__(self, command: str) -> None:
        self.label = " by ProxyCommand"
        self._command = command

    async def open(
        self, user: object, host: str, port: int
    ) -> documents.Arguments:
        """Return the asyncssh option with the ProxyCommand as a dict."""
        return {"proxy_command": self._command}


#: Makes an unconnected socket of a family, kind and protocol.
Maker = collections.abc.Callable[[int, int, int], socket.socket]


async def connect_socket(
    host: str, port: int, timeout: float, make: Maker = socket.socket
) -> socket.socket:
    """Connect to the first address that answers; return the socket.

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
        """Return a new unconnected socket in the network namespace."""
        return open_socket(self._name, family, kind, protocol)


def open_socket(
    name: str,
    family: int = socket.AF_INET,
    kind: int = socket.SOCK_STREAM,
    protocol: int = 0,
) -> socket.socket:
    """Return a new unconnected socket in a network namespace.

    :raises MachineError: If the namespace does not exist or is not permitted.
    """
    return _run_inside(name, lambda: socket.socket(family, kind, protocol))


def _run_inside(name: str, work: t.Callable[[], Made]) -> Made:
    """Run a function in a network namespace and return its result.

    A thread enters the namespace, runs the function and ends; the namespace of
    this process does not change.

    :raises MachineError: If the namespace does not exist or is not permitted.
    """

    def enter_and_work() -> Made:
        """Enter the namespace, run the function and return its result."""
        _enter_namespace(name)
        return work()

    with futures.ThreadPoolExecutor(1, f"netns {name}") as thread:
        try:
            return thread.submit(enter_and_work).result()
        except OSError as error:
            raise _refusal_error(name, error) from None


def source_network(
    address: str, namespace: str | None = None
) -> Network | None:
    """Return the local IP network that reaches an address, or None.

    It is the network of the interface, as a machine may change its address
    (by the privacy extensions of IPv6).

    :param namespace: The network namespace; None for that of this process.
    :returns: The network; None without a route.
    :raises MachineError: If the namespace cannot be entered.
    """
    look = functools.partial(_find_source_network, address)
    return _run_inside(namespace, look) if namespace else look()


def _find_source_network(address: str) -> Network | None:
    """Return the local IP network that reaches an address, or None."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as udp_socket:
        try:
            udp_socket.connect((address, 22))  # of UDP: nothing is sent
        except OSError:
            return None
        own_address = udp_socket.getsockname()[0].partition("%")[0]
    interfaces = psutil.net_if_addrs().values()
    for interface_address in itertools.chain.from_iterable(interfaces):
        mask = interface_address.netmask
        interface = interface_address.address.partition("%")[0]
        if mask and interface == own_address:
            length = int(ipaddress.ip_address(mask)).bit_count()
            return ipaddress.ip_network(
                f"{own_address}/{length}", strict=False
            )
    return ipaddress.ip_network(own_address)


def _enter_namespace(name: str) -> None:
    """Move the calling thread into a network namespace."""
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(name)
    library = ctypes.CDLL(None, use_errno=True)
    with open(_FOLDER / name, "rb") as handle:
        if library.setns(handle.fileno(), _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _refusal_error(name: str, error: OSError) -> base.MachineError:
    """Return a MachineError for a namespace that cannot be entered."""
    if isinstance(error, FileNotFoundError):
        namespaces = sorted(path.name for path in _FOLDER.glob("*"))
        listed = ", ".join(namespaces) or "none"
        reason = f"is not on this machine (it has: {listed}); see ip netns"
    elif isinstance(error, PermissionError):
        reason = "can be entered by root alone; run rally as root"
    else:
        reason = f"cannot be entered: {error.strerror}; see ip netns"
    return base.MachineError(f"namespace {name!r} {reason}")
