"""The addresses of a booted guest, a floating one made where needed."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import addresses
from rally_vmperf.guests import cloud
from rally_vmperf.guests import networks
from rally_vmperf.guests import plan
from rally_vmperf.guests import request


def reach(
    connection: sdk.Connection,
    guest: str,
    server: t.Any,
    asked: request.Request,
    planned: plan.Plan,
    new_name: collections.abc.Callable[[], str],
) -> dict[str, str | None]:
    """Return a guest's addresses, and which of them is used.

    A floating address bears a name of ours as its description.
    """
    chosen = planned.networks
    with cloud.asking(f"list the ports of guest {guest}"):
        ports = list(connection.network.ports(device_id=server.id))
    version: request.IpVersion = 4 if chosen.pool else asked.ip_version
    fixed = addresses.fixed(guest, ports, chosen.reach_on, version)
    measured = addresses.fixed(guest, ports, chosen.measure_on, version)
    given = None
    if chosen.pool:
        given = _allocate(connection, guest, ports, fixed, chosen, new_name)
    return {
        "address": given or fixed,
        "fixed_address": fixed,
        "floating_address": given,
        "measure_address": measured,
        "reached_by": "floating" if given else "fixed",
    }


def _allocate(
    connection: sdk.Connection,
    guest: str,
    ports: collections.abc.Iterable[t.Any],
    fixed: str,
    chosen: networks.Networks,
    new_name: collections.abc.Callable[[], str],
) -> str:
    of_fixed = next(
        port
        for port in ports
        if port.network_id == chosen.reach_on.id
        and fixed in {one["ip_address"] for one in port.fixed_ips}
    )
    with cloud.asking(f"give guest {guest} a floating address"):
        made = connection.network.create_ip(
            floating_network_id=chosen.pool.id,
            port_id=of_fixed.id,
            fixed_ip_address=fixed,
            description=new_name(),
        )
    return str(made.floating_ip_address)
