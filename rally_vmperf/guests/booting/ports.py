# SPDX-License-Identifier: Apache-2.0
"""The ports and addresses of guests."""

import collections.abc
import dataclasses
import ipaddress
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from rally_vmperf.guests import request

Names = collections.abc.Callable[[], str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Addresses:
    """The addresses of a guest.

    :param fixed: The fixed address on the SSH network.
    :param measured: The address that other guests measure against.
    :param floating: The floating IP; None if there is none.
    :param policies: The identifiers of the QoS policies of the ports.
    """

    fixed: str
    measured: str
    floating: str | None
    policies: tuple[str, ...] = ()


def create_ports(
    connection: cloud.Connection,
    guest_networks: collections.abc.Sequence[networks.Network],
    group: str | None,
    new_name: Names,
) -> dict[str, t.Any]:
    """Create ports, and return the networks of a request for a server.

    A single port is created by Nova. Several ports are created here, because
    Nova would add all of them to the same security groups, which a network
    without port security does not support.

    :param group: The identifier of the security group; None if there is none.
    """
    if len(guest_networks) > 1:
        port_references = [
            {"port": _create_port(connection, network, group, new_name())}
            for network in guest_networks
        ]
        return {"networks": port_references}
    (network,) = guest_networks
    groups = {"security_groups": [{"name": group}]} if group else {}
    return {"networks": [{"uuid": network.id}], **groups}


def _create_port(
    connection: cloud.Connection,
    network: networks.Network,
    group: str | None,
    name: str,
) -> str:
    """Create a port on a network, and return its identifier."""
    is_secured = networks.is_secured(network)
    groups = {"security_groups": [group]} if group and is_secured else {}
    with cloud.convert_errors(f"create port {name} on network {network.name}"):
        port = connection.network.create_port(
            name=name, network_id=network.id, **groups
        )
    return str(port.id)


def find_addresses(
    connection: cloud.Connection,
    guest: str,
    server_id: str,
    version: request.IpVersion,
    chosen: networks.Networks,
    new_name: Names,
) -> Addresses:
    """Return a guest's addresses; create a floating IP if required.

    The description of a floating IP is a name from ``new_name``.

    :raises GuestError: If no address has the IP version; the line lists the
        addresses.
    """
    with cloud.convert_errors(f"list the ports of guest {guest}"):
        ports = list(connection.network.ports(device_id=server_id))
    if chosen.pool:
        version = 4
    fixed = find_fixed_address(guest, ports, chosen.ssh_network, version)
    measured = find_fixed_address(
        guest, ports, chosen.traffic_network, version
    )
    floating = None
    if chosen.pool:
        port = next(
            port
            for port in ports
            if port.network_id == chosen.ssh_network.id
            and any(ip["ip_address"] == fixed for ip in port.fixed_ips)
        )
        with cloud.convert_errors(f"create a floating IP for guest {guest}"):
            floating_ip = connection.network.create_ip(
                floating_network_id=chosen.pool.id,
                port_id=port.id,
                fixed_ip_address=fixed,
                description=new_name(),
            )
        floating = str(floating_ip.floating_ip_address)
    policies = (
        guest_port.qos_policy_id or guest_port.qos_network_policy_id
        for guest_port in ports
    )
    return Addresses(
        fixed=fixed,
        measured=measured,
        floating=floating,
        policies=tuple(filter(None, policies)),
    )


def find_fixed_address(
    guest: str,
    ports: collections.abc.Iterable[t.Any],
    network: networks.Network,
    version: request.IpVersion,
) -> str:
    """Return the fixed address of a guest on a network.

    Neutron's ports include the identifier of the network; Nova lists
    addresses by its name only.

    :param ports: The ports of the guest, as objects of the SDK.
    :raises GuestError: If no address has the IP version; the line lists the
        addresses.
    """
    fixed_addresses = [
        ipaddress.ip_address(fixed_ip["ip_address"])
        for port in ports
        if port.network_id == network.id
        for fixed_ip in port.fixed_ips
    ]
    for address in fixed_addresses:
        if address.version == version:
            return str(address)
    listed = ", ".join(map(str, fixed_addresses)) or "none"
    raise errors.GuestError(
        f"guest {guest} has no IPv{version} address on network "
        f"{network.name} (it has: {listed}); set ip_version, or create such "
        "a subnet in the network"
    )
