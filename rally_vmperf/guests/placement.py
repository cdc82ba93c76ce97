"""Where guests came to run, and what the flavor keeps from them."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.measurement import finding

Finding = dict[str, str]


def zone(connection: sdk.Connection, host: str, zone: str | None) -> str:
    """Return the availability zone that forces guests on a host.

    :param host: what Nova calls the compute host
    :param zone: the zone that the task names, else the host's own
    :raises GuestError: for an unknown host, or without the right to choose
    """
    try:
        zones = list(connection.compute.availability_zones(details=True))
    except cloud.REFUSALS as error:
        raise errors.GuestError(
            f"host {host!r}: only an administrator may choose the host "
            f"({cloud.one_line(error)}); leave it out, or give the "
            "environment an admin"
        ) from error
    hosts = {
        name: each.name
        for each in zones
        for name, services in (each.hosts or {}).items()
        if "nova-compute" in services
    }
    if host not in hosts:
        there = ", ".join(sorted(hosts)) or "none"
        raise errors.GuestError(
            f"host {host!r} is no compute host; there are: {there}"
        )
    return f"{zone or hosts[host]}:{host}"


def shown(server: t.Any, admin: sdk.Connection | None) -> t.Any:
    """Return a server as whoever may see its host sees it."""
    if server.compute_host or admin is None:
        return server
    try:
        return admin.compute.get_server(server.id)
    except cloud.REFUSALS:
        return server


def findings(
    hosts: collections.abc.Mapping[str, str | None], asked: str | None
) -> list[Finding]:
    """Return what is to be said about the hosts of the guests.

    :param hosts: guest -> host, None where unknown
    :param asked: the host that the task asked for
    """
    found = []
    for guest, host in hosts.items():
        if host is None:
            seen = "Nova shows its host to administrators only"
            found.append(_finding("placement_unknown", guest, seen))
        elif asked and host != asked:
            seen = f"runs on {host}, {asked} was asked for"
            found.append(_finding("wrong_host", guest, seen))
    return found


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
