# SPDX-License-Identifier: Apache-2.0
"""The plan of guests, checked before any is booted."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import host_sharing
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from rally_vmperf.guests import volumes
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import compute_hosts
from rally_vmperf.guests.planning import quota
from rally_vmperf.guests.planning import requirements
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A request, resolved to image, flavor, network and host of a cloud.

    :param demands: The image and the flavor of each group.
    :param networks_by_group: The networks of groups that have their own.
    :param networks: The networks; None if they do not exist yet.
    :param sequential: A flag that groups boot one after another, because they
        do not fit together.
    """

    guest_request: request.Request
    demands: tuple[capacity.Demand, ...]
    placement: hosts.Placement
    networks_by_group: dict[str, networks.Networks] = dataclasses.field(
        default_factory=dict
    )
    networks: networks.Networks | None
    requirements: requirements.Requirements
    sequential: bool = False

    def guests(self) -> dict[str, capacity.Demand]:
        """Return each guest's group by name, numbered through all groups."""
        demands = (
            demand for demand in self.demands for _ in range(demand.count)
        )
        return {
            f"g{number}": demand for number, demand in enumerate(demands, 1)
        }


def create_plan(
    connection: cloud.Connection,
    guest_request: request.Request,
    admin: cloud.Connection | None = None,
    *,
    has_networks: bool = True,
) -> Plan:
    """Return the plan; nothing is created.

    The requirements of the plan report missing quota and capacity.

    :param admin: The connection of an administrator, which shows the free
        resources of hosts; None if there is none.
    :param has_networks: A flag that the networks exist.
    :raises GuestError: If a resource does not exist, or if options exclude
        each other.
    """
    demands = [
        _resolve_group(
            connection, group, guest_request.max_image_copy_gib, admin
        )
        for group in guest_request.groups
    ]
    _check_admin(guest_request, admin)
    guest_request, remarks = _add_server_group(connection, guest_request)
    placement = hosts.resolve_placement(connection, guest_request)
    guest_networks, networks_by_group = (
        _choose_networks(connection, guest_request)
        if has_networks
        else (None, {})
    )
    peak = _add_resized(connection, guest_request, demands)
    required = requirements.find_requirements(
        connection, guest_request, peak, placement, guest_networks, admin
    )
    sequential = bool(
        guest_request.sequential and len(demands) > 1 and required.error
    )
    if sequential:
        required = find_sequential_requirements(
            connection,
            guest_request,
            demands,
            networks_by_group,
            guest_networks,
            admin,
            required,
        )
    return Plan(
        guest_request=guest_request,
        demands=tuple(demands),
        placement=placement,
        networks=guest_networks,
        networks_by_group=networks_by_group,
        requirements=dataclasses.replace(
            required,
            remarks=(
                *required.remarks,
                *remarks,
                *compute_hosts.describe(
                    admin, guest_request, placement, demands
                ),
            ),
        ),
        sequential=sequential,
    )


def _check_admin(
    guest_request: request.Request, admin: cloud.Connection | None
) -> None:
    """Reject options that only an administrator has, and cannot use here."""
    if guest_request.empty_host:
        host_sharing.require_admin(admin)
    if guest_request.migrate_to is not None:
        check_migration_hosts(
            admin, guest_request.migrate_to, guest_request.host
        )


def _add_resized(
    connection: cloud.Connection,
    guest_request: request.Request,
    demands: list[capacity.Demand],
) -> list[capacity.Demand]:
    """Return the demands with one guest of the larger of two flavors.

    While a guest is resized, Nova counts the larger amount of both flavors.

    :raises GuestError: If the guest cannot have the other flavor.
    """
    if guest_request.resize_to is None:
        return demands
    first, *others = demands
    old = first.flavor
    new = resolve.get_flavor(connection, guest_request.resize_to)
    if new.id == old.id:
        raise errors.GuestError(
            f"event resize: flavor={new.name!r:.80}: must be another flavor "
            "than that of the guests"
        )
    if new.disk_gib < old.disk_gib and not first.group.boot_volume:
        raise errors.GuestError(
            f"event resize: flavor={new.name!r:.80} has a disk of "
            f"{new.disk_gib} GiB: must be >= {old.disk_gib}, the disk of "
            f"{old.name}, because Nova does not shrink disks"
        )
    largest = dataclasses.replace(
        new,
        vcpus=max(old.vcpus, new.vcpus),
        memory_mib=max(old.memory_mib, new.memory_mib),
    )
    rest = first.count - 1
    resized = dataclasses.replace(
        first,
        group=dataclasses.replace(first.group, count=1),
        flavor=largest,
    )
    unchanged = dataclasses.replace(
        first, group=dataclasses.replace(first.group, count=rest)
    )
    return [resized, *([unchanged] if rest else []), *others]


