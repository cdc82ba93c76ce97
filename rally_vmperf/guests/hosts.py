# SPDX-License-Identifier: Apache-2.0
"""Placement of guests by host, aggregate and availability zone."""

import collections.abc
import dataclasses
import itertools
import os
import typing as t
from urllib import parse

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve


@dataclasses.dataclass(frozen=True, kw_only=True)
class Placement:
    """The requested placement of each guest.

    :param zones: The availability zone of each guest, with a forced host if
        there is one; None if Nova chooses.
    :param hosts: The permitted hosts; empty if every host is permitted.
    """

    zones: tuple[str | None, ...]
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True)
class _ComputeHost:
    zone: str
    usable: bool


ComputeHosts = dict[str, _ComputeHost]


#: The maximum number of features of a processor.
_MAX_CPU_FEATURES = 512
#: The maximum number of characters of a name from Nova.
_MAX_NAME_CHARACTERS = 32
#: The last version of Nova's API that shows the resources of hypervisors.
_DETAILS_VERSION = "2.87"
_HYPERVISORS = cloud.create_list_schema("hypervisors")
#: Up to this number of hypervisors each is requested by its name.
_FEW = 8


def find_hypervisors(
    admin: cloud.Connection, names: collections.abc.Set[str]
) -> dict[str, documents.Facts]:
    """Return the fields of guests on each hypervisor; {} if hidden.

    Nova filters by a part of a name. For more than a few hypervisors the
    filter is the common prefix of all names.

    :param names: The names of the hypervisors.
    """
    hypervisors_by_name: dict[str, documents.Facts] = {}
    for record in _list_hypervisors(admin, names):
        name = str(record.get("hypervisor_hostname"))
        if name in names:
            hypervisors_by_name[name] = _parse_hypervisor(record)
    return hypervisors_by_name


def find_host_cpus(
    admin: cloud.Connection, names: collections.abc.Set[str]
) -> dict[str, int]:
    """Return the number of CPUs that each host has for vCPUs; {} if hidden.

    CPUs that are reserved for the host or for pinned vCPUs are not counted:
    the number can be 0. Nodes of Ironic run no guests. If the names of
    hypervisors are other than those of their hosts, all are listed.

    :param names: The names of compute hosts.
    """
    cpus: dict[str, int] = {}
    for patterns in (names, frozenset[str]()):
        for record in _list_hypervisors(admin, patterns):
            service = record.get("service")
            host = service.get("host") if isinstance(service, dict) else None
            name = str(host or record.get("hypervisor_hostname"))
            number = record.get("vcpus")
            if (
                name in names
                and isinstance(number, int)
                and record.get("hypervisor_type") != "ironic"
            ):
                cpus[name] = number
        if names <= cpus.keys():
            break
    return cpus


def _list_hypervisors(
    admin: cloud.Connection, names: collections.abc.Set[str]
) -> collections.abc.Iterator[documents.Facts]:
    """Yield Nova's records of hypervisors whose name contains one of names.

    :param names: The names or their parts; empty for all hypervisors.
    """
    patterns = sorted(names) or [""]
    if len(patterns) > _FEW:
        patterns = [os.path.commonprefix(patterns)]  # noqa: RUF071  no paths
    for pattern in patterns:
        query = {"hypervisor_hostname_pattern": pattern} if pattern else {}
        try:
            answer = admin.compute.get(
                f"/os-hypervisors/detail?{parse.urlencode(query)}",
                microversion=_DETAILS_VERSION,
            )
            listed = (
                cloud.parse_document(answer, _HYPERVISORS)["hypervisors"]
                if answer.ok
                else ()
            )
        except cloud.CLOUD_ERRORS:
            continue
        yield from listed


def _parse_hypervisor(record: documents.Facts) -> documents.Facts:
    """Return a guest's fields of its host from Nova's JSON record."""
    cpu_info = record.get("cpu_info") or {}
    features = cpu_info.get("features") if isinstance(cpu_info, dict) else ()
    feature_names = sorted(
        str(name)[:_MAX_NAME_CHARACTERS] for name in features or ()
    )
    return {
        "hypervisor_version": _describe_version(record),
        "host_cpu": tuple(feature_names[:_MAX_CPU_FEATURES]),
        "host_vcpus": _parse_number(record.get("vcpus")),
        "host_memory_mib": _parse_number(record.get("memory_mb")),
    }


def _describe_version(record: documents.Facts) -> str | None:
    """Return the hypervisor with its version; None if it is not known.

    Nova encodes the version of QEMU 7.2.22 as 7002022.
    """
    version = _parse_number(record.get("hypervisor_version"))
    if version is None:
        return None
    name = str(record.get("hypervisor_type") or "hypervisor")[
        :_MAX_NAME_CHARACTERS
    ]
    major, rest = divmod(version, 1_000_000)
    minor, micro = divmod(rest, 1_000)
    return f"{name} {major}.{minor}.{micro}"


