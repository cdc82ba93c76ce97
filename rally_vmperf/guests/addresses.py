"""How a guest is reached: by which of its addresses, floating or fixed."""

import collections.abc
import ipaddress
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request


def needs_floating(asked: request.Request, network: t.Any) -> bool:
    """Tell whether floating addresses are to be made.

    Guests on an external network are reached directly, and IPv6 knows no
    floating addresses.

    :raises GuestError: for floating addresses of IPv6
    """
    if asked.address == "floating" and asked.ip_version == 6:
        raise errors.GuestError(
            "address: floating addresses are IPv4 only, ip_version is 6; "
            'ask for "fixed" or for ip_version 4'
        )
    if asked.address != "auto":
        return asked.address == "floating"
    return not network.is_router_external and asked.ip_version != 6


def fixed(
    guest: str,
    ports: collections.abc.Iterable[t.Any],
    network: t.Any,
    version: request.IpVersion,
) -> str:
    """Return the fixed address of a guest on a network.

    Neutron's ports know the network by its identifier; in what Nova lists,
    networks of one name are one.

    :param ports: of the guest
    :raises GuestError: with what there is, when no address has the version
    """
    there = [
        ipaddress.ip_address(one["ip_address"])
        for port in ports
        if port.network_id == network.id
        for one in port.fixed_ips
    ]
    order = (4, 6) if version == "any" else (version,)
    for wanted in order:
        for one in there:
            if one.version == wanted:
                return str(one)
    listed = ", ".join(map(str, there)) or "none"
    raise errors.GuestError(
        f"guest {guest} has no IPv{version} address on network "
        f"{network.name} (it has: {listed}); set ip_version, or give the "
        "network such a subnet"
    )


def floating_pool(
    connection: sdk.Connection, asked: request.Request, network: t.Any
) -> t.Any:
    """Return the external network that floating addresses come from.

    The one asked for, else that behind the network's router, else the only
    one there is.
    """
    with cloud.asking("list external networks"):
        pools = list(connection.network.networks(is_router_external=True))
    if asked.floating_network:
        return choices.one("network", asked.floating_network, pools)
    behind = gateways(connection, network)
    found = [pool for pool in pools if pool.id in behind]
    return choices.only("external network", "floating_network", found or pools)


def gateways(connection: sdk.Connection, network: t.Any) -> set[str]:
    """Return the external networks behind the routers of a network.

    Only those that the project sees: not the ones of others' routers.
    """
    with cloud.asking("list routers"):
        ports = list(connection.network.ports(network_id=network.id))
        routers = {port.device_id for port in ports}
        return {
            router.external_gateway_info["network_id"]
            for router in connection.network.routers()
            if router.id in routers and router.external_gateway_info
        }
