# SPDX-License-Identifier: Apache-2.0
"""The networks of guests and their purposes."""

import collections.abc
import dataclasses
import typing as t

from openstack.network.v2 import network as sdk_network

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve

#: A network in Neutron, as an object of the SDK.
Network: t.TypeAlias = sdk_network.Network


@dataclasses.dataclass(frozen=True, kw_only=True)
class Networks:
    """The networks of a guest.

    :param networks: All networks in the order of the ports.
    :param ssh_network: The network of the addresses for SSH.
    :param traffic_network: The network of the traffic between guests.
    :param pool: The network of floating IPs; None for fixed addresses.
    """

    networks: tuple[Network, ...]
    ssh_network: Network
    traffic_network: Network
    pool: Network | None


def choose_networks(
    connection: cloud.Connection, guest_request: request.Request
) -> Networks:
    """Return the networks for a request: ports, SSH and floating IPs.

    :raises GuestError: If a network does not exist or is ambiguous.
    """
    guest_networks = _find_networks(connection, guest_request)
    ssh_network = _choose_ssh_network(
        connection, guest_request, guest_networks
    )
    traffic_network = ssh_network
    if guest_request.traffic_network:
        traffic_network = _choose_among(
            "traffic_network", guest_request.traffic_network, guest_networks
        )
    for network in guest_networks:
        _check_subnets(connection, guest_request, network)
    pool = None
    if needs_floating(guest_request, ssh_network):
        pool = find_floating_pool(connection, guest_request, ssh_network)
    return Networks(
        networks=guest_networks,
        ssh_network=ssh_network,
        traffic_network=traffic_network,
        pool=pool,
    )


def _check_subnets(
    connection: cloud.Connection,
    guest_request: request.Request,
    network: Network,
) -> None:
    """Reject a network in which guests receive no address.

    Guests with a config drive read their address from it. The subnets of an
    external network may be invisible.
    """
    if misfit := resolve.find_network_misfit(network):
        raise errors.GuestError(f"network {network.name!r} {misfit}")
    version = guest_request.ip_version
    with cloud.convert_errors(f"list the subnets of network {network.name}"):
        known = list(connection.network.subnets(network_id=network.id))
    subnets = [subnet for subnet in known if subnet.ip_version == version]
    if not subnets and (known or not network.is_router_external):
        others = " or ".join(sorted({f"{one.ip_version}" for one in known}))
        remedy = f"set ip_version to {others}, " if known else ""
        raise errors.GuestError(
            f"network {network.name!r} has no subnet of IPv{version}; "
            f"{remedy}add one with: openstack subnet create, or choose "
            "another network"
        )
    has_drive = all(group.config_drive for group in guest_request.groups)
    if not subnets or has_drive:
        return
    if not any(subnet.is_dhcp_enabled for subnet in subnets):
        raise errors.GuestError(
            f"network {network.name!r}: DHCP is disabled in its subnets "
            f"({resolve.format_names(subnets)}), so that guests receive no "
            'address; enable DHCP, set "config_drive": true, or choose '
            "another network"
        )


def needs_floating(guest_request: request.Request, network: Network) -> bool:
    """Return whether floating IPs are to be created.

    Guests on an external network are reached directly, jump hosts and
    namespaces reach fixed IPs, and floating IPs do not support IPv6.

    :raises GuestError: If floating IPs of IPv6 are requested.
    """
    if guest_request.address == "floating" and guest_request.ip_version == 6:
        raise errors.GuestError(
            "address=floating: floating IPs do not support ip_version 6; "
            'set address to "fixed" or ip_version to 4'
        )
    if guest_request.address != "auto":
        return guest_request.address == "floating"
    if guest_request.jump or guest_request.namespace:
        return False
    return not network.is_router_external and guest_request.ip_version != 6


def find_floating_pool(
    connection: cloud.Connection,
    guest_request: request.Request,
    network: Network,
) -> Network:
    """Return the external network of the floating IPs.

    It is the requested network, else the network behind the router, else the
    only external network.
    """
    with cloud.convert_errors("list external networks"):
        pools = list(connection.network.networks(is_router_external=True))
    candidates = pools
    if guest_request.floating_network:
        candidates = [
            resolve.get_by_reference(
                "network", guest_request.floating_network, pools
            )
        ]
    pool_ids = _find_gateways(connection, network)
    reachable_pools = [pool for pool in candidates if pool.id in pool_ids]
    # Routers of other projects, which are behind shared networks, are hidden.
    if not reachable_pools and getattr(network, "is_shared", True) is False:
        raise errors.GuestError(
            f"network {network.name!r} has no router to the network of "
            f"floating IPs ({resolve.format_names(candidates)}); connect one "
            'with: openstack router add subnet, or set "address": "fixed" if '
            "this machine reaches the network"
        )
    return resolve.get_only(
        "external network", "floating_network", reachable_pools or candidates
    )


