"""The resources that guests need, against what is free."""

import collections.abc
import dataclasses

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import quota
from rally_vmperf.measurement.samples import units

Demands = collections.abc.Sequence[capacity.Demand]

#: Hosts with room that are looked at first, where Nova chooses among all.
_ENOUGH = 16


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One resource that the guests need.

    :param room: how much of it is left, None where nothing limits it or the
        limit is not shown
    :param of: whose it is: a quota's or a host's
    """

    what: str
    needed: int
    room: int | None
    of: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Requirements:
    """All resources that the guests need, and why they cannot have them.

    :param title: in words, what is booted where
    :param remarks: what else is to be said
    :param refusal: one line with the way out, or nothing
    """

    title: str = ""
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()
    refusal: str = ""

    def lines(self) -> list[str]:
        """Return the plan as lines of progress."""
        lines = [f"plan: {self.title}"]
        for owner in dict.fromkeys(row.of for row in self.rows):
            parts = [
                f"{row.needed} of {row.room} {row.what}"
                if row.room is not None
                else f"{row.needed} {row.what} (no limit known)"
                for row in self.rows
                if row.of == owner
            ]
            lines.append(f"plan: {owner}: {', '.join(parts)}")
        return lines + [f"plan: {remark}" for remark in self.remarks]

    def check(self) -> None:
        """Refuse guests that do not fit.

        :raises GuestError: one line with the way out
        """
        if self.refusal:
            raise errors.GuestError(self.refusal)


def find(
    connection: sdk.Connection,
    asked: request.Request,
    demands: Demands,
    where: hosts.Where,
    chosen: networks.Networks | None,
    admin: sdk.Connection | None,
) -> Requirements:
    """Return the resources that all groups need; create nothing.

    :param demands: of each group
    :param chosen: None while there are no networks yet
    :param admin: who sees what is free on hosts, if there is one
    """
    with cloud.asking("ask for the project"):
        project = str(connection.current_project.name or "?")
    wanted = _quota_needs(asked, demands, chosen)
    rooms = quota.rooms(connection, wanted)
    only_admins = "only an administrator sees what is free on the hosts"
    found = Requirements(remarks=(only_admins,))
    if admin is not None:
        found = _hosts(admin, asked, demands, where.hosts)
    on = ", ".join(sorted(where.hosts)) or "hosts that Nova chooses"
    return Requirements(
        title=f"{_title(demands)}, {wanted['cores']} vCPUs, "
        f"{wanted['MiB of memory']} MiB of memory, on {on}",
        rows=(
            *(
                Row(
                    what=what,
                    needed=need,
                    room=rooms.get(what),
                    of=f"quota of project {project}",
                )
                for what, need in wanted.items()
                if need
            ),
            *found.rows,
        ),
        remarks=found.remarks,
        refusal=quota.refusal(project, rooms, wanted) or found.refusal,
    )


def _quota_needs(
    asked: request.Request,
    demands: Demands,
    chosen: networks.Networks | None,
) -> dict[str, int]:
    volumes = [
        group.boot_volume.size_gib
        for group in asked.groups
        if group.boot_volume
        for _ in range(group.count)
    ]
    ports = len(chosen.every) if chosen else 0
    return {
        "instances": asked.count,
        "cores": sum(one.count * one.flavor.vcpus for one in demands),
        "MiB of memory": sum(
            one.count * one.flavor.memory_mib for one in demands
        ),
        "floating IPs": asked.count if chosen and chosen.pool else 0,
        "ports": asked.count * ports,
        "server groups": 1 if asked.server_group else 0,
        "members of a server group": asked.count if asked.server_group else 0,
        "volumes": len(volumes),
        "GiB of volumes": sum(volumes),
    }


def _title(demands: Demands) -> str:
    return " and ".join(
        f"{units.number_of('guest', one.count)} of {one.flavor.name}"
        for one in demands
    )


def _hosts(
    admin: sdk.Connection,
    asked: request.Request,
    demands: Demands,
    names: collections.abc.Set[str],
) -> Requirements:
    """Compare the guests' needs with free resources of hosts; no title.

    Where Nova chooses among many hosts, a few of them that have room are
    enough, and all are asked for only before guests are refused.
    """
    if not names:
        found = _room(admin, asked, demands, names, _ENOUGH)
        if not found.refusal:
            return found
    return _room(admin, asked, demands, names, None)


def _room(
    admin: sdk.Connection,
    asked: request.Request,
    demands: Demands,
    names: collections.abc.Set[str],
    limit: int | None,
) -> Requirements:
    """Compare the guests' needs with free resources of hosts.

    :param limit: so many hosts are enough; None for all
    """
    shared = len(names) == 1 or asked.server_group == "affinity"
    together = capacity.total(demands) if shared and limit else None
    by_name: dict[str, capacity.Host] = {}
    for demand in demands:
        found = capacity.hosts(admin, together or demand.each, names, limit)
        if found is None:
            silent = "Placement did not say what is free on the hosts"
            return Requirements(remarks=(silent,))
        if not found:
            named = f"host {', '.join(sorted(names))}" if names else "no host"
            verb = "has no room" if names else "has room"
            return Requirements(
                refusal=f"{named} {verb} for a guest of {demand.flavor.name}, "
                "says Placement; remove other guests, or choose a smaller "
                "flavor or another host"
            )
        for host in found:
            by_name[host.name] = host.and_of(by_name.get(host.name))
    if len(by_name) == 1:
        (host,) = by_name.values()
        if not names:
            host = capacity.named(admin, host)
        return _one_host(host, demands, asked.max_host_share)
    return _several(
        [by_name[name] for name in sorted(by_name)],
        demands,
        asked.max_host_share,
        shared=shared,
        more=limit is not None and len(by_name) >= limit,
    )


def _one_host(
    host: capacity.Host, demands: Demands, share: float
) -> Requirements:
    needs = capacity.total(demands)
    then = host.share(needs)
    refusal = (
        f"host {host.name} would be {then:.0f} % full with {_title(demands)}, "
        f"more than max_host_share {share:g} %; ask for fewer, for a smaller "
        "flavor or another host, or raise max_host_share"
    )
    return Requirements(
        rows=tuple(
            Row(
                what=capacity.LABELS[kind],
                needed=need,
                room=host.capacity[kind] - host.used[kind],
                of=f"host {host.name}",
            )
            for kind, need in needs.items()
        ),
        remarks=(
            f"host {host.name} will be {then:.0f} % full; more than "
            f"{share:g} % is refused",
        ),
        refusal="" if then <= share else refusal,
    )


def _several(
    found: collections.abc.Sequence[capacity.Host],
    demands: Demands,
    share: float,
    *,
    shared: bool,
    more: bool,
) -> Requirements:
    """Refuse what cannot fit on the hosts, however guests are spread.

    :param shared: they must all fit on one of the hosts
    :param more: there may be more of them
    """
    number = f"{len(found)} or more" if more else f"{len(found)}"
    on = "one of the hosts" if shared else "the hosts"
    rows, fit = [], capacity.may_fit(found, demands, share, shared=shared)
    for demand in demands:
        fits = [max(0, host.fits(demand.each, share)) for host in found]
        room = max(fits) if shared else sum(fits)
        fit = fit and demand.count <= room
        of_flavor = f" of {demand.flavor.name}" if len(demands) > 1 else ""
        rows.append(
            Row(
                what=f"guests{of_flavor} within {share:g} % of {on}",
                needed=demand.count,
                room=room,
                of=f"hosts with room ({number})",
            )
        )
    can = f"can take {room} of" if len(demands) == 1 else "cannot take"
    refusal = (
        f"{on} that have room for a guest, {len(found)}, {can} "
        f"{_title(demands)} within max_host_share {share:g} %; ask for fewer, "
        "for a smaller flavor, or raise max_host_share"
    )
    return Requirements(rows=tuple(rows), refusal="" if fit else refusal)