def find_microversion(connection: cloud.Connection) -> str | None:
    """Return the largest microversion of Nova's API; None if unknown."""
    try:
        endpoint = connection.compute.get_endpoint_data()
    except cloud.CLOUD_ERRORS:
        return None
    version = endpoint and endpoint.max_microversion
    return ".".join(map(str, version)) if version else None


def _parse_number(count: t.Any) -> int | None:
    """Return a number that is an integer > 0, or None."""
    return count if isinstance(count, int) and count > 0 else None


def resolve_placement(
    connection: cloud.Connection, guest_request: request.Request
) -> Placement:
    """Return the zones and hosts of the guests, as the request demands.

    :raises GuestError: If a zone, host or aggregate does not exist, if options
        exclude each other, or if the user may not select hosts.
    """
    if any(group.host or group.aggregate for group in guest_request.groups):
        placements = [
            resolve_placement(connection, guest_request.for_group(group))
            for group in guest_request.groups
        ]
        hosts = [placement.hosts for placement in placements]
        return Placement(
            zones=tuple(
                zone for placement in placements for zone in placement.zones
            ),
            hosts=frozenset().union(*hosts) if all(hosts) else frozenset(),
        )
    if guest_request.host or guest_request.hosts or guest_request.aggregate:
        return _resolve_host(connection, guest_request)
    zone = guest_request.availability_zone
    if zone:
        with cloud.convert_errors("list availability zones"):
            listed = connection.compute.availability_zones()
            zone_names = {zone_record.name for zone_record in listed}
        if zone not in zone_names:
            raise errors.GuestError(
                f"availability_zone {zone!r} does not exist; there are: "
                f"{resolve.join_names(zone_names)}; to select a host, set host"
            )
    return Placement(zones=(zone,) * guest_request.count)


def _resolve_host(
    connection: cloud.Connection, guest_request: request.Request
) -> Placement:
    """Return the placement for ``host``, ``hosts`` or ``aggregate``."""
    forced_by = [
        key
        for key in ("host", "hosts", "aggregate")
        if getattr(guest_request, key)
    ]
    if guest_request.hosts and len(forced_by) > 1:
        raise errors.GuestError(
            f"{' and '.join(forced_by)}: cannot be combined; remove the "
            "options other than hosts"
        )
    key = forced_by[-1]
    names = guest_request.hosts or (t.cast(str, guest_request.host),)
    try:
        if guest_request.aggregate:
            return _resolve_aggregate(connection, guest_request)
        hosts = _find_compute_hosts(connection, names)
    except cloud.CLOUD_ERRORS as error:
        forced = ", ".join(guest_request.hosts)
        raise errors.GuestError(
            f"{key} {forced or repr(getattr(guest_request, key))}: only an "
            f"administrator may select the {key} ({cloud.one_line(error)}); "
            "remove the option, or add an admin to the environment"
        ) from error
    return (
        _assign_to_hosts(guest_request, hosts)
        if guest_request.hosts
        else _assign_to_host(guest_request, hosts)
    )


def _resolve_aggregate(
    connection: cloud.Connection, guest_request: request.Request
) -> Placement:
    """Return the placement in the requested aggregate, or on its host."""
    aggregates = list(connection.compute.aggregates())
    aggregate = resolve.get_by_reference(
        "aggregate",
        request.ResourceReference(
            by="name", value=t.cast(str, guest_request.aggregate)
        ),
        aggregates,
    )
    members = aggregate.hosts or []
    if guest_request.host:
        if guest_request.host not in members:
            raise errors.GuestError(
                f"host {guest_request.host!r} is not in aggregate "
                f"{aggregate.name!r}, which has: {resolve.join_names(members)}"
            )
        return _assign_to_host(
            guest_request,
            _find_compute_hosts(connection, (guest_request.host,)),
        )
    own_zone = aggregate.availability_zone
    in_zone = {
        host
        for other_aggregate in aggregates
        if own_zone and other_aggregate.availability_zone == own_zone
        for host in other_aggregate.hosts or []
    }
    hosts = _find_compute_hosts(connection, members)
    is_exclusive = bool(own_zone) and in_zone <= set(members)
    return _assign_to_aggregate(
        guest_request, aggregate, hosts, is_exclusive=is_exclusive
    )


