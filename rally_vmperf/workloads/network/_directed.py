"""Workloads that measure one direction after the other."""

import collections.abc
import typing as t

from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base

#: Direction -> whose end is the other one.
Directions = dict[str, t.Literal["peer", "partner"]]

#: Of tools that send and receive; the place of each is that of its port, for
#: one just used may still be waiting.
BOTH_WAYS: Directions = {
    "to_peer": "peer",
    "from_peer": "peer",
    "guest_to_guest": "partner",
}
#: Of tools whose messages are answered.
ANSWERED: Directions = {"to_peer": "peer", "guest_to_guest": "partner"}


def choices(
    directions: Directions, default: collections.abc.Sequence[str]
) -> rules.Rule:
    """Return the schema of the argument ``directions``.

    :param directions: guest_to_guest is the last of them
    """
    return rules.choices(
        f"Measured one after the other: {', '.join(directions)} (to the "
        "partner guest).",
        directions,
        default=default,
    )


class Directed(base.Workload):
    """Takes the argument ``directions``, the directions that are measured."""

    DIRECTIONS: t.ClassVar[Directions]

    def directions(self, arguments: base.Arguments) -> list[str]:
        """Return the directions that are asked for, in our own order."""
        return [d for d in self.DIRECTIONS if d in arguments["directions"]]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the other ends of the directions that are asked for."""
        return frozenset(
            self.DIRECTIONS[d] for d in self.directions(arguments)
        )

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments; without a partner, not guest_to_guest.

        A missing peer stays an error: every machine needs one.
        """
        kept = [
            direction
            for direction in self.directions(arguments)
            if self.DIRECTIONS[direction] == "peer" or ends.partner
        ]
        return {**arguments, "directions": kept}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return findings on what the figures do not show."""
        if "guest_to_guest" not in arguments["directions"]:
            return ()
        seen = "guest_to_guest is compared with bare metal to its peer"
        return (("peer_replaces_partner", seen),)

    def address(self, direction: str, ends: base.Ends) -> str:
        """Return the address of the other end of a direction.

        :raises base.WorkloadError: when there is none
        """
        on = self.DIRECTIONS[direction]
        address = ends.peer if on == "peer" else ends.partner
        if not address:
            raise base.WorkloadError(
                f"{self.name}: {direction} needs a {on}, and there is none; "
                "name one or leave the direction out of 'directions'"
            )
        return address


class Served(Directed):
    """Has a server at the other end of each direction, with its own port."""

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return a port for each direction there is, asked for or not."""
        return base.Ports(own=len(self.DIRECTIONS))

    def each(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> collections.abc.Iterator[tuple[str, str, int]]:
        """Yield direction, address and port of the other end, as asked for.

        :raises base.WorkloadError: when the address of an end is missing
        """
        for direction, port in zip(
            self.DIRECTIONS, ends.own_ports, strict=True
        ):
            if direction in arguments["directions"]:
                yield direction, self.address(direction, ends), port
