"""Check the bridges and the peer's namespace."""

import json
import typing as t

from rally_vmperf import atomic
from rally_vmperf.cloud.network import network
from rally_vmperf.cloud.network import packet_filter
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout

# In the folder of what is running.
NOTE = "network"

Links = dict[str, dict[str, t.Any]]


def troubles(chosen: addresses.Addresses) -> list[str]:
    """Return what is missing on this machine, a phrase for each.

    :param chosen: the cloud's address ranges
    """
    name = layout.PEER_NAMESPACE
    inside = links("-n", name) if network.is_namespace(name) else None
    wrong = compare(chosen, links(), inside, unreachable())
    return wrong + packet_filter.troubles()


def links(*options: str) -> Links:
    """Return the network devices by name, with what ip says of them.

    :param options: options of ip
    """
    text = commands.run(
        ["ip", *options, "-json", "address", "show"], timeout=60
    )
    return {link["ifname"]: link for link in json.loads(text) if link}


def unreachable() -> set[str]:
    """Return the ranges that the routing table marks unreachable."""
    text = commands.run(
        ["ip", "-json", "route", "show", "type", "unreachable"], timeout=60
    )
    return {route["dst"] for route in json.loads(text or "[]")}


def compare(
    chosen: addresses.Addresses,
    here: Links,
    inside: Links | None,
    barred: set[str],
) -> list[str]:
    """Return what is missing, a phrase for each.

    :param chosen: the cloud's address ranges
    :param here: the machine's network devices
    :param inside: those of the peer's namespace; None when it is gone
    :param barred: ranges that are marked unreachable
    """
    wrong = []
    for bridge, interface in chosen.bridges.items():
        wrong += of_device(f"bridge {bridge}", here.get(bridge), interface)
    for port in (f"{layout.EXTERNAL_PORT}-br", layout.PEER_PORT):
        if port not in here:
            wrong.append(f"link {port} is gone")
        elif here[port].get("master") != layout.EXTERNAL_BRIDGE:
            wrong.append(f"link {port} is not in {layout.EXTERNAL_BRIDGE}")
    if inside is None:
        wrong.append(f"namespace {layout.PEER_NAMESPACE} is gone")
    else:
        device = inside.get("eth0")
        wrong += of_device("the peer's eth0", device, chosen.peer)
    wrong += [
        f"the route that keeps {network_range} here is gone"
        for network_range in map(str, chosen.ranges)
        if network_range not in barred
    ]
    return wrong


def of_device(
    name: str, device: dict[str, t.Any] | None, interface: t.Any
) -> list[str]:
    """Return what is wrong with one device.

    :param name: what to call it
    :param device: what ip says of it, if it is there
    :param interface: the address it must have
    """
    if device is None:
        return [f"{name} is gone"]
    addresses = {
        f"{entry['local']}/{entry['prefixlen']}"
        for entry in device["addr_info"]
    }
    wrong = []
    if "UP" not in device["flags"]:
        wrong.append(f"{name} is down")
    if str(interface) not in addresses:
        wrong.append(f"{name} has lost its address {interface}")
    return wrong


def expected(folders: layout.Layout, boot_id: str) -> bool:
    """Return whether what is missing was there earlier in this boot.

    :param folders: the state root's folders
    :param boot_id: what tells this boot of the machine from others
    """
    try:
        return (folders.run / NOTE).read_text() == boot_id
    except FileNotFoundError:
        return False


def note(folders: layout.Layout, boot_id: str) -> None:
    """Write down that everything is there, until the next boot.

    :param folders: the state root's folders
    :param boot_id: what tells this boot of the machine from others
    """
    atomic.write(folders.run / NOTE, boot_id)
