"""Where Nova is told to put guests: hosts, aggregates, zones."""

import collections.abc
import dataclasses
import itertools
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Where:
    """What Nova is told, guest by guest, and what is to be seen then.

    :param zones: availability zone of each guest, with a host where one is
        forced, None where Nova chooses
    :param hosts: where guests may come to run, empty for anywhere
    """

    zones: tuple[str | None, ...]
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Host:
    zone: str
    usable: bool


Hosts = dict[str, _Host]


def settle(connection: sdk.Connection, asked: request.Request) -> Where:
    """Return where the guests go.

    :raises GuestError: for what is not there or cannot be together, and for
        hosts without the right to choose them
    """
    if asked.host or asked.aggregate:
        return _forced(connection, asked)
    zone = asked.availability_zone
    if zone:
        with cloud.asking("list availability zones"):
            listed = connection.compute.availability_zones()
            there = {one.name for one in listed}
        if zone not in there:
            raise errors.GuestError(
                f"availability_zone {zone!r} is not there; there are: "
                f"{_listed(there)}; a single host is asked for with host"
            )
    return Where(zones=(zone,) * asked.count)


def _forced(connection: sdk.Connection, asked: request.Request) -> Where:
    key = "aggregate" if asked.aggregate else "host"
    try:
        hosts = _compute_hosts(connection)
        aggregates = (
            list(connection.compute.aggregates()) if asked.aggregate else []
        )
    except cloud.REFUSALS as error:
        raise errors.GuestError(
            f"{key} {getattr(asked, key)!r}: only an administrator may choose "
            f"the {key} ({cloud.one_line(error)}); leave it out, or give the "
            "environment an admin"
        ) from error
    if asked.aggregate:
        aggregate = choices.one(
            "aggregate",
            request.Reference(by="name", value=asked.aggregate),
            aggregates,
        )
        if not asked.host:
            return _inside(asked, aggregate, hosts)
        if asked.host not in (aggregate.hosts or []):
            raise errors.GuestError(
                f"host {asked.host!r} is not in aggregate {aggregate.name!r}, "
                f"which has: {_listed(aggregate.hosts or [])}"
            )
    return _on_host(asked, hosts)


def _compute_hosts(connection: sdk.Connection) -> Hosts:
    return {
        name: _Host(zone=zone.name, usable=_usable(services["nova-compute"]))
        for zone in connection.compute.availability_zones(details=True)
        for name, services in (zone.hosts or {}).items()
        if "nova-compute" in services
    }


def _usable(service: collections.abc.Mapping[str, t.Any]) -> bool:
    """Tell whether a service is enabled (active) and up (available)."""
    return bool(service.get("active", True) and service.get("available", True))


def _on_host(asked: request.Request, hosts: Hosts) -> Where:
    host = t.cast(str, asked.host)
    if host not in hosts:
        raise errors.GuestError(
            f"host {host!r} is no compute host; there are: {_listed(hosts)}"
        )
    zone = hosts[host].zone
    if asked.availability_zone not in (None, zone):
        raise errors.GuestError(
            f"availability_zone {asked.availability_zone!r}: host {host!r} is "
            f"in {zone!r}; leave one of them out"
        )
    _check_apart(asked, f"host {host!r}", [host])
    return Where(
        zones=(f"{zone}:{host}",) * asked.count, hosts=frozenset({host})
    )


def _inside(asked: request.Request, aggregate: t.Any, hosts: Hosts) -> Where:
    """Return zones that lead into an aggregate and nowhere else.

    Its own zone does where no other host is in it; else hosts are named, in
    turn, or one for all that are to be together.
    """
    name = f"aggregate {aggregate.name!r}"
    inside = {one: hosts[one] for one in aggregate.hosts or [] if one in hosts}
    zone = asked.availability_zone
    usable = sorted(
        one
        for one, host in inside.items()
        if host.usable and zone in (None, host.zone)
    )
    if not usable:
        within = f" in availability_zone {zone!r}" if zone else ""
        raise errors.GuestError(
            f"{name} has no compute host{within} that is enabled and up (it "
            f"has: {_listed(aggregate.hosts or [])}); choose another"
        )
    _check_apart(asked, name, usable)
    own = aggregate.availability_zone
    in_zone = {one for one, host in hosts.items() if host.zone == own}
    if own and zone in (None, own) and in_zone <= inside.keys():
        return Where(zones=(own,) * asked.count, hosts=frozenset(inside))
    together = asked.server_group in ("affinity", "soft-affinity")
    turns = itertools.cycle(usable[:1] if together else usable)
    return Where(
        zones=tuple(
            f"{hosts[one].zone}:{one}"
            for one in itertools.islice(turns, asked.count)
        ),
        hosts=frozenset(inside),
    )


def _check_apart(
    asked: request.Request, name: str, usable: collections.abc.Sized
) -> None:
    if asked.server_group == "anti-affinity" and asked.count > len(usable):
        raise errors.GuestError(
            f"server_group 'anti-affinity': {asked.count} guests need as many "
            f"hosts, {name} leaves {len(usable)}; ask for fewer guests, or "
            "for affinity, soft-affinity or soft-anti-affinity"
        )


def _listed(names: collections.abc.Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