def check_migration_hosts(
    admin: cloud.Connection | None, host: str, boot_host: str | None
) -> None:
    """Reject a migration that cannot succeed.

    :param admin: The connection of an administrator, or None.
    :param host: The requested target host; empty if Nova chooses.
    :param boot_host: The host on which guests boot; None if Nova chooses.
    :raises GuestError: If there is no administrator or no second host.
    """
    if admin is None:
        raise errors.GuestError(
            "VMPerf.event: only an administrator migrates guests; add an "
            "admin to the environment, or choose another event, such as "
            "event: {name: reboot}"
        )
    usable = compute_hosts.list_usable(admin)
    if len(usable) <= 1:
        raise errors.GuestError(
            f"VMPerf.event: {', '.join(usable) or 'none'} is the only "
            "host that is up and enabled; a migration needs two"
        )
    if host and host not in usable:
        raise errors.GuestError(
            f"host={host!r:.80}: must be a host that is up and enabled "
            f"({', '.join(usable[:16])})"
        )
    if host and host == boot_host:
        raise errors.GuestError(
            f"host={host!r:.80}: the guests boot on this host; set host of "
            "vmperf_guests to another one"
        )


def _resolve_group(
    connection: cloud.Connection,
    group: request.Group,
    max_gib: float,
    admin: cloud.Connection | None,
) -> capacity.Demand:
    """Return a group with its image and its flavor; reject what cannot boot.

    :param max_gib: The maximum size of an image that is copied, in GiB.
    """
    image = resolve.get_image(connection, group.image)
    flavor = resolve.get_group_flavor(connection, group)
    _check_copies(group, image, max_gib, admin)
    volume = group.boot_volume
    volumes.check_volume_types(connection, group)
    resolve.check_fit(image, flavor, volume.size_gib if volume else None)
    demand = capacity.Demand(
        group=group,
        image=resolve.create_group_image(image, group),
        flavor=flavor,
        image_bytes=resolve.find_content_size(image),
        realtime_mask=group.image_properties.get(promises.REALTIME_MASK)
        or resolve.read_property(image, promises.REALTIME_MASK),
    )
    _check_cpu_policy(demand)
    return demand


def _check_cpu_policy(demand: capacity.Demand) -> None:
    """Reject CPU policies with which Nova boots no guest.

    :raises GuestError: If flavor and image contradict each other, or if no
        mask tells which vCPUs have CPUs of their own.
    """
    subject = (
        f"flavor {demand.flavor.name!r:.80} and image "
        f"{demand.image.name!r:.80} of group {demand.group.name!r}"
    )
    conflict = promises.describe_policy_conflict(
        demand.flavor.extra_specs, demand.image.cpu_policy
    )
    if conflict:
        raise errors.GuestError(
            f"{subject}: {conflict}; use the same policy in both, or remove "
            "that of one"
        )
    is_known = not demand.flavor.has_hidden_extra_specs
    if is_known and demand.dedicated_cpus is None:
        raise errors.GuestError(
            f"{subject}: the CPU policy is mixed, and Nova requires a mask of "
            f"some of the {demand.flavor.vcpus} vCPUs; set "
            "hw:cpu_dedicated_mask of the flavor, such as ^0"
        )


def _check_copies(
    group: request.Group,
    image: t.Any,
    max_gib: float,
    admin: cloud.Connection | None,
) -> None:
    """Reject a group whose flavor or image cannot be copied.

    :param image: The image, as an object of the SDK.
    :param max_gib: The maximum size of an image in GiB.
    """
    if group.extra_specs and admin is None:
        raise errors.GuestError(
            f"extra_specs={group.extra_specs!r} of group {group.name!r}: only "
            "an administrator creates flavors; add an admin to the "
            "environment, or set flavor to one that has these extra specs"
        )
    if not group.image_properties:
        return
    size, most = image.size or 0, int(max_gib * units.GIB)
    if not 0 < size <= most:
        raise errors.GuestError(
            f"image_properties of group {group.name!r}: image {image.name!r} "
            f"has {units.show_sizes(size, most)[0]} of data: must be > 0 and "
            f"<= max_image_copy_gib {max_gib:g}; set image to one that has "
            "these properties, or raise max_image_copy_gib"
        )


def _choose_networks(
    connection: cloud.Connection, guest_request: request.Request
) -> tuple[networks.Networks, dict[str, networks.Networks]]:
    """Return the networks, and those of groups that have their own."""
    return networks.choose_networks(
        connection, guest_request.for_group(guest_request.groups[0])
    ), {
        group.name: networks.choose_networks(
            connection, guest_request.for_group(group)
        )
        for group in guest_request.groups
        if group.network
    }


