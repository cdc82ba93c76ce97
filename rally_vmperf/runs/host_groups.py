# SPDX-License-Identifier: Apache-2.0
"""The groups of guests that share a host."""

import collections.abc
import dataclasses
import itertools

from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.runs import conditions


@dataclasses.dataclass(frozen=True)
class HostGroups:
    """The guests of each host.

    :param groups: The names of the guests of each host.
    :param absent: The names of unavailable guests.
    """

    groups: tuple[tuple[str, ...], ...]
    absent: tuple[str, ...] = ()

    def split(self, number: int) -> tuple["HostGroups", tuple[str, ...]]:
        """Return the first guests of each host, and the names of the rest.

        :param number: The number of guests per host in the first group.
        """
        first = tuple(group[:number] for group in self.groups)
        rest = (name for group in self.groups for name in group[number:])
        return HostGroups(first, self.absent), tuple(rest)

    def choose(
        self, guests: int, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return the names of the first available guests of each host.

        A single guest is a different one in each repetition, because guests
        differ in core, NUMA node and disk position, and therefore in
        performance.

        :param guests: The number of guests per host.
        :param lost: The names of guests that no longer answer.
        :param number: The number of the repetition.
        """
        names: list[str] = []
        for group in self.groups:
            left = [name for name in group if name not in lost]
            if len(left) < guests:
                gone = tuple(name for name in group if name in lost)
                reasons = [
                    f"{', '.join(names)} {event}"
                    for names, event in (
                        (gone, "stopped answering"),
                        (self.absent, "failed to boot"),
                    )
                    if names
                ]
                return conditions.Participants(
                    names=tuple(group[:guests]),
                    unavailable=(*gone, *self.absent),
                    reason=f"{guests} guests of a host are required, "
                    f"{len(left)} of {len(group)} are left: "
                    f"{'; '.join(reasons)}",
                )
            first = (number - 1) % len(left) if guests == 1 else 0
            names += left[first : first + guests]
        return conditions.Participants(names=tuple(names))

    def choose_one_by_one(
        self, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return all guests, in batches of one guest per host.

        :param lost: The names of guests that no longer answer, which are
            skipped.
        :param number: The number of the repetition.
        """
        left = [
            [name for name in group if name not in lost]
            for group in self.groups
        ]
        if not all(left):
            return self.choose(1, lost, number)
        batches = tuple(
            tuple(name for name in batch if name)
            for batch in itertools.zip_longest(*left)
        )
        names = tuple(itertools.chain(*batches))
        return conditions.Participants(names=names, batches=batches)


def group_by_host(
    guests: collections.abc.Sequence[models.Guest],
    largest: int,
    absent: tuple[str, ...] = (),
) -> tuple[HostGroups, list[finding.Finding]]:
    """Group the guests by host; return the groups and placement findings.

    Members of a project see a host as ``hostId``, a hash that is the same for
    all guests of the project on one host.

    :param largest: The number of guests that should share each host; the
        number of all guests is a multiple of it.
    :param absent: The names of unavailable guests.
    """
    requested_groups = tuple(
        tuple(guest.name for guest in guests[first : first + largest])
        for first in range(0, len(guests), largest)
    )
    by_host: dict[str, list[str]] = {}
    for guest in guests:
        host = guest.host_id
        if not host:
            return HostGroups(requested_groups, absent), [
                finding.Finding(
                    kind="placement_unknown",
                    subject=guest.name,
                    detail="Nova reports no hostId, so it is unknown "
                    "whether the guests share a host",
                )
            ]
        by_host.setdefault(host, []).append(guest.name)
    groups = tuple(tuple(names) for names in by_host.values())
    full = [len(group) == largest for group in groups]
    fitting = [len(group) <= largest for group in groups]
    requested_hosts = (len(guests) + len(absent)) // largest
    if all(full) or (
        absent and all(fitting) and len(groups) <= requested_hosts
    ):
        return HostGroups(groups, absent), []
    hosts = f"each of {len(requested_groups)} hosts"
    if len(requested_groups) == 1:
        hosts = "one host"
    description = "; ".join(", ".join(group) for group in groups)
    return HostGroups(requested_groups, absent), [
        finding.Finding(
            kind="level_placement_wrong",
            subject="guests",
            detail=f"{largest} guests on {hosts} were requested; the guests "
            f"by host: {description}",
        )
    ]
