"""What guests will take, and what there is of it: the plan of a run."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import capacity
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import quota
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that is taken.

    :param room: how much of it is left, None where nothing limits it or the
        limit is not shown
    :param of: whose it is: a quota's or a host's
    """

    what: str
    needed: int
    room: int | None
    of: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bill:
    """All that is taken, and why it may not be.

    :param title: in words, what is booted where
    :param remarks: what else is to be said
    :param refusal: one line with the way out, or nothing
    """

    title: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]
    refusal: str

    def lines(self) -> list[str]:
        """Return the plan in lines for whoever is waiting."""
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
        """Refuse what would not fit.

        :raises GuestError: one line with the way out
        """
        if self.refusal:
            raise errors.GuestError(self.refusal)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Hosts:
    rows: tuple[Row, ...] = ()
    remark: str = ""
    refusal: str = ""


def draw_up(
    connection: sdk.Connection,
    asked: request.Request,
    flavor: t.Any,
    extra_specs: collections.abc.Mapping[str, str],
    where: hosts.Where,
    chosen: networks.Networks | None,
    admin: sdk.Connection | None,
) -> Bill:
    """Return the bill; nothing is made.

    :param chosen: None while there are no networks yet
    :param admin: who sees what is free on hosts, if there is one
    """
    with cloud.asking("ask for the project"):
        project = str(connection.current_project.name or "?")
    wanted = _needs(asked, flavor, chosen)
    rooms = quota.rooms(connection, wanted)
    each = capacity.needs(flavor, extra_specs, bool(asked.boot_volume))
    found = _Hosts(remark="what is free on the hosts only an admin sees")
    if admin is not None:
        found = _hosts(admin, asked, flavor, each, where.hosts)
    noun = "guest" if asked.count == 1 else "guests"
    place = ", ".join(sorted(where.hosts)) or "hosts that Nova chooses"
    return Bill(
        title=f"{asked.count} {noun} of {flavor.name}, "
        f"{asked.count * flavor.vcpus} vCPUs, "
        f"{asked.count * flavor.ram} MiB of memory, on {place}",
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
        remarks=(found.remark,) if found.remark else (),
        refusal=quota.refusal(project, rooms, wanted) or found.refusal,
    )


def _needs(
    asked: request.Request, flavor: t.Any, chosen: networks.Networks | None
) -> dict[str, int]:
    size = asked.boot_volume["size_gib"] if asked.boot_volume else 0
    cards = len(chosen.every) if chosen else 0
    return {
        "instances": asked.count,
        "cores": asked.count * flavor.vcpus,
        "MiB of memory": asked.count * flavor.ram,
        "floating addresses": asked.count if chosen and chosen.pool else 0,
        "ports": asked.count * cards,
        "server groups": 1 if asked.server_group else 0,
        "members of a server group": asked.count if asked.server_group else 0,
        "volumes": asked.count if size else 0,
        "GiB of volumes": asked.count * size,
    }


def _hosts(
    admin: sdk.Connection,
    asked: request.Request,
    flavor: t.Any,
    each: dict[str, int],
    names: collections.abc.Set[str],
) -> _Hosts:
    """Hold the guests against what is free on the hosts.

    Guests that are to share a host must fit on one of them, others on all.
    """
    found = capacity.hosts(admin, each, names)
    if found is None:
        return _Hosts(remark="what is free on the hosts Placement did not say")
    share, count = asked.max_host_share, asked.count
    together = len(names) == 1 or asked.server_group == "affinity"
    fits = [max(0, host.fits(each, share)) for host in found]
    room = max(fits, default=0) if together else sum(fits)
    words = f"{count} {'guest' if count == 1 else 'guests'} of {flavor.name}"
    if not found:
        place = f"host {', '.join(sorted(names))}" if names else "no host"
        verb = "has no room" if names else "has room"
        return _Hosts(
            refusal=f"{place} {verb} for a guest of {flavor.name}, says "
            "Placement; remove other guests, or choose a smaller flavor or "
            "another host"
        )
    if len(found) != 1:
        on = "one of the hosts" if together else "the hosts"
        refusal = (
            f"{on} that have room for a guest, {len(found)}, can take {room} "
            f"of {words} within max_host_share {share:g} %; ask for fewer, "
            "for a smaller flavor, or raise max_host_share"
        )
        row = Row(
            what=f"guests within {share:g} % of {on}",
            needed=count,
            room=room,
            of=f"hosts with room ({len(found)})",
        )
        return _Hosts(rows=(row,), refusal="" if count <= room else refusal)
    (host,) = found
    then = host.share(each, count)
    refusal = (
        f"host {host.name} would be {then:.0f} % full with {words}, more than "
        f"max_host_share {share:g} %; ask for fewer, for a smaller flavor or "
        "another host, or raise max_host_share"
    )
    return _Hosts(
        rows=tuple(
            Row(
                what=capacity.WORDS[kind],
                needed=need * count,
                room=host.capacity[kind] - host.used[kind],
                of=f"host {host.name}",
            )
            for kind, need in each.items()
        ),
        remark=f"host {host.name} will be {then:.0f} % full; more than "
        f"{share:g} % is refused",
        refusal="" if then <= share else refusal,
    )