def _add_server_group(
    connection: cloud.Connection, guest_request: request.Request
) -> tuple[request.Request, tuple[str, ...]]:
    """Return the request, with a server group if needed, and remarks.

    A requested placement takes precedence.  If the quota does not suffice for
    the group, Nova chooses the hosts, and a remark reports it.
    """
    placed = (
        guest_request.host
        or guest_request.hosts
        or guest_request.aggregate
        or guest_request.server_group
    )
    if placed or not guest_request.one_host or guest_request.count < 2:
        return guest_request, ()
    short = quota.describe_shortage(
        str(connection.current_project.name or "?"),
        quota.find_free_compute_quota(connection),
        {"server groups": 1, "members of a server group": guest_request.count},
    )
    if short:
        remark = f"Nova chooses the hosts, which may be several: {short}"
        return guest_request, (f"{remark}, or set host",)
    return dataclasses.replace(guest_request, server_group="affinity"), ()


def create_plan_from_options(
    context: credentials.Context,
    guest_options: documents.Arguments,
    *,
    has_networks: bool,
    **flags: t.Any,
) -> Plan:
    """Return the plan for the options of vmperf_guests.

    :param context: Rally's context object, with the credentials
    :param guest_options: of vmperf_guests
    :param has_networks: the networks are there already
    :param flags: The flags of the request that the scenario determines.
    :raises GuestError: as ``create_plan`` does
    """
    admin = credentials.get_admin_credential(context)
    user = credentials.get_guest_credential(context, guest_options)
    connection = cloud.connect(user)
    cloud.check_login(connection, user)
    admin_connection = cloud.connect(admin) if admin else None
    if admin and admin_connection:
        cloud.check_login(admin_connection, admin)
    return create_plan(
        connection,
        request.parse_config(guest_options, None, **flags),
        admin_connection,
        has_networks=has_networks,
    )


def find_sequential_requirements(
    connection: cloud.Connection,
    guest_request: request.Request,
    demands: collections.abc.Sequence[capacity.Demand],
    networks_by_group: collections.abc.Mapping[str, networks.Networks],
    guest_networks: networks.Networks | None,
    admin: cloud.Connection | None,
    joint: requirements.Requirements,
) -> requirements.Requirements:
    """Return the requirements of groups of which one is booted at a time.

    The amount of each resource is that of the group that is closest to its
    limit. The error names the first group that does not fit on its own.

    :param networks_by_group: The networks of groups that have their own.
    :param guest_networks: The networks of other groups; None if they do not
        exist yet.
    :param admin: The connection of an administrator; None if there is none.
    :param joint: The requirements of all groups, which do not fit.
    """
    rows: dict[tuple[str, str], requirements.Requirement] = {}
    names_by_remark: dict[str, list[str]] = {}
    for demand in demands:
        group = demand.group
        group_request = guest_request.for_group(group)
        placement = hosts.resolve_placement(connection, group_request)
        alone = requirements.find_requirements(
            connection,
            group_request,
            [demand],
            placement,
            networks_by_group.get(group.name, guest_networks),
            admin,
        )
        if alone.error and admin is not None:
            remark = requirements.describe_impossible(
                admin, demand, placement.hosts
            )
            if remark:
                names_by_remark[remark] = [group.name]
                continue
        if alone.error:
            return dataclasses.replace(
                joint,
                error=f"variant {group.name!r} does not fit on its own: "
                f"{alone.error}",
            )
        for row in alone.rows:
            key = row.owner, row.resource
            rows[key] = max(rows.get(key, row), row, key=_get_shortage)
        for remark in alone.remarks:
            names_by_remark.setdefault(remark, []).append(group.name)
    return requirements.Requirements(
        title=f"{joint.title}, one variant after another",
        rows=tuple(rows.values()),
        remarks=_format_remarks(names_by_remark, len(demands), joint.error),
        error="" if rows else joint.error,
    )


def _format_remarks(
    names_by_remark: collections.abc.Mapping[str, list[str]],
    count: int,
    error: str,
) -> tuple[str, ...]:
    """Return remarks on groups, and why the groups boot one after another.

    :param names_by_remark: The names of the groups that a remark concerns.
    :param count: The number of all groups.
    :param error: The reason why all groups do not fit, with its solution.
    """
    reason, _, _ = error.rpartition("; ")
    return (
        *(
            remark if len(names) == count else f"{', '.join(names)}: {remark}"
            for remark, names in names_by_remark.items()
        ),
        "the guests of all variants do not fit at once, so that those of each "
        f"variant boot for its condition and are deleted after it: {reason}",
    )


def _get_shortage(row: requirements.Requirement) -> int:
    """Return the required amount beyond the free one, if that is known."""
    return row.amount - (row.free or 0)
