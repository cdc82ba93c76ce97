"""Take the cloud's bridges, namespaces and firewall rules away."""

import contextlib
import pathlib
import re

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import network

NAMESPACES = re.compile(rf"(qdhcp|qrouter)-.*|{layout.PEER_NAMESPACE}")
# What Neutron and Nova name after ports and networks, and the tc shim's ifb.
DEVICES = re.compile(r"(brq|tap|ifb)[0-9a-f]{8}-[0-9a-f]{2}|vxlan-\d+")
OURS = (
    layout.PEER_PORT,
    layout.EXTERNAL_PORT,
    layout.EXTERNAL_BRIDGE,
    layout.MANAGEMENT_BRIDGE,
)
SETS = re.compile(r"NIPv[46].+")
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def namespaces() -> list[str]:
    """Return the names of the cloud's network namespaces."""
    folder = pathlib.Path("/run/netns")
    names = (entry.name for entry in folder.glob("*"))
    return sorted(name for name in names if NAMESPACES.fullmatch(name))


def inhabitants() -> set[int]:
    """Return the processes in those namespaces."""
    found: set[int] = set()
    for name in namespaces():
        # 1: not a namespace any more, only its name is left
        listing = commands.run(["ip", "netns", "pids", name], accept=(0, 1))
        found.update(int(word) for word in listing.split() if word.isdigit())
    return found


def remove() -> None:
    """Remove all of it; what is gone already is no failure."""
    for name in namespaces():
        commands.quietly(["ip", "netns", "delete", name])
    present = [
        entry.name for entry in pathlib.Path("/sys/class/net").iterdir()
    ]
    for device in present:
        if device in OURS or DEVICES.fullmatch(device):
            commands.quietly(["ip", "link", "delete", device])
    for tool in ("iptables", "ip6tables"):
        remove_rules(tool)
    for name in sets():
        commands.quietly(["ipset", "destroy", name])
    for unreachable in network.RANGES:
        commands.quietly(
            ["ip", "route", "delete", "unreachable", str(unreachable),
             "metric", network.METRIC]
        )  # fmt: skip
    remove_cgroups()


def without_neutron(saved: str) -> str:
    """Return a saved rule set without Neutron's chains and rules."""
    return "".join(
        line
        for line in saved.splitlines(keepends=True)
        if "neutron-" not in line
    )


def remove_rules(tool: str) -> None:
    """Remove Neutron's rules from the machine's firewall.

    :param tool: iptables or ip6tables
    """
    if not commands.quietly([f"{tool}-save"]):
        return
    saved = commands.run([f"{tool}-save"])
    if "neutron-" in saved:
        commands.run([f"{tool}-restore"], text=without_neutron(saved))


def sets() -> list[str]:
    """Return the names of Neutron's sets of addresses."""
    if not commands.quietly(["ipset", "list", "-name"]):
        return []
    names = commands.run(["ipset", "list", "-name"]).split()
    return [name for name in names if SETS.fullmatch(name)]


def remove_cgroups() -> None:
    """Remove the groups libvirt made for guests."""
    for top in (*CGROUPS.glob("machine"), *CGROUPS.glob("*/machine")):
        groups = [path for path in top.rglob("*") if path.is_dir()]
        for group in (*sorted(groups, reverse=True), top):
            # a group with somebody else's guest in it stays
            with contextlib.suppress(OSError):
                group.rmdir()
