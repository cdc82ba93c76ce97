"""What the guests of a run share: key pair, security and server group."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import networks

_ETHERNETS = (("IPv4", "icmp"), ("IPv6", "ipv6-icmp"))
_SSH = (22, 22)
#: Where network workloads listen, on guests and for machines outside.
_WORKLOADS = (5201, 5328)
_PORTS = (("tcp", _SSH), ("tcp", _WORKLOADS), ("udp", _WORKLOADS))


def add_keypair(connection: sdk.Connection, name: str, public: str) -> None:
    """Register the client's public key with Nova."""
    with cloud.asking(f"create key pair {name}"):
        connection.compute.create_keypair(name=name, public_key=public)


def add_security_group(
    connection: sdk.Connection,
    name: str,
    every: collections.abc.Iterable[networks.Network],
) -> str | None:
    """Make a group that lets in SSH, ICMP and network workloads.

    :param every: where the guests will be; without port security they
        take no groups, and none is made
    :return: its identifier
    """
    if not any(network.secured for network in every):
        return None
    with cloud.asking(f"create security group {name}"):
        group = connection.network.create_security_group(
            name=name, description="Guests of rally-vmperf"
        )
        for rule in rules():
            connection.network.create_security_group_rule(
                security_group_id=group.id, direction="ingress", **rule
            )
    return str(group.id)


def add_server_group(
    connection: sdk.Connection, name: str, policy: str
) -> str:
    """Make a server group; return its identifier."""
    with cloud.asking(f"create server group {name} ({policy})"):
        # The SDK says it in the words of the API's version, old or new.
        made = connection.compute.create_server_group(
            name=name, policies=[policy]
        )
    return str(made.id)


def rules() -> collections.abc.Iterator[dict[str, t.Any]]:
    """Yield the rules of the group."""
    for ether_type, icmp in _ETHERNETS:
        yield {"ether_type": ether_type, "protocol": icmp}
        for protocol, (first, last) in _PORTS:
            yield {
                "ether_type": ether_type,
                "protocol": protocol,
                "port_range_min": first,
                "port_range_max": last,
            }
