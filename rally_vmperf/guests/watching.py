"""Whether guests are still where they were, asked of Nova."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.measurement import finding

Guest = collections.abc.Mapping[str, t.Any]


def changes(
    connection: sdk.Connection, guests: collections.abc.Iterable[Guest]
) -> list[finding.Finding]:
    """Return which guests are on another host, or no longer active.

    Members see hosts only as ``hostId``, a hash that differs by project, but
    that is enough to notice a move.
    """
    found = []
    for guest in guests:
        name = guest["name"]
        try:
            server = connection.compute.get_server(guest["id"])
        except cloud.REFUSALS as error:
            found.append(
                finding.Finding(
                    kind="placement_unknown",
                    subject=name,
                    seen=f"Nova did not say where {name} is: "
                    f"{cloud.one_line(error)}",
                )
            )
            continue
        if server.host_id != guest["host_id"] or server.status != "ACTIVE":
            found.append(
                finding.Finding(
                    kind="guest_changed_host",
                    subject=name,
                    seen=f"{name} is {server.status} on hostId "
                    f"{server.host_id}; it was on {guest['host_id']}",
                )
            )
    return found
