"""On which hosts guests run, and whether they stay there."""

import collections
import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding

Guests = collections.abc.Sequence[guest.Guest]


def shown(server: t.Any, admin: sdk.Connection | None) -> t.Any:
    """Return a server with its host, read as administrator where necessary."""
    if server.compute_host or admin is None:
        return server
    try:
        return admin.compute.get_server(server.id)
    except cloud.REFUSALS:
        return server


def described(asked: request.Request) -> str:
    """Return the placement that was asked for, empty where none was."""
    several = [f"hosts {', '.join(asked.hosts)}"] if asked.hosts else []
    keys = ("host", "aggregate", "availability_zone", "server_group")
    return ", ".join(
        several
        + [
            f"{key} {getattr(asked, key)!r}"
            for key in keys
            if getattr(asked, key) is not None
        ]
    )


def findings(
    guests: Guests,
    asked: request.Request,
    hosts: collections.abc.Set[str],
) -> list[finding.Finding]:
    """Return findings on the placement of the guests.

    :param hosts: where they may be, empty for anywhere
    """
    found: list[finding.Finding] = []
    for one in guests:
        found += _elsewhere(one, asked, hosts)
    if asked.server_group:
        found += _server_group(guests, asked.server_group)
    return found


def _elsewhere(
    one: guest.Guest, asked: request.Request, hosts: collections.abc.Set[str]
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings on a guest that is on another host or in another zone."""
    if one.host is None:
        seen = "Nova shows its host to administrators only"
        yield finding.Finding("placement_unknown", one.name, seen)
    elif hosts and one.host not in hosts:
        there = ", ".join(sorted(hosts))
        wanted = f"aggregate {asked.aggregate} ({there})"
        if asked.host:
            wanted = f"host {asked.host}"
        elif asked.hosts:
            wanted = f"one of the hosts {there}"
        seen = f"runs on {one.host}, {wanted} was asked for"
        yield finding.Finding("wrong_host", one.name, seen)
    zone, wanted = one.availability_zone, asked.availability_zone or ""
    if wanted and not zone:
        unknown = "Nova does not say its availability zone"
        seen = f"{unknown}, {wanted} was asked for"
        yield finding.Finding("placement_unknown", one.name, seen)
    elif wanted and zone != wanted:
        seen = f"is in availability zone {zone}, {wanted} was asked for"
        yield finding.Finding("wrong_host", one.name, seen)


def _server_group(guests: Guests, policy: str) -> list[finding.Finding]:
    """Return findings on guests that do not follow their server group.

    Members see ``hostId``, a hash of project and host: the same for all
    guests of a project on one host.
    """
    by_host: dict[str, list[str]] = collections.defaultdict(list)
    for one in guests:
        if not one.host_id:
            seen = f"Nova gives no hostId, server_group {policy} was asked for"
            return [finding.Finding("placement_unknown", one.name, seen)]
        by_host[one.host_id].append(one.name)
    wanted = len(guests) if policy.endswith("anti-affinity") else 1
    if len(by_host) == wanted:
        return []
    kind = "wrong_host"
    if policy.startswith("soft-"):
        kind = "server_group_not_satisfied"
    names = "; ".join(", ".join(names) for names in by_host.values())
    seen = (
        f"server_group {policy} was asked for, host by host they are: {names}"
    )
    return [finding.Finding(kind, "guests", seen)]


#: What Nova calls a server that answers, or will without anybody's help.
_RUNNING = ("ACTIVE", "REBOOT", "HARD_REBOOT")


def runs(connection: sdk.Connection, one: guest.Guest) -> bool:
    """Return whether Nova says that a guest runs, or is just being rebooted.

    Where Nova does not say, nobody waits for the guest.
    """
    try:
        return connection.compute.get_server(one.id).status in _RUNNING
    except cloud.REFUSALS:
        return False


#: What Nova calls the actions by which a guest leaves its host, or its memory
#: does; some come back.
_MOVES = frozenset(
    {
        "evacuate",
        "live-migration",
        "migrate",
        "rebuild",
        "resize",
        "resume",
        "shelve",
        "suspend",
        "unshelve",
    }
)
#: Characters of a time of Nova's up to the second, with and without a zone.
_SECOND = 19


def changes(
    connection: sdk.Connection,
    guests: collections.abc.Iterable[guest.Guest],
    updated: dict[str, str],
) -> list[finding.Finding]:
    """Return which guests are on another host now, or no longer active.

    Nova is asked once for all.  Members see hosts only as ``hostId``, a hash
    that differs by project, but that is enough to notice a move.  Where a
    server was changed since it was last asked for, Nova is asked for the
    actions on it: a guest may have gone and come back.

    :param updated: identifier -> when the server was last changed; it is
        brought up to date
    """
    asked = tuple(guests)
    names = cloud.beginning(one.server_name for one in asked)
    why = "it lists no such server"
    servers: dict[str, t.Any] = {}
    try:
        listed = connection.compute.servers(name=names) if asked else ()
        servers = {one.id: one for one in listed}
    except cloud.REFUSALS as error:
        why = cloud.one_line(error)
    found = []
    for one in asked:
        server = servers.get(one.id)
        if server is None:
            seen = f"Nova did not say where {one.name} is: {why}"
            found.append(finding.Finding("placement_unknown", one.name, seen))
        elif server.host_id != one.host_id or server.status != "ACTIVE":
            seen = (
                f"{one.name} is {server.status} on hostId {server.host_id}; "
                f"it was on {one.host_id}"
            )
            found.append(finding.Finding("guest_host_changed", one.name, seen))
        elif moves := _moves(connection, server, updated.get(one.id)):
            seen = (
                f"{one.name} is on hostId {server.host_id} again, after "
                f"{', '.join(moves)}"
            )
            found.append(finding.Finding("guest_host_changed", one.name, seen))
        if server is not None:
            updated[one.id] = server.updated_at
    return found


def _moves(
    connection: sdk.Connection, server: t.Any, since: str | None
) -> list[str]:
    """Return what moved a server since it was last changed, oldest first.

    Nothing of one that was not changed meanwhile, for which nobody is asked.
    """
    if since is None or server.updated_at == since:
        return []
    try:
        answer = connection.compute.get(
            f"/servers/{server.id}/os-instance-actions"
        )
    except cloud.REFUSALS:
        return []
    listed = answer.json().get("instanceActions", ()) if answer.ok else ()
    return [
        f"{one['action']} at {one['start_time'][:_SECOND]}"
        for one in sorted(listed, key=lambda x: str(x["start_time"]))
        if one["action"] in _MOVES
        and one["start_time"][:_SECOND] >= since[:_SECOND]
    ]
