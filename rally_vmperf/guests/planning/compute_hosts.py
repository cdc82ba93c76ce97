# SPDX-License-Identifier: Apache-2.0
"""The compute hosts of a cloud: their inventories, and their CPUs."""

import collections.abc
import typing as t

from openstack import exceptions

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from rally_vmperf.guests.planning import capacity
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import host_names
from rally_vmperf.measurement.samples import units

_INVENTORY = json_schema.mapping(
    {
        "total": json_schema.number(minimum=0),
        "reserved": json_schema.number(minimum=0),
        "allocation_ratio": json_schema.number(exclusiveMinimum=0),
    },
    *("total", "reserved", "allocation_ratio"),
)
_INVENTORIES = json_schema.mapping(
    {"inventories": json_schema.values(_INVENTORY)}, "inventories"
)
#: The number of CPUs by host.
HostCpus = collections.abc.Mapping[str, int]
#: The maximum number of hosts in a message.
_MOST = 4


def list_usable(
    admin: cloud.Connection,
    aggregate: str | None = None,
    zone: str | None = None,
) -> list[str]:
    """Return the names of enabled hosts that are up, as a sorted list.

    :param aggregate: The name of a host aggregate; None for all hosts.
    :param zone: The name of an availability zone; None for all zones.
    :raises GuestError: If Nova does not answer, or if the aggregate does not
        exist.
    """
    with cloud.convert_errors("list compute hosts, as administrator"):
        usable = {
            service.host
            for service in admin.compute.services(binary="nova-compute")
            if service.status == "enabled"
            and service.state == "up"
            and zone in (None, service.availability_zone)
        }
        if aggregate is not None:
            found = resolve.get_by_reference(
                "aggregate",
                request.ResourceReference(by="name", value=aggregate),
                list(admin.compute.aggregates()),
            )
            usable &= {*(found.hosts or ())}
    return sorted(usable)


