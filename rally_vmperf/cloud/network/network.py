"""Bridges of the embedded cloud and the peer at one of them."""

import os
import pathlib

from rally_vmperf.cloud.network import network_removal
from rally_vmperf.cloud.network import packet_filter
from rally_vmperf.cloud.network import routing
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

NAMESPACES = pathlib.Path("/run/netns")


def ip(*arguments: str) -> None:
    """Run iproute2's ip."""
    commands.run(["ip", *arguments], timeout=60)


def exists(device: str) -> bool:
    """Tell whether there is a network device of that name."""
    return pathlib.Path("/sys/class/net", device).exists()


def is_namespace(name: str) -> bool:
    """Tell whether a name stands for a network namespace, and is mounted.

    :param name: as ``ip netns`` knows it
    """
    try:
        found = os.stat(NAMESPACES / name)
    except OSError:
        return False
    return found.st_dev == os.stat("/proc/self/ns/net").st_dev


def up(chosen: addresses.Addresses) -> None:
    """Create all devices; remove them if the machine loses its routes by it.

    :param chosen: the cloud's address ranges
    :raises errors.CloudError: naming the way that was lost
    """
    targets = routing.targets(routing.routes(), routing.resolvers())
    before = routing.look(targets)
    # First of all: no bridge is ever open to others.
    packet_filter.up(chosen)
    make(chosen)
    if changed := routing.lost(before, routing.look(targets)):
        network_removal.remove(chosen)
        raise errors.CloudError(
            f"the machine would lose a route: {changed}; the cloud's "
            "bridges were removed; name another network: cloud up --network "
            "10.66.0.0/22"
        )


def make(chosen: addresses.Addresses) -> None:
    """Create the bridges, the external port and the peer's namespace.

    :param chosen: the cloud's address ranges
    """
    # Without a bridge, packets to the cloud's ranges go nowhere, and never
    # out by the machine's own interface.
    for network in chosen.ranges:
        ip("route", "replace", "unreachable", str(network),
           "metric", str(routing.METRIC))  # fmt: skip
    for bridge, interface in chosen.bridges.items():
        if not exists(bridge):
            ip("link", "add", bridge, "type", "bridge")
        ip("address", "replace", str(interface), "dev", bridge)
        ip("link", "set", bridge, "up")
    external_port()
    peer(chosen)


def external_port() -> None:
    """Join a veth pair to the external bridge; Neutron takes its far end."""
    near, far = f"{layout.EXTERNAL_PORT}-br", layout.EXTERNAL_PORT
    if not exists(near):
        # The far end may have been moved away: it goes with this one.
        commands.quietly(["ip", "link", "delete", far])
    if not exists(far):
        ip("link", "add", far, "type", "veth", "peer", "name", near)
    ip("link", "set", near, "master", layout.EXTERNAL_BRIDGE, "up")
    ip("link", "set", far, "up")


def peer(chosen: addresses.Addresses) -> None:
    """Create a namespace at the external bridge: the peer of the guests.

    :param chosen: the cloud's address ranges
    """
    name = layout.PEER_NAMESPACE
    if not is_namespace(name):
        # An earlier one may live on without a name, the link's end in it.
        commands.quietly(["ip", "netns", "delete", name])
        commands.quietly(["ip", "link", "delete", layout.PEER_PORT])
        ip("netns", "add", name)
    if not exists(layout.PEER_PORT):
        ip("link", "add", layout.PEER_PORT, "type", "veth",
           "peer", "name", "eth0", "netns", name)  # fmt: skip
    ip("link", "set", layout.PEER_PORT, "master", layout.EXTERNAL_BRIDGE, "up")
    inside = ("-n", name)
    ip(*inside, "link", "set", "lo", "up")
    ip(*inside, "address", "replace", str(chosen.peer), "dev", "eth0")
    ip(*inside, "link", "set", "eth0", "up")
    ip(*inside, "route", "replace", "default", "via", chosen.gateway)
    # sshd wants an empty folder, which its own start-up script would make
    pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
