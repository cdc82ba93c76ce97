# SPDX-License-Identifier: Apache-2.0
"""The hosts of guests, compared with the request and over time."""

import collections
import collections.abc
import contextlib
import typing as t

from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import host_names

Guests = collections.abc.Sequence[models.Guest]


def with_host(server: t.Any, admin: cloud.Connection | None) -> t.Any:
    """Return a server with its host, queried as admin if necessary."""
    if admin is not None and not server.compute_host:
        with contextlib.suppress(*cloud.CLOUD_ERRORS):
            return admin.compute.get_server(server.id)
    return server


def describe_request(guest_request: request.Request) -> str:
    """Return the requested placement as text; empty if there is none."""
    options = {
        key: getattr(guest_request, key)
        for key in ("host", "aggregate", "availability_zone", "server_group")
    }
    texts = [f"{key} {name!r}" for key, name in options.items() if name]
    if guest_request.hosts:
        texts.insert(0, f"hosts {', '.join(guest_request.hosts)}")
    return ", ".join(texts)


def find_placement_findings(
    guests: Guests,
    guest_request: request.Request,
    hosts: collections.abc.Set[str],
) -> list[finding.Finding]:
    """Return findings on the placement of the guests.

    :param hosts: The permitted hosts; empty if every host is permitted.
    """
    placement_findings: list[finding.Finding] = []
    for guest in guests:
        placement_findings += _check_location(guest, guest_request, hosts)
    if guest_request.server_group:
        placement_findings += _check_server_group(
            guests, guest_request.server_group
        )
    return placement_findings


