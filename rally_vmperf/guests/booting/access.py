# SPDX-License-Identifier: Apache-2.0
"""The security group of a run and its rules.

The rules allow SSH and ICMP from the networks of the controller, and the
traffic of workloads from the other guests of the run.  The peer only answers
and requires no rule.
"""

import collections.abc
import dataclasses
import ipaddress
import socket
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh_config

Rules = collections.abc.Iterator[documents.Arguments]
Sources = collections.abc.Iterable[routes.Network]

_ETHERNETS = {4: "IPv4", 6: "IPv6"}
_ICMP = {4: "icmp", 6: "ipv6-icmp"}
_EVERYWHERE = {4: "0.0.0.0/0", 6: "::/0"}
_SSH = 22


@dataclasses.dataclass(frozen=True, kw_only=True)
class SecurityGroup:
    """A security group that guests receive when they are created.

    :param id: The identifier of the group; None if no port supports groups.
    :param allowed: The networks from which SSH is allowed so far.
    :param pinging: The other networks from which pings are allowed so far.
    """

    connection: cloud.Connection
    name: str
    id: str | None
    allowed: set[routes.Network] = dataclasses.field(default_factory=set)
    pinging: set[routes.Network] = dataclasses.field(default_factory=set)

    def add_rules(self, rules: Rules) -> None:
        """Create rules in Neutron; they must differ from each other."""
        for rule in rules:
            with cloud.convert_errors(
                f"create security group rule in {self.name}"
            ):
                self.connection.network.create_security_group_rule(
                    security_group_id=self.id, direction="ingress", **rule
                )

    def allow_ssh(
        self,
        guest_request: request.Request,
        chosen: networks.Networks,
        guests: collections.abc.Sequence[models.Guest],
        progress: waiting.Progress,
    ) -> tuple[str, ...] | None:
        """Allow SSH from the controller; return its networks, or None.

        :returns: The allowed networks; None if there is no security group.
        """
        if self.id is None:
            return None
        sources: set[routes.Network] = set(guest_request.allowed_sources)
        if not sources and guest_request.jump:
            sources = _find_jump_host_networks(
                self.connection, guest_request.jump[-1], chosen
            )
        elif not sources:
            sources = _find_controller_networks(
                guests, guest_request.namespace, progress
            )
        self.add_rules(rules_for_sources(sources - self.allowed))
        self.allowed.update(sources)
        pinging = _find_networks(guest_request.pinged_from) - self.allowed
        self.add_rules(rules_for_pings(pinging - self.pinging))
        self.pinging.update(pinging)
        source_names = tuple(sorted(map(str, sources)))
        progress(
            f"SSH to guests is allowed from {format_sources(source_names)}"
        )
        return source_names


def create_security_group(
    connection: cloud.Connection,
    name: str,
    guest_networks: collections.abc.Iterable[networks.Network],
    guests: int,
    ports_open: range,
) -> SecurityGroup:
    """Create and return the security group of a run, with its rules.

    :param guest_networks: The networks of the guests. If none of them has
        port security, no group is created.
    :param guests: The number of guests.
    :param ports_open: The ports on which guests listen for one another.
    """
    if not any(map(networks.is_secured, guest_networks)):
        return SecurityGroup(connection=connection, name=name, id=None)
    with cloud.convert_errors(f"create security group {name}"):
        group = connection.network.create_security_group(
            name=name, description="Guests of rally-vmperf"
        )
    group_rules = SecurityGroup(
        connection=connection, name=name, id=str(group.id)
    )
    if guests > 1:
        group_rules.add_rules(rules_between_guests(str(group.id), ports_open))
    return group_rules


def rules_between_guests(group: str, ports_open: range) -> Rules:
    """Yield rules that allow ICMP and ports from members of the group.

    :param ports_open: The ports, for TCP and for UDP.
    """
    for version, ether_type in _ETHERNETS.items():
        shared = {"ether_type": ether_type, "remote_group_id": group}
        yield {**shared, "protocol": _ICMP[version]}
        for protocol in ("tcp", "udp") if ports_open else ():
            yield {**shared, "protocol": protocol, **_limit_ports(ports_open)}


def rules_for_sources(sources: Sources) -> Rules:
    """Yield rules that allow SSH and ICMP from networks."""
    for rule in rules_for_pings(sources):
        yield rule
        yield {**rule, "protocol": "tcp", **_limit_ports((_SSH,))}


def rules_for_pings(sources: Sources) -> Rules:
    """Yield rules that allow ICMP from networks."""
    for source in sorted(sources, key=str):
        yield {
            "ether_type": _ETHERNETS[source.version],
            "remote_ip_prefix": str(source),
            "protocol": _ICMP[source.version],
        }


def _find_networks(address: str) -> set[routes.Network]:
    """Return the addresses of a machine as networks; empty if unknown.

    :param address: The name or address, which ~/.ssh/config may define.
    """
    if not address:
        return set()
    try:
        name = ssh_config.read_entry(address).host
        infos = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        infos = []  # another jump host may be the only one to resolve it
    return {
        ipaddress.ip_network(str(found).partition("%")[0])
        for _, _, _, _, (found, *_) in infos
    }


def _limit_ports(ports: collections.abc.Sequence[int]) -> dict[str, int]:
    """Return the options of a rule for a range of ports."""
    return {"port_range_min": ports[0], "port_range_max": ports[-1]}


def format_sources(source_names: collections.abc.Sequence[str]) -> str:
    """Return the names of networks as one line for messages."""
    return ", ".join(source_names) or "no network: no route to them is known"


def _find_controller_networks(
    guests: collections.abc.Iterable[models.Guest],
    namespace: str | None,
    progress: waiting.Progress,
) -> set[routes.Network]:
    """Return the networks from which this machine reaches the guests."""
    source_by_network = {}
    for address in dict.fromkeys(guest.address for guest in guests):
        source = routes.source_network(address, namespace)
        if source is not None:
            source_by_network[translate_source(source, address)] = source
    for network, source in source_by_network.items():
        if network != source:
            progress(
                f"the addresses of this machine in {source} are translated on "
                f"the route to the guests, so SSH is allowed from {network}; "
                'to restrict it, set "allowed_sources": [NETWORK]'
            )
    return set(source_by_network)


def translate_source(source: routes.Network, address: str) -> routes.Network:
    """Return the network from which a guest sees this machine.

    A private address is translated on the route to a public one. The address
    after translation is not known.

    :param source: The network of this machine.
    :param address: The address of the guest.
    """
    if ipaddress.ip_address(address).is_global and not source.is_global:
        return ipaddress.ip_network(_EVERYWHERE[source.version])
    return source


def _find_jump_host_networks(
    connection: cloud.Connection, host: t.Any, chosen: networks.Networks
) -> set[routes.Network]:
    """Return the networks from which a jump host reaches the guests.

    The jump host is on the network of the guests, or its name resolves to its
    address there. It cannot always be queried.
    """
    sources = _find_networks(host.address)
    if chosen.pool is None:
        network = chosen.ssh_network
        with cloud.convert_errors(
            f"list the subnets of network {network.name}"
        ):
            sources.update(
                ipaddress.ip_network(subnet.cidr)
                for subnet in connection.network.subnets(network_id=network.id)
            )
    return sources
