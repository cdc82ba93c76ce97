"""Where guests came to run, and what the flavor keeps from them."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import groups
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding

Finding = dict[str, str]
Guest = collections.abc.Mapping[str, t.Any]


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
    guests: collections.abc.Sequence[Guest],
    asked: request.Request,
    hosts: collections.abc.Set[str],
) -> list[Finding]:
    """Return what is to be said about where the guests are.

    :param guests: with ``host`` and ``availability_zone``, None where unknown
    :param hosts: where they may be, empty for anywhere
    """
    found = []
    for guest in guests:
        found += _host(guest, asked, hosts)
        found += _zone(guest, asked.availability_zone)
    if asked.server_group:
        together = groups.findings(guests, asked.server_group)
        found += [dataclasses.asdict(one) for one in together]
    return found


def _host(
    guest: Guest, asked: request.Request, hosts: collections.abc.Set[str]
) -> list[Finding]:
    host = guest["host"]
    if host is None:
        seen = "Nova shows its host to administrators only"
        return [_finding("placement_unknown", guest["name"], seen)]
    if not hosts or host in hosts:
        return []
    wanted = f"host {asked.host}"
    if not asked.host:
        there = ", ".join(sorted(hosts))
        wanted = f"aggregate {asked.aggregate} ({there})"
    seen = f"runs on {host}, {wanted} was asked for"
    return [_finding("wrong_host", guest["name"], seen)]


def _zone(guest: Guest, asked: str | None) -> list[Finding]:
    zone = guest["availability_zone"]
    if not asked or zone == asked:
        return []
    wanted = f"{asked} was asked for"
    if not zone:
        seen = f"Nova does not say its availability zone, {wanted}"
        return [_finding("placement_unknown", guest["name"], seen)]
    seen = f"is in availability zone {zone}, {wanted}"
    return [_finding("wrong_host", guest["name"], seen)]


def flavor_limits(
    name: str, extra_specs: collections.abc.Mapping[str, str]
) -> list[Finding]:
    """Return a finding when the flavor limits rates by policy."""
    limits = {
        key: value
        for key, value in sorted(extra_specs.items())
        if key.startswith("quota:")
    }
    if not limits:
        return []
    seen = ", ".join(f"{key}={value}" for key, value in limits.items())
    return [_finding("rate_limited_by_policy", f"flavor {name}", seen)]


def _finding(kind: str, subject: str, seen: str) -> Finding:
    return dataclasses.asdict(
        finding.Finding(kind=kind, subject=subject, seen=seen)
    )
