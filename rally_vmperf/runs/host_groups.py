"""Guests grouped by the host that they share."""

import collections.abc
import dataclasses

from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.runs import conditions


@dataclasses.dataclass(frozen=True)
class HostGroups:
    """Guests, host by host.

    :param groups: names of the guests of each host
    """

    groups: tuple[tuple[str, ...], ...]

    def choose(
        self, guests: int, lost: conditions.Names
    ) -> conditions.Participants:
        """Return the first guests of each host that are not lost.

        :param guests: how many of each host
        :param lost: names of those that answer no more
        """
        names: list[str] = []
        for group in self.groups:
            left = [name for name in group if name not in lost]
            if len(left) < guests:
                gone = tuple(name for name in group if name in lost)
                return conditions.Participants(
                    names=tuple(group[:guests]),
                    lacking=gone,
                    reason=f"{guests} guests of a host are wanted, "
                    f"{len(left)} of {len(group)} are left: "
                    f"{', '.join(gone)} answered no more",
                )
            names += left[:guests]
        return conditions.Participants(names=tuple(names))


def of_guests(
    guests: collections.abc.Sequence[guests_.Guest], largest: int
) -> tuple[HostGroups, list[finding.Finding]]:
    """Return the guests by their hosts, and what is wrong with that.

    Members see a host as ``hostId``, a hash: the same for all guests of a
    project on one host.

    :param largest: how many guests are to share each host; their number is
        a multiple of it
    """
    as_asked = tuple(
        tuple(guest.name for guest in guests[first : first + largest])
        for first in range(0, len(guests), largest)
    )
    by_host: dict[str, list[str]] = {}
    for guest in guests:
        host = guest.host_id
        if not host:
            return HostGroups(as_asked), [
                finding.Finding(
                    kind="placement_unknown",
                    subject=guest.name,
                    seen="Nova gives no hostId, so nobody checked that the "
                    "guests share a host",
                )
            ]
        by_host.setdefault(host, []).append(guest.name)
    groups = tuple(tuple(names) for names in by_host.values())
    if all(len(group) == largest for group in groups):
        return HostGroups(groups), []
    hosts = f"each of {len(as_asked)} hosts"
    if len(as_asked) == 1:
        hosts = "one host"
    seen = "; ".join(", ".join(group) for group in groups)
    return HostGroups(as_asked), [
        finding.Finding(
            kind="guests_on_other_hosts",
            subject="guests",
            seen=f"{largest} guests on {hosts} were asked for, host by host "
            f"they are: {seen}",
        )
    ]
