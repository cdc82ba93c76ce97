"""The ways that Neutron's agents lay for guests' packets."""

import collections.abc
import dataclasses
import json
import pathlib
import time
import typing as t

from rally_vmperf import atomic
from rally_vmperf.cloud.network import network
from rally_vmperf.cloud.network import network_removal
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs

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
class DataPath:
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
    cloud: t.Any, wanted: dict[str, t.Any], folders: layout.Layout
) -> list[DataPath]:
    """Return the ways that the cloud's own networks must have.

    :param cloud: a connection as administrator
    :param wanted: what resources.yaml.j2 says
    :param folders: the state root's folders
    """
    neutron = cloud.network
    public = neutron.find_network(wanted["router"]["gateway"]).id
    subnet = neutron.find_subnet(wanted["router"]["subnet"])
    router = neutron.find_router(wanted["router"]["name"]).id
    outside = addresses.load(folders).gateway
    folder = folders.data / "neutron"
    metadata = folder / "external" / "pids"
    return [
        DataPath(
            f"qdhcp-{public}",
            outside,
            (
                f"{folder}/dhcp/{public}/pid",
                f"{metadata}/{public}.pid.haproxy",
            ),
        ),
        DataPath(
            f"qdhcp-{subnet.network_id}",
            subnet.gateway_ip,
            (f"{folder}/dhcp/{subnet.network_id}/pid",),
        ),
        DataPath(
            f"qrouter-{router}",
            outside,
            (f"{metadata}/{router}.pid.haproxy",),
            ROUTER_RULES,
        ),
    ]


def save(
    folders: layout.Layout, data_paths: list[DataPath], agents: str
) -> None:
    """Write down what works, and who laid it.

    :param folders: the state root's folders
    :param data_paths: what works
    :param agents: what tells the agents' present runs from others
    """
    content = {
        "agents": agents,
        "ways": [vars(data_path) for data_path in data_paths],
    }
    atomic.write(folders.data_paths, json.dumps(content) + "\n")


def saved(folders: layout.Layout) -> list[DataPath]:
    """Return the ways that worked when they were last looked at.

    :param folders: the state root's folders
    """
    content = documents.read(folders.data_paths) or {}
    return [DataPath(**entry) for entry in content.get("ways", [])]


def troubles(data_paths: collections.abc.Iterable[DataPath]) -> list[str]:
    """Return what is wrong, a phrase for each."""
    rules = commands.run(["iptables-save", "-t", "filter"])
    wrong = lacking("this machine", HOST_RULES, rules)
    for data_path in data_paths:
        wrong += of_data_path(data_path)
    return wrong


def of_data_path(data_path: DataPath) -> list[str]:
    """Return what is wrong with one way."""
    name = data_path.namespace
    if not network.is_namespace(name):
        return [f"namespace {name} is gone"]
    inside = commands.run(["ip", "netns", "pids", name]).split()
    wrong = [
        f"no process of {path} is in {name}"
        for path in map(pathlib.Path, data_path.pid_files)
        if not path.is_file() or path.read_text().strip() not in inside
    ]
    if data_path.rules:
        command = ["ip", "netns", "exec", name, "iptables-save", "-t", "nat"]
        wrong += lacking(name, data_path.rules, commands.run(command))
    ping = ["ping", "-c", "1", "-W", "1", data_path.target]
    if not commands.quietly(["ip", "netns", "exec", name, *ping]):
        wrong.append(f"{data_path.target} does not answer in {name}")
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
    data_paths: list[DataPath], patience: float, clock: t.Any = time
) -> list[str]:
    """Wait until nothing is wrong; return what still is in the end.

    :param data_paths: what must work
    :param patience: seconds that agents may take
    :param clock: tells the time and waits
    """
    deadline = clock.monotonic() + patience
    while (wrong := troubles(data_paths)) and clock.monotonic() < deadline:
        clock.sleep(POLL)
    return wrong


def remove(
    keeper: supervisor.Supervisor,
    folders: layout.Layout,
    agents: collections.abc.Iterable[str],
) -> None:
    """Remove what the agents set up, so that they set it up again.

    :param keeper: stops the agents
    :param folders: the state root's folders
    :param agents: their names
    """
    for agent in agents:
        keeper.stop(agent)
    for pid in helpers(folders, keeper.processes):
        supervisor.send(pid, supervisor.signal.SIGKILL)
    for name in network_removal.namespaces():
        if name != layout.PEER_NAMESPACE:
            commands.quietly(["ip", "netns", "delete", name])


def helpers(
    folders: layout.Layout, processes: procfs.ProcessTable
) -> list[int]:
    """Return what the cloud's agents started to serve guests."""
    return [
        pid
        for pid in processes.pids()
        if ownership.program(processes.command_line(pid)) in HELPERS
        and processes.environment(pid).get(commands.MARK) == str(folders.root)
    ]