#: Device owners of the ports of routers.
INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)


def _find_gateways(connection: cloud.Connection, network: Network) -> set[str]:
    """Return the ids of external networks behind a network's routers.

    Routers of other projects are not visible.
    """
    with cloud.convert_errors("list routers"):
        ports = connection.network.ports(
            network_id=network.id, device_owner=list(INTERFACES)
        )
        router_ids = sorted({port.device_id for port in ports})
        routers = (
            connection.network.routers(id=router_ids) if router_ids else ()
        )
        return {
            router.external_gateway_info["network_id"]
            for router in routers
            if router.external_gateway_info
        }


def is_secured(network: Network) -> bool:
    """Return whether the ports of a network support security groups."""
    return network.is_port_security_enabled is not False


def _find_networks(
    connection: cloud.Connection, guest_request: request.Request
) -> tuple[Network, ...]:
    """Return the networks of the guests' ports; reject duplicates."""
    if not guest_request.networks:
        return (_find_single_network(connection, guest_request),)
    if guest_request.network:
        raise errors.GuestError(
            "network and networks: cannot be combined; list all networks in "
            "networks, in the order of the guests' ports"
        )
    guest_networks = tuple(
        _find_network(connection, reference)
        for reference in guest_request.networks
    )
    for position, network in enumerate(guest_networks):
        if network in guest_networks[:position]:
            raise errors.GuestError(
                f"networks: {network.name!r}: must be listed once"
            )
    return guest_networks


def _find_single_network(
    connection: cloud.Connection, guest_request: request.Request
) -> Network:
    """Return the network from the options, from Rally, or the only one."""
    reference, tenant = guest_request.network, guest_request.tenant_network
    if tenant and not reference:
        reference = request.ResourceReference(by="id", value=tenant)
    if reference:
        return _find_network(connection, reference)
    with cloud.convert_errors("list networks"):
        visible = list(connection.network.networks())
    return resolve.get_only("network", "network", visible)


def _find_network(
    connection: cloud.Connection, reference: request.ResourceReference
) -> Network:
    """Return the network with a name or id; reject an unknown one."""
    with cloud.convert_errors("list networks"):
        return resolve.find_by_reference(
            "network", reference, connection.network.networks
        )


def _choose_ssh_network(
    connection: cloud.Connection,
    guest_request: request.Request,
    guest_networks: tuple[Network, ...],
) -> Network:
    """Return the network on which guests are reached by SSH.

    A rule must select exactly one network, otherwise the task must select it.
    """
    if guest_request.ssh_network:
        return _choose_among(
            "ssh_network", guest_request.ssh_network, guest_networks
        )
    if len(guest_networks) == 1:
        return guest_networks[0]
    candidates = [
        network for network in guest_networks if network.is_router_external
    ]
    if guest_request.address == "floating" or (
        guest_request.address == "auto" and not candidates
    ):
        candidates = [
            network
            for network in guest_networks
            if not network.is_router_external
        ]
        if len(candidates) > 1:
            candidates = [
                network
                for network in candidates
                if _find_gateways(connection, network)
            ]
    if len(candidates) == 1:
        return candidates[0]
    raise errors.GuestError(
        f"ssh_network: address {guest_request.address!r} is ambiguous in "
        f"networks {_format_names(candidates or guest_networks)}; select one "
        'with "ssh_network": {"name": ...}'
    )


def _choose_among(
    option: str,
    reference: request.ResourceReference,
    guest_networks: tuple[Network, ...],
) -> Network:
    """Return the guests' network that an option names; reject others."""
    for network in guest_networks:
        if getattr(network, reference.by) == reference.value:
            return network
    raise errors.GuestError(
        f"{option}: {reference.value!r} is not one of the networks of the "
        f"guests: {_format_names(guest_networks)}"
    )


def _format_names(networks: collections.abc.Iterable[Network]) -> str:
    """Return names of networks, or their ids, separated by commas."""
    return ", ".join(str(network.name or network.id) for network in networks)
