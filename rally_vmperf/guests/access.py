"""What lets one into the guests: the key pair and the security group."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud

_ETHERNETS = (("IPv4", "icmp"), ("IPv6", "ipv6-icmp"))
_SSH = (22, 22)
#: Where network workloads listen, on guests and for machines outside.
_WORKLOADS = (5201, 5328)


def add_keypair(connection: sdk.Connection, name: str, public: str) -> None:
    """Register the client's public key with Nova."""
    with cloud.asking(f"create key pair {name}"):
        connection.compute.create_keypair(name=name, public_key=public)


def add_security_group(
    connection: sdk.Connection,
    name: str,
    networks: collections.abc.Iterable[t.Any],
) -> str | None:
    """Make a group that lets in SSH, ICMP and network workloads.

    :param networks: where the guests will be; without port security they
        take no groups, and none is made
    :return: its identifier
    """
    if all(one.is_port_security_enabled is False for one in networks):
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


def rules() -> collections.abc.Iterator[dict[str, t.Any]]:
    """Yield the rules of the group."""
    for ether_type, icmp in _ETHERNETS:
        yield {"ether_type": ether_type, "protocol": icmp}
        for first, last in (_SSH, _WORKLOADS):
            yield {
                "ether_type": ether_type,
                "protocol": "tcp",
                "port_range_min": first,
                "port_range_max": last,
            }
