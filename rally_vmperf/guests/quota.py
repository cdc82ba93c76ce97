"""Whether the project's quota leaves room, asked before anything is made."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors

_UNLIMITED = -1


def check(
    connection: sdk.Connection, project: str, needs: dict[str, int]
) -> None:
    """Refuse what would exceed the quota.

    :param project: what the message calls the project
    :param needs: of ``instances``, ``cores``, ``MiB of memory`` and
        ``floating addresses`` how many are to be made
    :raises GuestError: one line with everything that is short
    """
    rooms = compute_room(connection)
    if needs.get("floating addresses"):
        rooms |= floating_room(connection)
    short = list(shortages(rooms, needs))
    if short:
        raise errors.GuestError(
            f"quota: project {project} {'; '.join(short)}; ask for less, "
            "remove what is not needed, or have the quota raised"
        )


def shortages(
    rooms: dict[str, int | None], needs: dict[str, int]
) -> collections.abc.Iterator[str]:
    """Yield a clause for everything of which more is asked than there is.

    :param rooms: how many more may be made; None where unlimited
    """
    for what, need in needs.items():
        room = rooms.get(what)
        if room is not None and need > room:
            verb = "is" if need == 1 else "are"
            yield f"has room for {room} more {what}, {need} {verb} asked for"


def compute_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return what Nova's limits leave to the project."""
    with cloud.asking("read the compute limits"):
        limits = connection.compute.get_limits().absolute
    return {
        "instances": _room(limits.instances, limits.instances_used),
        "cores": _room(limits.total_cores, limits.total_cores_used),
        "MiB of memory": _room(limits.total_ram, limits.total_ram_used),
    }


def floating_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return what Neutron's quota leaves; nothing where policy hides it."""
    with cloud.asking("read the network quota"):
        project = connection.current_project_id
        try:
            details = connection.network.get_quota(project, details=True)
        except cloud.REFUSALS as error:
            if cloud.passing(error):
                raise
            return {}
    floating: t.Any = details.floating_ips
    if not isinstance(floating, dict):
        return {}
    used = floating.get("used", 0) + floating.get("reserved", 0)
    return {"floating addresses": _room(floating.get("limit"), used)}


def _room(limit: int | None, used: int | None) -> int | None:
    if limit is None or limit == _UNLIMITED:
        return None
    return max(0, limit - (used or 0))