def _find_compute_hosts(
    connection: cloud.Connection, names: collections.abc.Collection[str]
) -> ComputeHosts:
    """Return the compute hosts with the given names.

    Each host is requested by its name, unless there are more than a few.
    """
    queries: list[dict[str, str]] = [{"host": name} for name in names]
    return {
        service.host: _ComputeHost(
            zone=service.availability_zone,
            usable=service.status == "enabled" and service.state == "up",
        )
        for query in (queries if len(queries) <= _FEW else [{}])
        for service in connection.compute.services(
            binary="nova-compute", **query
        )
        if service.host in names
    }


def _assign_to_host(
    guest_request: request.Request, hosts: ComputeHosts
) -> Placement:
    """Return a placement with all guests on one host; reject unknown ones."""
    host = t.cast(str, guest_request.host)
    if host not in hosts:
        raise errors.GuestError(
            f"host {host!r} is not a compute host; to list them: "
            "openstack compute service list --service nova-compute"
        )
    zone = hosts[host].zone
    if guest_request.availability_zone not in (None, zone):
        raise errors.GuestError(
            f"availability_zone {guest_request.availability_zone!r}: host "
            f"{host!r} is in {zone!r}; remove one of the options"
        )
    _check_anti_affinity(guest_request, f"host {host!r}", [host])
    return _rotate(guest_request, hosts, [host], {host})


def _assign_to_hosts(
    guest_request: request.Request, hosts: ComputeHosts
) -> Placement:
    """Return a placement that assigns guests to the hosts in rotation."""
    for host in guest_request.hosts:
        _assign_to_host(
            dataclasses.replace(guest_request, host=host, server_group=None),
            hosts,
        )
        if not hosts[host].usable:
            raise errors.GuestError(
                f"hosts: nova-compute on {host!r} is disabled or down; enable "
                "it, or remove the host"
            )
    _check_anti_affinity(guest_request, "hosts", guest_request.hosts)
    if (
        guest_request.server_group == "affinity"
        and len(guest_request.hosts) > 1
    ):
        raise errors.GuestError(
            f"server_group 'affinity': the guests cannot share one host "
            f"of {len(guest_request.hosts)}; remove server_group or hosts"
        )
    return _rotate(
        guest_request, hosts, guest_request.hosts, guest_request.hosts
    )


def _rotate(
    guest_request: request.Request,
    hosts: ComputeHosts,
    names: collections.abc.Iterable[str],
    permitted: collections.abc.Iterable[str],
) -> Placement:
    """Return a placement that assigns guests to hosts in rotation.

    :param names: The names of the hosts, in the order of the rotation.
    :param permitted: The names of the permitted hosts.
    """
    zones = itertools.cycle(f"{hosts[name].zone}:{name}" for name in names)
    return Placement(
        zones=tuple(itertools.islice(zones, guest_request.count)),
        hosts=frozenset(permitted),
    )


def _assign_to_aggregate(
    guest_request: request.Request,
    aggregate: t.Any,
    compute_hosts: ComputeHosts,
    *,
    is_exclusive: bool,
) -> Placement:
    """Return a placement that is limited to an aggregate.

    If the zone of the aggregate has no other host, the placement is this zone.
    Otherwise it assigns hosts in rotation, or one host for all guests that
    must share a host.

    :param compute_hosts: The compute hosts of the aggregate.
    :param is_exclusive: A flag that the aggregate has a zone without other
        hosts.
    """
    name = f"aggregate {aggregate.name!r}"
    zone = guest_request.availability_zone
    usable = sorted(
        host_name
        for host_name, host in compute_hosts.items()
        if host.usable and zone in (None, host.zone)
    )
    if not usable:
        within = f" in availability_zone {zone!r}" if zone else ""
        raise errors.GuestError(
            f"{name} has no compute host{within} that is enabled and up (it "
            f"has: {resolve.join_names(aggregate.hosts or [])}); choose "
            "another aggregate"
        )
    _check_anti_affinity(guest_request, name, usable)
    own_zone = aggregate.availability_zone
    if is_exclusive and zone in (None, own_zone):
        return Placement(
            zones=(own_zone,) * guest_request.count,
            hosts=frozenset(compute_hosts),
        )
    if guest_request.server_group in ("affinity", "soft-affinity"):
        usable = usable[:1]
    return _rotate(guest_request, compute_hosts, usable, compute_hosts)


def _check_anti_affinity(
    guest_request: request.Request, name: str, usable: collections.abc.Sized
) -> None:
    """Reject anti-affinity for more guests than usable hosts."""
    if (
        guest_request.server_group == "anti-affinity"
        and guest_request.count > len(usable)
    ):
        raise errors.GuestError(
            f"server_group 'anti-affinity': {guest_request.count} guests "
            f"require as many hosts, {name} has {len(usable)}; request fewer "
            "guests, or affinity, soft-affinity or soft-anti-affinity"
        )
