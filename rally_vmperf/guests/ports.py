"""The network cards of a guest."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud

Json = dict[str, t.Any]
Names = collections.abc.Callable[[], str]


def cards(
    connection: sdk.Connection,
    networks: collections.abc.Sequence[t.Any],
    group: str | None,
    new_name: Names,
) -> Json:
    """Return what Nova's API is told about the network cards of a server.

    A single one is left to Nova.  Of several, each is a port of ours, since
    Nova would put all into the same security groups, and a network without
    port security takes none.

    :param group: identifier of the security group, None if there is none
    """
    if len(networks) > 1:
        made = [
            {"port": _add(connection, network, group, new_name())}
            for network in networks
        ]
        return {"networks": made}
    (network,) = networks
    groups = {"security_groups": [{"name": group}]} if group else {}
    return {"networks": [{"uuid": network.id}], **groups}


def _add(
    connection: sdk.Connection, network: t.Any, group: str | None, name: str
) -> str:
    secured = network.is_port_security_enabled is not False
    groups = {"security_groups": [group]} if group and secured else {}
    with cloud.asking(f"create port {name} on network {network.name}"):
        made = connection.network.create_port(
            name=name, network_id=network.id, **groups
        )
    return str(made.id)
