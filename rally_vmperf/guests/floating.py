"""The addresses of a booted guest, a floating one made where needed."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import addresses
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
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
    entries = (server.addresses or {}).get(planned.network.name, [])
    version: request.IpVersion = 4 if planned.pool else asked.ip_version
    fixed = addresses.fixed(guest, entries, version)
    given = None
    if planned.pool:
        given = _allocate(
            connection, guest, server.id, fixed, planned, new_name()
        )
    return {
        "address": given or fixed,
        "fixed_address": fixed,
        "floating_address": given,
        "reached_by": "floating" if given else "fixed",
    }


def _allocate(
    connection: sdk.Connection,
    guest: str,
    server_id: str,
    fixed: str,
    planned: plan.Plan,
    name: str,
) -> str:
    with cloud.asking(f"give guest {guest} a floating address"):
        ports = connection.network.ports(device_id=server_id)
        of_fixed = [
            port
            for port in ports
            if fixed in {one["ip_address"] for one in port.fixed_ips}
        ]
        if not of_fixed:
            raise errors.GuestError(
                f"guest {guest}: no port of it has {fixed}; run the task again"
            )
        made = connection.network.create_ip(
            floating_network_id=planned.pool.id,
            port_id=of_fixed[0].id,
            fixed_ip_address=fixed,
            description=name,
        )
    return str(made.floating_ip_address)
