"""The ports of guests, and the addresses by which they are reached."""

import collections.abc
import dataclasses
import ipaddress
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from rally_vmperf.guests import request

Names = collections.abc.Callable[[], str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Addresses:
    """The addresses of a guest.

    :param fixed: on the network on which it is reached
    :param measured: by which other guests measure
    :param policies: identifiers of the QoS policies of its ports
    """

    fixed: str
    measured: str
    floating: str | None
    policies: tuple[str, ...] = ()


def for_server(
    connection: sdk.Connection,
    every: collections.abc.Sequence[networks.Network],
    group: str | None,
    new_name: Names,
) -> dict[str, t.Any]:
    """Return the networks of a request to create a server.

    Nova creates a single port. Of several, each is created here, since Nova
    would put all into the same security groups, and a network without port
    security takes none.

    :param group: identifier of the security group, None if there is none
    """
    if len(every) > 1:
        made = [
            {"port": _add(connection, network, group, new_name())}
            for network in every
        ]
        return {"networks": made}
    (network,) = every
    groups = {"security_groups": [{"name": group}]} if group else {}
    return {"networks": [{"uuid": network.id}], **groups}


def _add(
    connection: sdk.Connection,
    network: networks.Network,
    group: str | None,
    name: str,
) -> str:
    groups = {"security_groups": [group]} if group and network.secured else {}
    with cloud.asking(f"create port {name} on network {network.name}"):
        made = connection.network.create_port(
            name=name, network_id=network.id, **groups
        )
    return str(made.id)


def addresses(
    connection: sdk.Connection,
    guest: str,
    server_id: str,
    version: request.IpVersion,
    chosen: networks.Networks,
    new_name: Names,
) -> Addresses:
    """Return a guest's addresses; create a floating IP where it needs one.

    A floating IP bears a name of ours as its description.

    :raises GuestError: with what there is, when no address has the version
    """
    with cloud.asking(f"list the ports of guest {guest}"):
        ports = list(connection.network.ports(device_id=server_id))
    if chosen.pool:
        version = 4
    fixed = fixed_address(guest, ports, chosen.ssh_network, version)
    measured = fixed_address(guest, ports, chosen.traffic_network, version)
    floating = None
    if chosen.pool:
        port = next(
            port
            for port in ports
            if port.network_id == chosen.ssh_network.id
            and fixed in {one["ip_address"] for one in port.fixed_ips}
        )
        with cloud.asking(f"give guest {guest} a floating IP"):
            made = connection.network.create_ip(
                floating_network_id=chosen.pool.id,
                port_id=port.id,
                fixed_ip_address=fixed,
                description=new_name(),
            )
        floating = str(made.floating_ip_address)
    policies = (x.qos_policy_id or x.qos_network_policy_id for x in ports)
    return Addresses(
        fixed=fixed,
        measured=measured,
        floating=floating,
        policies=tuple(one for one in policies if one),
    )


def fixed_address(
    guest: str,
    ports: collections.abc.Iterable[t.Any],
    network: networks.Network,
    version: request.IpVersion,
) -> str:
    """Return the fixed address of a guest on a network.

    Neutron's ports have the identifier of the network; Nova lists addresses by
    its name only.

    :param ports: of the guest, as the SDK has them
    :raises GuestError: with what there is, when no address has the version
    """
    there = [
        ipaddress.ip_address(one["ip_address"])
        for port in ports
        if port.network_id == network.id
        for one in port.fixed_ips
    ]
    for address in there:
        if address.version == version:
            return str(address)
    listed = ", ".join(map(str, there)) or "none"
    raise errors.GuestError(
        f"guest {guest} has no IPv{version} address on network "
        f"{network.name} (it has: {listed}); set ip_version, or give the "
        "network such a subnet"
    )
