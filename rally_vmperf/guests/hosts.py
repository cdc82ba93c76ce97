"""Where Nova is asked to place guests: hosts, aggregates, zones."""

import collections.abc
import dataclasses
import itertools
import os
import typing as t
from urllib import parse

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Where:
    """Placement that Nova is asked for, guest by guest.

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


#: Features of a processor, and characters of the name of one.
_MOST, _LONGEST = 512, 32
#: The last version of Nova's API that tells what hypervisors have.
_WITH_DETAILS = "2.87"
#: Hypervisors up to which each is asked for by its name.
_FEW = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hypervisor:
    """What Nova tells an administrator of a hypervisor.

    :param features: what its processors can, by libvirt's names
    :param vcpus: how many processors it has; None where Nova does not say
    :param memory_mib: likewise, all of its memory
    """

    features: tuple[str, ...] = ()
    vcpus: int | None = None
    memory_mib: int | None = None


def hypervisors(
    admin: sdk.Connection, names: collections.abc.Set[str]
) -> dict[str, Hypervisor]:
    """Return hypervisors by their names.

    Nothing of a cloud that does not tell. Nova looks for a part of a name: of
    more than a few it is asked for what all names begin with.

    :param names: of those that are asked for
    """
    parts = sorted(names)
    if len(parts) > _FEW:
        parts = [os.path.commonprefix(parts)]  # noqa: RUF071  no paths
    found = {}
    for part in parts:
        query = {"hypervisor_hostname_pattern": part} if part else {}
        try:
            answer = admin.compute.get(
                f"/os-hypervisors/detail?{parse.urlencode(query)}",
                microversion=_WITH_DETAILS,
            )
        except cloud.REFUSALS:
            continue
        listed = answer.json().get("hypervisors", ()) if answer.ok else ()
        for one in listed:
            found[str(one.get("hypervisor_hostname"))] = _hypervisor(one)
    return {name: one for name, one in found.items() if name in names}


def _hypervisor(one: dict[str, t.Any]) -> Hypervisor:
    told = one.get("cpu_info") or {}
    features = told.get("features") if isinstance(told, dict) else ()
    return Hypervisor(
        features=tuple(
            sorted(str(name)[:_LONGEST] for name in features or ())[:_MOST]
        ),
        vcpus=_number(one.get("vcpus")),
        memory_mib=_number(one.get("memory_mb")),
    )


def _number(value: t.Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def settle(connection: sdk.Connection, asked: request.Request) -> Where:
    """Return the placement of the guests.

    :raises GuestError: for what is not there or cannot be together, and for
        hosts without the right to choose them
    """
    if asked.host or asked.hosts or asked.aggregate:
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
    given = [
        key for key in ("host", "hosts", "aggregate") if getattr(asked, key)
    ]
    if asked.hosts and len(given) > 1:
        raise errors.GuestError(
            f"{' and '.join(given)}: hosts lists all hosts of the guests; "
            "leave the others out"
        )
    key = given[-1]
    wanted = getattr(asked, key)
    try:
        if asked.aggregate:
            return _of_aggregate(connection, asked)
        names = asked.hosts or (t.cast(str, asked.host),)
        hosts = _compute_hosts(connection, names)
    except cloud.REFUSALS as error:
        raise errors.GuestError(
            f"{key} {_shown(wanted)}: only an administrator may choose "
            f"the {key} ({cloud.one_line(error)}); leave it out, or give the "
            "environment an admin"
        ) from error
    return _on_hosts(asked, hosts) if asked.hosts else _on_host(asked, hosts)


def _of_aggregate(connection: sdk.Connection, asked: request.Request) -> Where:
    aggregates = list(connection.compute.aggregates())
    aggregate = choices.one(
        "aggregate",
        request.Reference(by="name", value=t.cast(str, asked.aggregate)),
        aggregates,
    )
    members = aggregate.hosts or []
    if asked.host:
        if asked.host not in members:
            raise errors.GuestError(
                f"host {asked.host!r} is not in aggregate {aggregate.name!r}, "
                f"which has: {_listed(members)}"
            )
        return _on_host(asked, _compute_hosts(connection, (asked.host,)))
    own = aggregate.availability_zone
    in_zone = {
        host
        for one in aggregates
        if own and one.availability_zone == own
        for host in one.hosts or []
    }
    hosts = _compute_hosts(connection, members)
    alone = bool(own) and in_zone <= set(members)
    return _inside(asked, aggregate, hosts, alone=alone)


def _shown(wanted: str | tuple[str, ...]) -> str:
    return ", ".join(wanted) if isinstance(wanted, tuple) else repr(wanted)


def _compute_hosts(
    connection: sdk.Connection, names: collections.abc.Collection[str]
) -> Hosts:
    """Return those of the names that are compute hosts.

    Each is asked for by its name, unless they are more than a few.
    """
    queries: list[dict[str, str]] = [{"host": name} for name in names]
    return {
        one.host: _Host(
            zone=one.availability_zone,
            usable=one.status == "enabled" and one.state == "up",
        )
        for query in (queries if len(queries) <= _FEW else [{}])
        for one in connection.compute.services(binary="nova-compute", **query)
        if one.host in names
    }


def _on_host(asked: request.Request, hosts: Hosts) -> Where:
    host = t.cast(str, asked.host)
    if host not in hosts:
        raise errors.GuestError(
            f"host {host!r} is no compute host, by the names that Nova has: "
            "openstack compute service list --service nova-compute"
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


def _on_hosts(asked: request.Request, hosts: Hosts) -> Where:
    """Return each host in turn, so that all have as many guests."""
    for host in asked.hosts:
        _on_host(
            dataclasses.replace(asked, host=host, server_group=None), hosts
        )
        if not hosts[host].usable:
            raise errors.GuestError(
                f"hosts: nova-compute on {host!r} is disabled or down; enable "
                "it, or leave the host out"
            )
    _check_apart(asked, "hosts", asked.hosts)
    if asked.server_group == "affinity" and len(asked.hosts) > 1:
        raise errors.GuestError(
            f"server_group 'affinity': hosts are {len(asked.hosts)}, so the "
            "guests cannot share one; leave one of them out"
        )
    turns = itertools.islice(itertools.cycle(asked.hosts), asked.count)
    return Where(
        zones=tuple(f"{hosts[one].zone}:{one}" for one in turns),
        hosts=frozenset(asked.hosts),
    )


def _inside(
    asked: request.Request, aggregate: t.Any, inside: Hosts, *, alone: bool
) -> Where:
    """Return zones that lead into an aggregate and nowhere else.

    Its own zone does where no other host is in it; else hosts are named, in
    turn, or one for all that are to be together.

    :param inside: the compute hosts of the aggregate
    :param alone: it has a zone, in which no other host is
    """
    name = f"aggregate {aggregate.name!r}"
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
    if alone and zone in (None, own):
        return Where(zones=(own,) * asked.count, hosts=frozenset(inside))
    together = asked.server_group in ("affinity", "soft-affinity")
    turns = itertools.cycle(usable[:1] if together else usable)
    return Where(
        zones=tuple(
            f"{inside[one].zone}:{one}"
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
