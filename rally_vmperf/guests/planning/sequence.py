"""Groups of guests that boot one after another: the largest must fit."""

import collections.abc
import dataclasses

from rally_vmperf.guests import cloud
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import requirements


def find_requirements(
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
