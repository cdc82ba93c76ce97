"""Workloads that measure directions in sequence."""

import collections.abc
import typing as t

from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base

#: Direction -> location of the server.
Directions = dict[str, t.Literal["peer", "partner"]]

#: Directions of tools that send and receive; each direction has a port of its
#: own at the same index, because a port may be blocked after its use.
BOTH_WAYS: Directions = {
    "to_peer": "peer",
    "from_peer": "peer",
    "guest_to_guest": "partner",
}
#: Directions of tools that measure round trips.
ANSWERED: Directions = {"to_peer": "peer", "guest_to_guest": "partner"}


def choices(
    directions: Directions, default: collections.abc.Sequence[str]
) -> rules.Rule:
    """Return the schema of the argument ``directions``.

    :param directions: The directions; guest_to_guest is the last one.
    """
    return rules.choices(
        f"Measured one after the other: {', '.join(directions)} (to the "
        "partner guest).",
        directions,
        default=default,
    )


class Directed(base.Workload):
    """A workload with an argument ``directions``."""

    DIRECTIONS: t.ClassVar[Directions]

    def directions(self, arguments: base.Arguments) -> list[str]:
        """Return the selected directions in the order of ``DIRECTIONS``."""
        return [
            direction
            for direction in self.DIRECTIONS
            if direction in arguments["directions"]
        ]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the endpoints of the selected directions."""
        return frozenset(
            self.DIRECTIONS[direction]
            for direction in self.directions(arguments)
        )

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments; without a partner, without guest_to_guest.

        A missing peer is still an error, because every machine needs one.
        """
        directions = [
            direction
            for direction in self.directions(arguments)
            if self.DIRECTIONS[direction] == "peer" or ends.partner
        ]
        return {**arguments, "directions": directions}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return findings on limits of the measurement."""
        if "guest_to_guest" not in arguments["directions"]:
            return ()
        detail = "guest_to_guest is compared with bare metal to its peer"
        return (("peer_replaces_partner", detail),)

    def address(self, direction: str, ends: base.Ends) -> str:
        """Return the address of the server of a direction.

        :raises base.WorkloadError: If there is no such server.
        """
        server_role = self.DIRECTIONS[direction]
        address = ends.peer if server_role == "peer" else ends.partner
        if not address:
            raise base.WorkloadError(
                f"{self.name}: {direction} requires a {server_role}; "
                f"configure one, or remove {direction} from directions"
            )
        return address


class Served(Directed):
    """A workload with a server and a port for each direction."""

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return a port for each direction, selected or not."""
        return base.Ports(own=len(self.DIRECTIONS))

    def each(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> collections.abc.Iterator[tuple[str, str, int]]:
        """Yield the selected directions with address and port of the server.

        :raises base.WorkloadError: If an address is missing.
        """
        for direction, port in zip(
            self.DIRECTIONS, ends.own_ports, strict=True
        ):
            if direction in arguments["directions"]:
                yield direction, self.address(direction, ends), port