def read_inventories(
    admin: cloud.Connection, names: collections.abc.Collection[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the inventories of hosts by name and resource class.

    Hosts that Placement does not know are omitted.

    :param names: The names of the hosts in Nova.
    :raises GuestError: If Placement does not answer.
    """
    inventories: dict[str, dict[str, dict[str, float]]] = {}
    with cloud.convert_errors("read inventories, as administrator"):
        providers = list(admin.placement.resource_providers())
        by_name: dict[str, t.Any] = {
            provider.name: provider for provider in providers
        }
        for name in names:
            provider = by_name.get(name) or next(
                (
                    other
                    for other in providers
                    if host_names.same(name, other.name)
                ),
                None,
            )
            if provider is None:
                continue
            answer = admin.placement.get(
                f"/resource_providers/{provider.id}/inventories"
            )
            exceptions.raise_from_response(answer)
            document = cloud.parse_document(answer, _INVENTORIES)
            inventories[name] = {
                kind: {
                    key: inventory[key]
                    for key in ("total", "reserved", "allocation_ratio")
                }
                for kind, inventory in document["inventories"].items()
            }
    return inventories


def find_cpu_count(
    context: credentials.Context, guest_options: documents.Arguments
) -> int:
    """Return the number of CPUs of the hosts on which guests boot.

    :param context: Rally's context object, with the credentials.
    :param guest_options: The options of vmperf_guests.
    :raises GuestError: If it is not known, if the hosts differ, or if the
        guests have dedicated CPUs.
    """
    admin = credentials.get_admin_credential(context)
    if admin is None:
        raise errors.GuestError(
            "levels: host_cpus is missing, and only an administrator reads "
            "it from Nova; add an admin to the environment, or set host_cpus "
            "to the number of CPUs of the host"
        )
    connection = cloud.connect(admin)
    cloud.check_login(connection, admin)
    guest_request = request.parse_config({"count": 1, **guest_options})
    user = credentials.get_guest_credential(context, guest_options)
    _check_shared(
        connection if user is admin else cloud.connect(user), guest_request
    )
    placement = hosts.resolve_placement(connection, guest_request)
    names = _list_hosts(connection, guest_request, placement)
    shown, cpus = _read_cpus(connection, names)
    # If Nova chooses, guests boot on the hosts that have CPUs for them.
    unknown_hosts = (
        names if placement.hosts or not cpus else set()
    ) - cpus.keys()
    if unknown_hosts or not cpus:
        raise errors.GuestError(
            "levels: host_cpus is missing, and "
            f"{_explain(unknown_hosts, shown)}; set host_cpus to the number "
            "of CPUs of the host"
        )
    numbers = {*cpus.values()}
    if len(numbers) > 1:
        raise errors.GuestError(
            "levels: host_cpus is missing, and the hosts on which guests may "
            f"boot differ: {_describe(cpus)}; set host of vmperf_guests, or "
            "set host_cpus"
        )
    (number,) = numbers
    return number


def _read_cpus(
    admin: cloud.Connection, names: collections.abc.Set[str]
) -> tuple[HostCpus, HostCpus]:
    """Return the numbers that Nova shows, and those of hosts with CPUs.

    A host whose CPUs are all reserved or dedicated has the number 0.

    :param admin: The connection of an administrator.
    :param names: The names of the hosts.
    """
    shown = hosts.find_host_cpus(admin, names)
    return shown, {name: count for name, count in shown.items() if count > 0}


def _explain(unknown_hosts: collections.abc.Set[str], shown: HostCpus) -> str:
    """Return why the CPUs of hosts are not known.

    :param unknown_hosts: The names of the hosts; empty if there is no host.
    :param shown: The numbers that Nova shows, some of which are 0.
    """
    hidden = ", ".join(sorted(unknown_hosts - shown.keys())[:_MOST])
    without = ", ".join(sorted(unknown_hosts & shown.keys())[:_MOST])
    reasons = [
        f"Nova does not show the CPUs of {hidden}" if hidden else "",
        f"Nova reports 0 CPUs for shared vCPUs of {without}, because all are "
        "reserved or dedicated"
        if without
        else "",
    ]
    return " and ".join(filter(None, reasons)) or (
        "no host is enabled and up on which guests may boot"
    )


def _list_hosts(
    admin: cloud.Connection,
    guest_request: request.Request,
    placement: hosts.Placement,
) -> set[str]:
    """Return the names of the hosts on which guests may boot.

    The placement may be that of the first guest only, as long as the number
    of guests is not known.

    :param admin: The connection of an administrator.
    """
    forced = {(zone or "").partition(":")[2] for zone in placement.zones}
    shares_host = guest_request.server_group in ("affinity", "soft-affinity")
    if all(forced) and (shares_host or placement.hosts <= forced):
        return forced
    usable = {
        *list_usable(admin, zone=guest_request.availability_zone or None)
    }
    return usable & placement.hosts if placement.hosts else usable


def _check_shared(
    connection: cloud.Connection, guest_request: request.Request
) -> None:
    """Reject flavors with dedicated CPUs, whose number Nova does not show.

    :param connection: The connection of the user that boots the guests.
    """
    for group in guest_request.groups:
        flavor = resolve.get_group_flavor(connection, group)
        image = resolve.create_group_image(
            resolve.get_image(connection, group.image), group
        )
        policy = promises.find_cpu_policy(flavor.extra_specs, image.cpu_policy)
        if policy != "shared":
            raise errors.GuestError(
                f"levels: host_cpus is missing, and flavor {flavor.name!r:.80}"
                f" of group {group.name!r} has dedicated CPUs, whose number "
                "Nova does not show; set host_cpus to the number of CPUs of "
                "the host for pinned vCPUs"
            )


def describe(
    admin: cloud.Connection | None,
    guest_request: request.Request,
    placement: hosts.Placement,
    demands: collections.abc.Iterable[capacity.Demand],
) -> list[str]:
    """Return how the CPUs of a task compare with those of hosts, as remarks.

    Pinned vCPUs have CPUs of their own, whose number Nova does not show.

    :param admin: The connection of an administrator; None if there is none.
    """
    number = guest_request.host_cpus
    is_pinned = any(demand.cpu_policy != "shared" for demand in demands)
    if number is None or admin is None or is_pinned:
        return []
    try:
        names = _list_hosts(admin, guest_request, placement)
    except errors.GuestError:
        return []
    _, cpus = _read_cpus(admin, names)
    if not cpus:
        return []
    if number not in cpus.values():
        return [
            f"levels: host_cpus={number}: Nova shows {_describe(cpus)} for "
            "vCPUs, and the verdict counts vCPUs per CPU by it; set this "
            "number, or remove host_cpus"
        ]
    return [f"levels: host_cpus={number}: Nova shows {_describe(cpus)}"]


def _describe(cpus: HostCpus) -> str:
    """Return the number of CPUs of hosts as text."""
    names: dict[int, list[str]] = {}
    for name, number in sorted(cpus.items()):
        names.setdefault(number, []).append(name)
    return ", ".join(
        f"{units.number_of('CPU', number)} of "
        f"{', '.join(hosts_of_number[:_MOST])}"
        f"{' and others' if len(hosts_of_number) > _MOST else ''}"
        for number, hosts_of_number in sorted(names.items())
    )