def _check_location(
    guest: models.Guest,
    guest_request: request.Request,
    hosts: collections.abc.Set[str],
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings on a guest that is on another host or in another zone."""
    if guest.host is None:
        detail = "Nova shows its host to administrators only"
        yield finding.Finding("placement_unknown", guest.name, detail)
    elif hosts and guest.host not in hosts:
        host_names = ", ".join(sorted(hosts))
        requested_host = f"aggregate {guest_request.aggregate} ({host_names})"
        if guest_request.host:
            requested_host = f"host {guest_request.host}"
        elif guest_request.hosts:
            requested_host = f"one of the hosts {host_names}"
        detail = f"runs on {guest.host}, {requested_host} was requested"
        yield finding.Finding("wrong_host", guest.name, detail)
    zone = guest.availability_zone
    requested_zone = guest_request.availability_zone
    if requested_zone and zone != requested_zone:
        kind = "wrong_host" if zone else "placement_unknown"
        known = f"is in availability zone {zone}"
        if not zone:
            known = "Nova does not say its availability zone"
        detail = f"{known}, {requested_zone} was requested"
        yield finding.Finding(kind, guest.name, detail)


def _check_server_group(guests: Guests, policy: str) -> list[finding.Finding]:
    """Return findings if the guests do not follow their server group.

    Members see ``hostId``, a hash of project and host: the same for all
    guests of a project on one host.
    """
    by_host: dict[str, list[str]] = collections.defaultdict(list)
    for guest in guests:
        if not guest.host_id:
            detail = (
                f"Nova gives no hostId, server_group {policy} was requested"
            )
            return [finding.Finding("placement_unknown", guest.name, detail)]
        by_host[guest.host_id].append(guest.name)
    expected_hosts = len(guests) if policy.endswith("anti-affinity") else 1
    if len(by_host) == expected_hosts:
        return []
    kind = "wrong_host"
    if policy.startswith("soft-"):
        kind = "server_group_not_satisfied"
    names = "; ".join(", ".join(names) for names in by_host.values())
    detail = (
        f"server_group {policy} was requested, the guests by host: {names}"
    )
    return [finding.Finding(kind, "guests", detail)]


#: The first version of Nova's API that shows the topology of a server.
_TOPOLOGY_VERSION = "2.78"
_TOPOLOGY = json_schema.mapping(
    {
        "nodes": json_schema.array(
            json_schema.mapping({"cpu_pinning": {"type": ["object", "null"]}}),
            type=["array", "null"],
        ),
        "pagesize_kb": json_schema.integer(type=["integer", "null"]),
    }
)


def get_topology(
    admin: cloud.Connection, server_id: str
) -> documents.Facts | None:
    """Return the NUMA nodes and the page size of a server; None if hidden.

    :param admin: The connection of an administrator; other users do not see
        the processors of the host.
    """
    try:
        response = admin.compute.get(
            f"/servers/{server_id}/topology", microversion=_TOPOLOGY_VERSION
        )
        return (
            cloud.parse_document(response, _TOPOLOGY) if response.ok else None
        )
    except cloud.CLOUD_ERRORS:
        return None


#: The states of a server that answers, or will answer without intervention.
_RUNNING = ("ACTIVE", "REBOOT", "HARD_REBOOT")


def is_running(connection: cloud.Connection, guest: models.Guest) -> bool:
    """Return whether Nova reports that a guest runs or reboots.

    If Nova does not answer, the guest does not run.
    """
    with contextlib.suppress(*cloud.CLOUD_ERRORS):
        return connection.compute.get_server(guest.id).status in _RUNNING
    return False


def is_deleted(connection: cloud.Connection, identifier: str) -> bool:
    """Return whether Nova reports that a server does not exist."""
    with contextlib.suppress(*cloud.CLOUD_ERRORS):
        try:
            connection.compute.get_server(identifier)
        except sdk_errors.NotFoundException:
            return True
    return False


def describe_deleted(guest: str) -> str:
    """Return the reason why a deleted guest does not answer."""
    return (
        f"Nova: the server of {guest} does not exist any more, so another "
        "user deleted it; run the task again"
    )


#: Nova's actions that move a guest, or its memory, away from its host; a guest
#: may return.
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
#: Characters of a timestamp of Nova without fractions and time zone.
_TIMESTAMP_LENGTH = 19
_ACTIONS = cloud.create_list_schema("instanceActions", "action", "start_time")


def find_changes(
    connection: cloud.Connection,
    guests: collections.abc.Iterable[models.Guest],
    updated: dict[str, str],
    requested: collections.abc.Container[str] = (),
) -> list[finding.Finding]:
    """Return findings on guests that moved or are no longer active.

    One request lists all servers.  Members see hosts only as ``hostId``, a
    hash that differs by project, but that is sufficient to detect a move.  If
    a server was changed since the last request, the actions on it are listed,
    because a guest may have moved and returned.

    :param updated: The times of the last change of the servers, by identifier;
        updated by this function.
    :param requested: The identifiers of the requests of this run that moved
        guests.
    """
    watched_guests = tuple(guests)
    if not watched_guests:
        return []
    names = [guest.server_name for guest in watched_guests]
    reason = "it lists no such server"
    servers = {}
    try:
        servers = cloud.list_servers(connection, names)
    except cloud.CLOUD_ERRORS as error:
        reason = cloud.one_line(error)
    host_findings = []
    for guest in watched_guests:
        kind, detail = "guest_host_changed", ""
        server = servers.get(guest.id)
        place = host_names.shorten(server.host_id or "") if server else ""
        if server is None:
            kind = "placement_unknown"
            detail = f"Nova did not say where {guest.name} is: {reason}"
        elif server.host_id != guest.host_id or server.status != "ACTIVE":
            earlier = host_names.shorten(guest.host_id or "")
            detail = (
                f"{guest.name} is {server.status} on hostId {place}; it was "
                f"on {earlier}"
            )
        elif moves := _list_moves(
            connection, server, updated.get(guest.id), requested
        ):
            detail = (
                f"{guest.name} is on hostId {place} again, after "
                f"{', '.join(moves)}"
            )
        if detail:
            host_findings.append(finding.Finding(kind, guest.name, detail))
        if server is not None:
            updated[guest.id] = server.updated_at
    return host_findings


def _list_moves(
    connection: cloud.Connection,
    server: t.Any,
    since: str | None,
    requested: collections.abc.Container[str] = (),
) -> list[str]:
    """Return the moves of a server since its last change, oldest first.

    No request is made for a server that was not changed meanwhile.

    :param requested: The identifiers of requests that are omitted.
    """
    if since is None or server.updated_at == since:
        return []
    moves = sorted(
        (action["start_time"], action["action"])
        for action in list_actions(connection, server.id)
        if action["action"] in _MOVES
        and action.get("request_id") not in requested
    )
    return [
        f"{action} at {start[:_TIMESTAMP_LENGTH]}"
        for start, action in moves
        if start[:_TIMESTAMP_LENGTH] >= since[:_TIMESTAMP_LENGTH]
    ]


def list_actions(
    connection: cloud.Connection, server_id: str
) -> list[dict[str, t.Any]]:
    """Return Nova's actions on a server; [] if they cannot be listed."""
    path = f"/servers/{server_id}/os-instance-actions"
    try:
        answer = connection.compute.get(path)
        if not answer.ok:
            return []
        return list(cloud.parse_document(answer, _ACTIONS)["instanceActions"])
    except cloud.CLOUD_ERRORS:
        return []
