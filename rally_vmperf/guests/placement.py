"""Where guests came to run, whether they stay there, and rates by policy."""

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
    """Return a server as whoever may see its host sees it."""
    if server.compute_host or admin is None:
        return server
    try:
        return admin.compute.get_server(server.id)
    except cloud.REFUSALS:
        return server


def words(asked: request.Request) -> str:
    """Return the placement that was asked for, empty where none was."""
    keys = ("host", "aggregate", "availability_zone", "server_group")
    return ", ".join(
        f"{key} {getattr(asked, key)!r}"
        for key in keys
        if getattr(asked, key) is not None
    )


def findings(
    guests: Guests,
    asked: request.Request,
    hosts: collections.abc.Set[str],
) -> list[finding.Finding]:
    """Return what is to be said about where the guests are.

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
    """Yield whether a guest is on another host or in another zone."""
    if one.host is None:
        seen = "Nova shows its host to administrators only"
        yield _finding("placement_unknown", one.name, seen)
    elif hosts and one.host not in hosts:
        there = ", ".join(sorted(hosts))
        wanted = f"aggregate {asked.aggregate} ({there})"
        if asked.host:
            wanted = f"host {asked.host}"
        seen = f"runs on {one.host}, {wanted} was asked for"
        yield _finding("wrong_host", one.name, seen)
    zone, wanted = one.availability_zone, asked.availability_zone or ""
    if wanted and not zone:
        unknown = "Nova does not say its availability zone"
        seen = f"{unknown}, {wanted} was asked for"
        yield _finding("placement_unknown", one.name, seen)
    elif wanted and zone != wanted:
        seen = f"is in availability zone {zone}, {wanted} was asked for"
        yield _finding("wrong_host", one.name, seen)


def _server_group(guests: Guests, policy: str) -> list[finding.Finding]:
    """Return whether guests are not on one host or apart as was asked.

    Members see ``hostId``, a hash of project and host: the same for all
    guests of a project on one host.
    """
    by_host: dict[str, list[str]] = collections.defaultdict(list)
    for one in guests:
        if not one.host_id:
            seen = f"Nova gives no hostId, server_group {policy} was asked for"
            return [_finding("placement_unknown", one.name, seen)]
        by_host[one.host_id].append(one.name)
    wanted = len(guests) if policy.endswith("anti-affinity") else 1
    if len(by_host) == wanted:
        return []
    kind = "wrong_host"
    if policy.startswith("soft-"):
        kind = "guests_not_as_wished"
    names = "; ".join(", ".join(names) for names in by_host.values())
    seen = (
        f"server_group {policy} was asked for, host by host they are: {names}"
    )
    return [_finding(kind, "guests", seen)]


def flavor_limits(flavor: guest.Flavor) -> list[finding.Finding]:
    """Return a finding when the flavor limits rates by policy."""
    limits = {
        key: value
        for key, value in sorted(flavor.extra_specs.items())
        if key.startswith("quota:")
    }
    if not limits:
        return []
    seen = ", ".join(f"{key}={value}" for key, value in limits.items())
    return [_finding("rate_limited_by_policy", f"flavor {flavor.name}", seen)]


def changes(
    connection: sdk.Connection, guests: collections.abc.Iterable[guest.Guest]
) -> list[finding.Finding]:
    """Return which guests are on another host now, or no longer active.

    Members see hosts only as ``hostId``, a hash that differs by project, but
    that is enough to notice a move.
    """
    found = []
    for one in guests:
        try:
            server = connection.compute.get_server(one.id)
        except cloud.REFUSALS as error:
            seen = (
                f"Nova did not say where {one.name} is: "
                f"{cloud.one_line(error)}"
            )
            found.append(_finding("placement_unknown", one.name, seen))
            continue
        if server.host_id != one.host_id or server.status != "ACTIVE":
            seen = (
                f"{one.name} is {server.status} on hostId {server.host_id}; "
                f"it was on {one.host_id}"
            )
            found.append(_finding("guest_changed_host", one.name, seen))
    return found


def _finding(kind: str, subject: str, seen: str) -> finding.Finding:
    return finding.Finding(kind=kind, subject=subject, seen=seen)
