"""The security group of a run: what it lets in, and from where.

SSH and ICMP come from where the controller is, and the traffic of workloads
from the other guests of the run.  The peer only answers: it needs no rule.
"""

import collections.abc
import dataclasses
import ipaddress
import socket
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest as guests_
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh_config

Rules = collections.abc.Iterator[dict[str, t.Any]]
Sources = collections.abc.Iterable[routes.Network]

_ETHERNETS = {4: "IPv4", 6: "IPv6"}
_ICMP = {4: "icmp", 6: "ipv6-icmp"}
_EVERYWHERE = {4: "0.0.0.0/0", 6: "::/0"}
_SSH = 22


@dataclasses.dataclass(frozen=True, kw_only=True)
class Access:
    """A security group, which guests get when they are created.

    :param id: its identifier, None where no port takes groups
    """

    connection: sdk.Connection
    name: str
    id: str | None

    def add(self, rules: Rules) -> None:
        """Add rules; several of them may not be the same."""
        for rule in rules:
            with cloud.asking(f"create security group rule in {self.name}"):
                self.connection.network.create_security_group_rule(
                    security_group_id=self.id, direction="ingress", **rule
                )

    def let_in(
        self,
        asked: request.Request,
        chosen: networks.Networks,
        guests: collections.abc.Sequence[guests_.Guest],
        progress: waiting.Progress,
    ) -> tuple[str, ...] | None:
        """Let the controller in, once guests have addresses.

        :return: the networks that it may come from, None for everything
        """
        if self.id is None:
            return None
        found: set[routes.Network] = set(asked.allowed_sources)
        if not found and asked.jump:
            found = _of_jump_host(self.connection, asked.jump[-1], chosen)
        elif not found:
            found = _of_controller(guests, asked.namespace, progress)
        self.add(from_sources(found))
        listed = tuple(sorted(map(str, found)))
        progress(f"SSH to guests is let in from {told(listed)}")
        return listed


def create(
    connection: sdk.Connection,
    name: str,
    every: collections.abc.Iterable[networks.Network],
    guests: int,
    ports_open: range,
) -> Access:
    """Make the group, with its rules between guests.

    :param every: where the guests will be; without port security they
        take no groups, and none is made
    :param guests: their number
    :param ports_open: those at which guests listen for one another
    """
    if not any(network.secured for network in every):
        return Access(connection=connection, name=name, id=None)
    with cloud.asking(f"create security group {name}"):
        group = connection.network.create_security_group(
            name=name, description="Guests of rally-vmperf"
        )
    made = Access(connection=connection, name=name, id=str(group.id))
    if guests > 1:
        made.add(between_guests(str(group.id), ports_open))
    return made


def between_guests(group: str, ports_open: range) -> Rules:
    """Yield rules that let in ICMP and ports from members of the group.

    :param ports_open: by TCP and by UDP
    """
    for version, ether_type in _ETHERNETS.items():
        shared = {"ether_type": ether_type, "remote_group_id": group}
        yield {**shared, "protocol": _ICMP[version]}
        for protocol in ("tcp", "udp") if ports_open else ():
            yield {
                **shared,
                "protocol": protocol,
                "port_range_min": ports_open[0],
                "port_range_max": ports_open[-1],
            }


def from_sources(sources: Sources) -> Rules:
    """Yield rules that let in SSH and ICMP from networks."""
    for source in sorted(sources, key=str):
        shared = {
            "ether_type": _ETHERNETS[source.version],
            "remote_ip_prefix": str(source),
        }
        yield {**shared, "protocol": _ICMP[source.version]}
        yield {
            **shared,
            "protocol": "tcp",
            "port_range_min": _SSH,
            "port_range_max": _SSH,
        }


def told(listed: collections.abc.Sequence[str]) -> str:
    """Return networks in one line, for messages."""
    return ", ".join(listed) or "nowhere: no route to them is known"


def _of_controller(
    guests: collections.abc.Iterable[guests_.Guest],
    namespace: str | None,
    progress: waiting.Progress,
) -> set[routes.Network]:
    """Return the networks out of which this machine reaches the guests."""
    found = {}
    for address in dict.fromkeys(one.address for one in guests):
        source = routes.source(address, namespace)
        if source is not None:
            found[translated(source, address)] = source
    for network, source in found.items():
        if network != source:
            progress(
                f"the addresses of this machine in {source} are translated on "
                f"their way to the guests, which let SSH in from {network} "
                'therefore; narrow that with "allowed_sources": [NETWORK]'
            )
    return set(found)


def translated(source: routes.Network, address: str) -> routes.Network:
    """Return the network from which a guest sees this machine.

    A private address is translated before it comes to a public one, and into
    which is not known here.

    :param source: the network that this machine is in
    :param address: of the guest
    """
    if ipaddress.ip_address(address).is_global and not source.is_global:
        return ipaddress.ip_network(_EVERYWHERE[source.version])
    return source


def _of_jump_host(
    connection: sdk.Connection, host: t.Any, chosen: networks.Networks
) -> set[routes.Network]:
    """Return the networks out of which a jump host reaches the guests.

    It is on the guests' own network, or known by the address that it has
    there: it cannot always be asked.
    """
    found: set[routes.Network] = set()
    try:
        name = ssh_config.entry(host.address).host
        infos = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        infos = []  # its name may be known to another jump host only
    for _, _, _, _, (address, *_) in infos:
        found.add(ipaddress.ip_network(str(address).partition("%")[0]))
    if chosen.pool is None:
        network = chosen.ssh_network
        with cloud.asking(f"list the subnets of network {network.name}"):
            for one in connection.network.subnets(network_id=network.id):
                found.add(ipaddress.ip_network(one.cidr))
    return found
