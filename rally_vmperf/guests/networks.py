"""The networks of guests, and the purpose of each."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Network:
    """A network of Neutron's.

    :param external: routers lead to it, and floating IPs come from it
    :param secured: its ports take security groups
    """

    id: str
    name: str
    external: bool
    secured: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Networks:
    """The networks of a guest.

    :param every: in the order of its ports
    :param ssh_network: by its address there a guest is reached
    :param traffic_network: by its address there other guests measure
    :param pool: the network of floating IPs, None for fixed ones
    """

    every: tuple[Network, ...]
    ssh_network: Network
    traffic_network: Network
    pool: Network | None


def choose(connection: sdk.Connection, asked: request.Request) -> Networks:
    """Return the networks that a request means.

    :raises GuestError: for what is not there, or could be this or that
    """
    every = _every(connection, asked)
    ssh_network = _reach_on(connection, asked, every)
    traffic_network = ssh_network
    if asked.traffic_network:
        traffic_network = _among(
            "traffic_network", asked.traffic_network, every
        )
    pool = None
    if needs_floating(asked, ssh_network):
        pool = floating_pool(connection, asked, ssh_network)
    return Networks(
        every=every,
        ssh_network=ssh_network,
        traffic_network=traffic_network,
        pool=pool,
    )


def needs_floating(asked: request.Request, network: Network) -> bool:
    """Tell whether floating IPs are to be made.

    Guests on an external network are reached directly, jump hosts and
    namespaces lead to fixed IPs, and there are no floating IPs of IPv6.

    :raises GuestError: for floating IPs of IPv6
    """
    if asked.address == "floating" and asked.ip_version == 6:
        raise errors.GuestError(
            "address: floating IPs are IPv4 only, ip_version is 6; "
            'ask for "fixed" or for ip_version 4'
        )
    if asked.address != "auto":
        return asked.address == "floating"
    if asked.jump or asked.namespace:
        return False
    return not network.external and asked.ip_version != 6


def floating_pool(
    connection: sdk.Connection, asked: request.Request, network: Network
) -> Network:
    """Return the external network that floating IPs come from.

    The one asked for, else that behind the network's router, else the only
    one there is.
    """
    with cloud.asking("list external networks"):
        pools = [
            _network(one)
            for one in connection.network.networks(is_router_external=True)
        ]
    if asked.floating_network:
        return choices.one("network", asked.floating_network, pools)
    behind = _gateways(connection, network)
    found = [pool for pool in pools if pool.id in behind]
    return choices.only("external network", "floating_network", found or pools)


#: Owners of the ports by which routers are on networks.
_INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)


def _gateways(connection: sdk.Connection, network: Network) -> set[str]:
    """Return the external networks behind the routers of a network.

    Only those that the project sees: not the ones of others' routers.
    """
    with cloud.asking("list routers"):
        ports = connection.network.ports(
            network_id=network.id, device_owner=list(_INTERFACES)
        )
        routers = sorted({port.device_id for port in ports})
        found = connection.network.routers(id=routers) if routers else ()
        return {
            router.external_gateway_info["network_id"]
            for router in found
            if router.external_gateway_info
        }


def _network(found: t.Any) -> Network:
    return Network(
        id=found.id,
        name=found.name,
        external=bool(found.is_router_external),
        secured=found.is_port_security_enabled is not False,
    )


def _every(
    connection: sdk.Connection, asked: request.Request
) -> tuple[Network, ...]:
    if not asked.networks:
        return (_single(connection, asked),)
    if asked.network:
        raise errors.GuestError(
            "network and networks: give only one of them; networks lists all, "
            "in the order of the guests' ports"
        )
    every = tuple(_named(connection, one) for one in asked.networks)
    for number, one in enumerate(every):
        if one in every[:number]:
            raise errors.GuestError(
                f"networks: {one.name!r} is named twice; name each once"
            )
    return every


def _single(connection: sdk.Connection, asked: request.Request) -> Network:
    if asked.network:
        return _named(connection, asked.network)
    if asked.tenant_network:
        made = request.Reference(by="id", value=asked.tenant_network)
        return _named(connection, made)
    with cloud.asking("list networks"):
        visible = [_network(one) for one in connection.network.networks()]
    return choices.only("network", "network", visible)


def _named(connection: sdk.Connection, wanted: request.Reference) -> Network:
    with cloud.asking("list networks"):
        found = choices.find("network", wanted, connection.network.networks)
    return _network(found)


def _reach_on(
    connection: sdk.Connection,
    asked: request.Request,
    every: tuple[Network, ...],
) -> Network:
    """Return the network on which guests are reached by SSH.

    Never the first for being the first: a rule finds exactly one, or the
    task has to say.
    """
    if asked.ssh_network:
        return _among("ssh_network", asked.ssh_network, every)
    if len(every) == 1:
        return every[0]
    found = [one for one in every if one.external]
    if asked.address == "floating" or (asked.address == "auto" and not found):
        found = [one for one in every if not one.external]
        if len(found) > 1:
            found = [one for one in found if _gateways(connection, one)]
    if len(found) == 1:
        return found[0]
    raise errors.GuestError(
        f"ssh_network: address {asked.address!r} could be that on any of "
        f"{_names(found or every)}; choose one with "
        '"ssh_network": {"name": ...}'
    )


def _among(
    option: str, wanted: request.Reference, every: tuple[Network, ...]
) -> Network:
    for one in every:
        if getattr(one, wanted.by) == wanted.value:
            return one
    raise errors.GuestError(
        f"{option}: {wanted.value!r} is not among the networks of the guests: "
        f"{_names(every)}"
    )


def _names(networks: collections.abc.Iterable[Network]) -> str:
    return ", ".join(str(one.name or one.id) for one in networks)
