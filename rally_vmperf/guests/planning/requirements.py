# SPDX-License-Identifier: Apache-2.0
"""The resources that guests require, compared with free resources."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import quota
from rally_vmperf.measurement.samples import units

Demands = collections.abc.Sequence[capacity.Demand]

#: Hosts with room that are listed first, if Nova chooses among all.
_ENOUGH = 16


@dataclasses.dataclass(frozen=True, kw_only=True)
class Requirement:
    """One resource that the guests require.

    :param free: The free amount; None if it is not limited or not known.
    :param owner: The owner of the resource: a quota or a host.
    """

    resource: str
    amount: int
    free: int | None
    owner: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Requirements:
    """All resources that the guests require.

    :param title: The description of the guests and their hosts.
    :param remarks: The remarks for the user.
    :param error: The reason, with the solution, if the guests do not fit;
        else empty.
    """

    title: str = ""
    rows: tuple[Requirement, ...] = ()
    remarks: tuple[str, ...] = ()
    error: str = ""

    def format_lines(self) -> list[str]:
        """Return the plan as lines of progress."""
        lines = [f"plan: {self.title}"]
        for owner in dict.fromkeys(row.owner for row in self.rows):
            amounts = [
                f"{row.amount} of {row.free} {row.resource}"
                if row.free is not None
                else f"{row.amount} {row.resource} (no limit known)"
                for row in self.rows
                if row.owner == owner
            ]
            lines.append(f"plan: {owner}: {', '.join(amounts)}")
        return lines + [f"plan: {remark}" for remark in self.remarks]

    def check(self) -> None:
        """Reject a plan whose guests do not fit.

        :raises GuestError: If they do not fit; the line has the solution.
        """
        if self.error:
            raise errors.GuestError(self.error)


def find_requirements(
    connection: cloud.Connection,
    guest_request: request.Request,
    demands: Demands,
    placement: hosts.Placement,
    guest_networks: networks.Networks | None,
    admin: cloud.Connection | None,
) -> Requirements:
    """Return the resources that all groups require; create nothing.

    :param demands: The demand of each group.
    :param guest_networks: The networks; None if they do not exist yet.
    :param admin: The connection of an administrator, which shows the free
        resources of hosts; None if there is none.
    """
    with cloud.convert_errors("read the name of the project"):
        project = str(connection.current_project.name or "?")
    quota_needs = _count_quota_needs(guest_request, demands, guest_networks)
    free_quota = quota.find_free_quota(connection, quota_needs)
    only_admins = "only an administrator sees the free resources of hosts"
    host_requirements = Requirements(remarks=(only_admins,))
    if admin is not None:
        host_requirements = _compare_with_hosts(
            admin, guest_request, demands, placement.hosts
        )
    host_names = (
        ", ".join(sorted(placement.hosts)) or "hosts that Nova chooses"
    )
    quota_rows = [
        Requirement(
            resource=resource,
            amount=need,
            free=free_quota.get(resource),
            owner=f"quota of project {project}",
        )
        for resource, need in quota_needs.items()
        if need
    ]
    return Requirements(
        title=f"{_format_title(demands)}, {quota_needs['cores']} vCPUs, "
        f"{quota_needs['MiB of memory']} MiB of memory, on {host_names}",
        rows=(*quota_rows, *host_requirements.rows),
        remarks=(
            *_describe_sources(guest_request),
            *host_requirements.remarks,
        ),
        error=quota.describe_shortage(project, free_quota, quota_needs)
        or host_requirements.error,
    )


def _describe_sources(guest_request: request.Request) -> list[str]:
    """Return a sentence on each allowed source that is all networks."""
    return [
        f"allowed_sources={source}: every network may open SSH connections "
        "to the guests; to restrict it, give the network of this machine"
        for source in guest_request.allowed_sources
        if source.prefixlen == 0
    ]


def _count_quota_needs(
    guest_request: request.Request,
    demands: Demands,
    guest_networks: networks.Networks | None,
) -> dict[str, int]:
    """Return the amount that all guests need of each quota, by its name."""
    volumes = [
        volume
        for group in guest_request.groups
        for volume in (
            *([group.boot_volume] if group.boot_volume else []),
            *group.volumes,
        )
        for _ in range(group.count)
    ]
    guests = guest_request.count
    ports = len(guest_networks.networks) if guest_networks else 0
    has_pool = bool(guest_networks and guest_networks.pool)
    server_groups = 1 if guest_request.server_group else 0
    is_secured = guest_networks is None or any(
        map(networks.is_secured, guest_networks.networks)
    )
    return {
        "instances": guests,
        "cores": sum(demand.count * demand.flavor.vcpus for demand in demands),
        "MiB of memory": sum(
            demand.count * demand.flavor.memory_mib for demand in demands
        ),
        "floating IPs": guests if has_pool else 0,
        "ports": guests * ports,
        "security groups": 1 if is_secured else 0,
        "security group rules": (
            _count_rules(guest_request) if is_secured else 0
        ),
        "key pairs": 1,
        "server groups": server_groups,
        "members of a server group": guests * server_groups,
        **_count_volumes(volumes),
    }


def _count_volumes(
    volumes: collections.abc.Iterable[request.Volume],
) -> dict[str, int]:
    """Return the amount that volumes need of each quota, by its name.

    Cinder has a quota for each type, and chooses a type where none is
    requested.
    """
    needs = collections.Counter({"volumes": 0, "GiB of volumes": 0})
    largest = 0
    for volume in volumes:
        largest = max(largest, volume.size_gib)
        for resource, amount in (
            ("volumes", 1),
            ("GiB of volumes", volume.size_gib),
        ):
            needs[resource] += amount
            if volume.type:
                needs[quota.name_type_quota(resource, volume.type)] += amount
    return {**needs, "GiB of one volume": largest}


def _count_rules(guest_request: request.Request) -> int:
    """Return how many rules the security group of a run has at least.

    Neutron adds a rule for egress per IP version. The networks that reach the
    guests by SSH are known only after the boot, unless the request has them.
    """
    sources = max(1, len(guest_request.allowed_sources))
    between_guests = 6 if guest_request.count > 1 else 0
    return 2 + 2 * sources + between_guests


def _format_title(demands: Demands) -> str:
    """Return the number of guests of each flavor as text."""
    return " and ".join(
        f"{units.number_of('guest', demand.count)} of {demand.flavor.name}"
        for demand in demands
    )


def _name_units(demands: Demands) -> str:
    """Return what a user can request fewer of."""
    return "guests or variants" if len(demands) > 1 else "guests"


def _compare_with_hosts(
    admin: cloud.Connection,
    guest_request: request.Request,
    demands: Demands,
    names: collections.abc.Set[str],
) -> Requirements:
    """Return needs and free amounts of the hosts, without a title.

    If Nova chooses among many hosts, a few hosts with room are sufficient. All
    hosts are listed only before guests are rejected.
    """
    host_requirements = _compare_with_capacity(
        admin, guest_request, demands, names, None if names else _ENOUGH
    )
    if not names and host_requirements.error:
        host_requirements = _compare_with_capacity(
            admin, guest_request, demands, names, None
        )
    if not host_requirements.error or len(demands) == 1:
        return host_requirements
    return _compare_possible(
        admin, guest_request, demands, names, host_requirements
    )


def _compare_possible(
    admin: cloud.Connection,
    guest_request: request.Request,
    demands: Demands,
    names: collections.abc.Set[str],
    host_requirements: Requirements,
) -> Requirements:
    """Return the requirements without groups that need pinned CPUs.

    Where Placement shows none, Nova pins guests to other processors of hosts
    that are not configured for pinning, or rejects these guests only.

    :param host_requirements: The requirements of all groups.
    """
    remarks = [describe_impossible(admin, demand, names) for demand in demands]
    possible = [
        demand
        for demand, remark in zip(demands, remarks, strict=True)
        if not remark
    ]
    if not any(remarks) or not possible:
        return host_requirements
    others = _compare_with_hosts(admin, guest_request, possible, names)
    return dataclasses.replace(
        others, remarks=(*others.remarks, *filter(None, remarks))
    )


def describe_impossible(
    admin: cloud.Connection,
    demand: capacity.Demand,
    names: collections.abc.Set[str],
) -> str:
    """Return a remark if a group needs pinned CPUs that no host shows, or "".

    :param names: The names of the permitted hosts; empty for all hosts.
    """
    if (
        "PCPU" not in demand.per_guest
        or capacity.find_hosts(admin, demand.per_guest, names, 1) != []
    ):
        return ""
    return (
        f"no host has room for a guest of group {demand.group.name} "
        f"({_format_needs(demand)}) according to Placement; if it fails to "
        "boot, the others are measured without it"
    )


def _format_needs(demand: capacity.Demand) -> str:
    """Return the needs of one guest as text."""
    return ", ".join(
        f"{amount} {capacity.LABELS[kind]}"
        for kind, amount in demand.per_guest.items()
    )


def _compare_with_capacity(
    admin: cloud.Connection,
    guest_request: request.Request,
    demands: Demands,
    names: collections.abc.Set[str],
    limit: int | None,
) -> Requirements:
    """Return needs and free amounts of the hosts, and whether they fit.

    :param limit: The maximum number of hosts to list; None for all.
    """
    shared = len(names) == 1 or guest_request.server_group == "affinity"
    required = capacity.sum_demands(demands) if shared and limit else None
    by_name: dict[str, capacity.HostCapacity] = {}
    for demand in demands:
        free_hosts = capacity.find_hosts(
            admin, required or demand.per_guest, names, limit
        )
        if free_hosts is None:
            remark = "Placement does not show the free resources of hosts"
            return Requirements(remarks=(remark,))
        if not free_hosts:
            subject = "no host has room"
            if names:
                subject = f"host {', '.join(sorted(names))} has no room"
            return Requirements(
                error=f"{subject} for a guest of "
                f"{demand.flavor.name} according to Placement; delete other "
                "guests, or use a smaller flavor or another host"
            )
        for host in free_hosts:
            by_name[host.name] = host.merge(by_name.get(host.name))
    if len(by_name) == 1:
        (host,) = by_name.values()
        if not names:
            host = capacity.resolve_name(admin, host)
        return _compare_with_one_host(
            host, demands, guest_request.max_host_share
        )
    return _compare_with_several_hosts(
        [by_name[name] for name in sorted(by_name)],
        demands,
        guest_request.max_host_share,
        shared=shared,
        is_incomplete=limit is not None and len(by_name) >= limit,
    )


def _compare_with_one_host(
    host: capacity.HostCapacity, demands: Demands, share: float
) -> Requirements:
    """Return needs and free amounts of a host, with an error if too full."""
    needs = capacity.sum_demands(demands)
    percent_used = host.utilisation(needs)
    error = (
        f"host {host.name} would be {percent_used:.0f} % full with "
        f"{_format_title(demands)}, more than max_host_share {share:g} %; "
        f"request fewer {_name_units(demands)}, a smaller flavor or another "
        "host, or raise max_host_share"
    )
    return Requirements(
        rows=tuple(
            Requirement(
                resource=capacity.LABELS[kind],
                amount=need,
                free=host.capacity[kind] - host.used[kind],
                owner=f"host {host.name}",
            )
            for kind, need in needs.items()
        ),
        remarks=(
            f"host {host.name} will be {percent_used:.0f} % full; more than "
            f"{share:g} % is rejected",
        ),
        error="" if percent_used <= share else error,
    )


def _compare_with_several_hosts(
    host_capacities: collections.abc.Sequence[capacity.HostCapacity],
    demands: Demands,
    share: float,
    *,
    shared: bool,
    is_incomplete: bool,
) -> Requirements:
    """Return needs and free amounts of several hosts, with any error.

    :param shared: A flag that all guests must fit on one of the hosts.
    :param is_incomplete: A flag that there may be more hosts.
    """
    number = f"{len(host_capacities)}{' or more' if is_incomplete else ''}"
    on = "one of the hosts" if shared else "the hosts"
    rows = []
    fit = capacity.may_fit(host_capacities, demands, share, shared=shared)
    for demand in demands:
        guest_counts = [
            max(0, host.guests_that_fit(demand.per_guest, share))
            for host in host_capacities
        ]
        free_guests = max(guest_counts) if shared else sum(guest_counts)
        fit = fit and demand.count <= free_guests
        of_flavor = f" of {demand.flavor.name}" if len(demands) > 1 else ""
        rows.append(
            Requirement(
                resource=f"guests{of_flavor} within {share:g} % of {on}",
                amount=demand.count,
                free=free_guests,
                owner=f"hosts with room ({number})",
            )
        )
    can = f"can take {free_guests} of" if len(demands) == 1 else "cannot take"
    error = (
        f"{on} that have room for a guest, {len(host_capacities)}, {can} "
        f"{_format_title(demands)} within max_host_share {share:g} %; request "
        f"fewer {_name_units(demands)} or a smaller flavor, or raise "
        "max_host_share"
    )
    return Requirements(rows=tuple(rows), error="" if fit else error)
