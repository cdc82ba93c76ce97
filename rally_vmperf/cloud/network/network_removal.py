"""Remove the cloud's bridges, namespaces and firewall rules."""

import contextlib
import json
import pathlib
import re
import shlex
import typing as t

from rally_vmperf.cloud.network import packet_filter
from rally_vmperf.cloud.network import routing
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NAMESPACES = re.compile(rf"(qdhcp|qrouter)-{UUID}|{layout.PEER_NAMESPACE}")
# What Neutron and Nova name after ports and networks, and the tc shim's ifb.
DEVICES = re.compile(r"(brq|tap|ifb)[0-9a-f]{8}-[0-9a-f]{2}")
# Chains that Neutron's linuxbridge agent makes on the machine.
CHAINS = re.compile(
    r"neutron-(linuxbri-[A-Za-z0-9-]+|filter-top|postrouting-bottom)"
)
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


def remove(chosen: addresses.Addresses) -> None:
    """Remove all of it; what is missing is ignored.

    :param chosen: the cloud's address ranges
    """
    for name in namespaces():
        commands.quietly(["ip", "netns", "delete", name])
    devices = links()
    for device in (*tunnels(devices, chosen), *named(devices)):
        commands.quietly(["ip", "link", "delete", device])
    packet_filter.remove()
    for tool in ("iptables", "ip6tables"):
        remove_rules(tool)
    for name in sets():
        commands.quietly(["ipset", "destroy", name])
    for unreachable in chosen.ranges:
        commands.quietly(
            ["ip", "route", "delete", "unreachable", str(unreachable),
             "metric", str(routing.METRIC)]
        )  # fmt: skip
    remove_cgroups()


def links() -> list[dict[str, t.Any]]:
    """Return the machine's network devices, as ip describes them."""
    text = commands.run(["ip", "-details", "-json", "link", "show"])
    return [link for link in json.loads(text) if link]


def tunnels(
    devices: list[dict[str, t.Any]], chosen: addresses.Addresses
) -> list[str]:
    """Return the VXLAN devices that end on the cloud's own bridge.

    :param devices: the machine's network devices
    :param chosen: the cloud's address ranges
    """
    found = []
    for device in devices:
        about = device.get("linkinfo", {})
        end = about.get("info_data", {})
        if about.get("info_kind") == "vxlan" and (
            end.get("link") == layout.MANAGEMENT_BRIDGE
            or end.get("local") == chosen.controller
        ):
            found.append(device["ifname"])
    return found


def named(devices: list[dict[str, t.Any]]) -> list[str]:
    """Return the other devices of the cloud, found by their names."""
    names = [device["ifname"] for device in devices]
    return [name for name in names if name in OURS or DEVICES.fullmatch(name)]


def removal_of_rules(saved: str) -> str:
    """Return the input of iptables-restore that removes Neutron's rules.

    :param saved: what iptables-save printed
    """
    lines = []
    for line in saved.splitlines():
        chain = line[1:].partition(" ")[0]
        if line.startswith("*"):
            rules, emptied, gone = [], [], []
            lines.append(line)
        elif line.startswith(":") and CHAINS.fullmatch(chain):
            emptied.append(f"-F {chain}")
            gone.append(f"-X {chain}")
        elif line.startswith("-A "):
            words = shlex.split(line)
            target = next(
                (
                    words[number + 1]
                    for number, word in enumerate(words[:-1])
                    if word in ("-j", "-g")
                ),
                "",
            )
            if CHAINS.fullmatch(target) and not CHAINS.fullmatch(words[1]):
                rules.append(line.replace("-A ", "-D ", 1))
        elif line == "COMMIT":
            lines += [*rules, *emptied, *gone, line]
    return "".join(f"{line}\n" for line in lines)


def remove_rules(tool: str) -> None:
    """Remove Neutron's rules from the machine's firewall.

    :param tool: iptables or ip6tables
    """
    if not commands.quietly([f"{tool}-save"]):
        return
    text = removal_of_rules(commands.run([f"{tool}-save"]))
    if "-X " in text:
        commands.run([f"{tool}-restore", "--noflush"], text=text)


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
