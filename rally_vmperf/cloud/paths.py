"""The ways that Neutron's agents lay for guests' packets."""

import collections.abc
import dataclasses
import json
import pathlib
import time
import typing as t

from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import commands
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import network
from rally_vmperf.cloud import network_removal
from rally_vmperf.cloud import ownership
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import supervisor

POLL = 1.0
HELPERS = ("dnsmasq", "haproxy")
# What the linuxbridge agent and the L3 agent put into each table.
HOST_RULES = (
    "-A INPUT -j neutron-linuxbri-INPUT",
    "-A FORWARD -j neutron-linuxbri-FORWARD",
)
ROUTER_RULES = (
    "-A PREROUTING -j neutron-l3-agent-PREROUTING",
    "-A POSTROUTING -j neutron-l3-agent-POSTROUTING",
    "-A neutron-l3-agent-snat -o ",
)


@dataclasses.dataclass(frozen=True)
class Way:
    """From a namespace of an agent to an address.

    :param namespace: its name
    :param target: what must answer from there
    :param pid_files: of the processes that serve guests in it
    :param rules: what must be in its NAT table
    """

    namespace: str
    target: str
    pid_files: tuple[str, ...]
    rules: tuple[str, ...] = ()


def expected(
    cloud: t.Any, wanted: dict[str, t.Any], place: layout.Layout
) -> list[Way]:
    """Return the ways that the cloud's own networks must have.

    :param cloud: a connection as administrator
    :param wanted: what resources.yaml.j2 says
    :param place: the state root's folders
    """
    neutron = cloud.network
    public = neutron.find_network(wanted["router"]["gateway"]).id
    subnet = neutron.find_subnet(wanted["router"]["subnet"])
    router = neutron.find_router(wanted["router"]["name"]).id
    outside = addresses.load(place).gateway
    folder = place.data / "neutron"
    metadata = folder / "external" / "pids"
    return [
        Way(
            f"qdhcp-{public}",
            outside,
            (
                f"{folder}/dhcp/{public}/pid",
                f"{metadata}/{public}.pid.haproxy",
            ),
        ),
        Way(
            f"qdhcp-{subnet.network_id}",
            subnet.gateway_ip,
            (f"{folder}/dhcp/{subnet.network_id}/pid",),
        ),
        Way(
            f"qrouter-{router}",
            outside,
            (f"{metadata}/{router}.pid.haproxy",),
            ROUTER_RULES,
        ),
    ]


def save(place: layout.Layout, ways: list[Way], agents: str) -> None:
    """Write down what works, and who laid it.

    :param place: the state root's folders
    :param ways: what works
    :param agents: what tells the agents' present runs from others
    """
    content = {"agents": agents, "ways": [vars(way) for way in ways]}
    credentials.write_private(place.ways, json.dumps(content) + "\n")


def saved(place: layout.Layout) -> list[Way]:
    """Return the ways that worked when they were last looked at.

    :param place: the state root's folders
    """
    content = documents.read(place.ways) or {}
    return [Way(**entry) for entry in content.get("ways", [])]


def troubles(ways: collections.abc.Iterable[Way]) -> list[str]:
    """Return what is wrong, a phrase for each."""
    rules = commands.run(["iptables-save", "-t", "filter"])
    wrong = lacking("this machine", HOST_RULES, rules)
    for way in ways:
        wrong += of_way(way)
    return wrong


def of_way(way: Way) -> list[str]:
    """Return what is wrong with one way."""
    name = way.namespace
    if not network.is_namespace(name):
        return [f"namespace {name} is gone"]
    inside = commands.run(["ip", "netns", "pids", name]).split()
    wrong = [
        f"no process of {path} is in {name}"
        for path in map(pathlib.Path, way.pid_files)
        if not path.is_file() or path.read_text().strip() not in inside
    ]
    if way.rules:
        command = ["ip", "netns", "exec", name, "iptables-save", "-t", "nat"]
        wrong += lacking(name, way.rules, commands.run(command))
    ping = ["ping", "-c", "1", "-W", "1", way.target]
    if not commands.quietly(["ip", "netns", "exec", name, *ping]):
        wrong.append(f"{way.target} does not answer in {name}")
    return wrong


def lacking(
    where: str, rules: collections.abc.Iterable[str], saved: str
) -> list[str]:
    """Say whether a firewall lacks what an agent put there.

    :param where: whose firewall it is
    :param rules: beginnings of rules
    :param saved: what iptables-save printed
    """
    lines = saved.splitlines()
    for rule in rules:
        if not any(line.startswith(rule) for line in lines):
            return [f"the firewall of {where} has lost Neutron's rules"]
    return []


def settled(
    ways: list[Way], patience: float, clock: t.Any = time
) -> list[str]:
    """Wait until nothing is wrong; return what still is in the end.

    :param ways: what must work
    :param patience: seconds that agents may take
    :param clock: tells the time and waits
    """
    deadline = clock.monotonic() + patience
    while (wrong := troubles(ways)) and clock.monotonic() < deadline:
        clock.sleep(POLL)
    return wrong


def remove(
    keeper: supervisor.Supervisor,
    place: layout.Layout,
    agents: collections.abc.Iterable[str],
) -> None:
    """Take away what the agents laid, so that they lay it anew.

    :param keeper: stops the agents
    :param place: the state root's folders
    :param agents: their names
    """
    for agent in agents:
        keeper.stop(agent)
    for pid in helpers(place, keeper.processes):
        supervisor.send(pid, supervisor.signal.SIGKILL)
    for name in network_removal.namespaces():
        if name != layout.PEER_NAMESPACE:
            commands.quietly(["ip", "netns", "delete", name])


def helpers(place: layout.Layout, processes: procfs.ProcessTable) -> list[int]:
    """Return what the cloud's agents started to serve guests."""
    return [
        pid
        for pid in processes.pids()
        if ownership.program(processes.command_line(pid)) in HELPERS
        and processes.environment(pid).get(commands.MARK) == str(place.root)
    ]
