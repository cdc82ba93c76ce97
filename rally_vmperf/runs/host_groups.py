"""Guests grouped by the host that they share."""

import collections.abc
import dataclasses
import itertools

from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.runs import conditions


@dataclasses.dataclass(frozen=True)
class HostGroups:
    """Guests, host by host.

    :param groups: names of the guests of each host
    :param absent: names of those that were to be there and did not come
    """

    groups: tuple[tuple[str, ...], ...]
    absent: tuple[str, ...] = ()

    def split(self, number: int) -> tuple["HostGroups", tuple[str, ...]]:
        """Return the first guests of each host, and the names of the others.

        :param number: how many of each host come first
        """
        first = tuple(group[:number] for group in self.groups)
        rest = (name for group in self.groups for name in group[number:])
        return HostGroups(first, self.absent), tuple(rest)

    def choose(
        self, guests: int, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return the first guests of each host that are not lost.

        A lone guest is another one in each repetition: guests differ for good
        in core, node and place on the disk, and what one of them does alone
        is not what the others would.

        :param guests: how many of each host
        :param lost: names of those that no longer answer
        :param number: of the repetition
        """
        names: list[str] = []
        for group in self.groups:
            left = [name for name in group if name not in lost]
            if len(left) < guests:
                gone = tuple(name for name in group if name in lost)
                why = [
                    f"{', '.join(names)} {what}"
                    for names, what in (
                        (gone, "stopped answering"),
                        (self.absent, "did not come"),
                    )
                    if names
                ]
                return conditions.Participants(
                    names=tuple(group[:guests]),
                    lacking=(*gone, *self.absent),
                    reason=f"{guests} guests of a host are wanted, "
                    f"{len(left)} of {len(group)} are left: "
                    f"{'; '.join(why)}",
                )
            first = (number - 1) % len(left) if guests == 1 else 0
            names += left[first : first + guests]
        return conditions.Participants(names=tuple(names))

    def each_alone(
        self, lost: conditions.Names, number: int = 1
    ) -> conditions.Participants:
        """Return all guests, of each host one at a time.

        :param lost: names of those that no longer answer, which are left out
        :param number: of the repetition
        """
        left = [[x for x in one if x not in lost] for one in self.groups]
        if not all(left):
            return self.choose(1, lost, number)
        turns = tuple(
            tuple(name for name in turn if name)
            for turn in itertools.zip_longest(*left)
        )
        names = tuple(itertools.chain(*turns))
        return conditions.Participants(names=names, turns=turns)


def of_guests(
    guests: collections.abc.Sequence[guests_.Guest],
    largest: int,
    absent: tuple[str, ...] = (),
) -> tuple[HostGroups, list[finding.Finding]]:
    """Return the guests by host, and findings on that placement.

    Members see a host as ``hostId``, a hash: the same for all guests of a
    project on one host.

    :param largest: how many guests are to share each host; their number is
        a multiple of it, with the absent ones
    :param absent: names of guests that did not come
    """
    as_asked = tuple(
        tuple(guest.name for guest in guests[first : first + largest])
        for first in range(0, len(guests), largest)
    )
    by_host: dict[str, list[str]] = {}
    for guest in guests:
        host = guest.host_id
        if not host:
            return HostGroups(as_asked, absent), [
                finding.Finding(
                    kind="placement_unknown",
                    subject=guest.name,
                    detail="Nova gives no hostId, so nobody checked that the "
                    "guests share a host",
                )
            ]
        by_host.setdefault(host, []).append(guest.name)
    groups = tuple(tuple(names) for names in by_host.values())
    full = [len(group) == largest for group in groups]
    fitting = [len(group) <= largest for group in groups]
    asked = (len(guests) + len(absent)) // largest
    if all(full) or (absent and all(fitting) and len(groups) <= asked):
        return HostGroups(groups, absent), []
    hosts = f"each of {len(as_asked)} hosts"
    if len(as_asked) == 1:
        hosts = "one host"
    seen = "; ".join(", ".join(group) for group in groups)
    return HostGroups(as_asked, absent), [
        finding.Finding(
            kind="level_placement_wrong",
            subject="guests",
            detail=f"{largest} guests on {hosts} were asked for, host by host "
            f"they are: {seen}",
        )
    ]
