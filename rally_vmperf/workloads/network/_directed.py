"""Workloads that measure directions in sequence."""

import collections.abc
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas

#: Direction -> location of the server.
Directions = dict[str, t.Literal["peer", "partner"]]

#: Directions of tools that send and receive; each direction has a port of its
#: own at the same index, because a port may be blocked after its use.
BOTH_DIRECTIONS: Directions = {
    "to_peer": "peer",
    "from_peer": "peer",
    "guest_to_guest": "partner",
}
#: Directions of tools that measure round trips.
ANSWERED: Directions = {"to_peer": "peer", "guest_to_guest": "partner"}


def directions_argument(
    directions: Directions, default: collections.abc.Sequence[str]
) -> schemas.Rule:
    """Return the JSON Schema of the argument ``directions``.

    :param directions: The directions; guest_to_guest is the last one.
    """
    return schemas.choices(
        f"Measured one after the other: {', '.join(directions)} (to the "
        "partner guest).",
        directions,
        default=default,
    )


class DirectionalWorkload(base.Workload):
    """A workload with an argument ``directions``."""

    DIRECTIONS: t.ClassVar[Directions]

    def directions(self, arguments: base.Arguments) -> list[str]:
        """Return the selected directions as an ordered list of names."""
        return [
            direction
            for direction in self.DIRECTIONS
            if direction in arguments["directions"]
        ]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the names of the endpoints of the selected directions."""
        return frozenset(
            self.DIRECTIONS[direction]
            for direction in self.directions(arguments)
        )

    def for_endpoints(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> dict[str, t.Any]:
        """Return the arguments, without guest_to_guest if no partner.

        A missing peer is still an error, because every machine needs one.
        """
        directions = [
            direction
            for direction in self.directions(arguments)
            if self.DIRECTIONS[direction] == "peer" or endpoints.partner
        ]
        return {**arguments, "directions": directions}

    def argument_findings(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return the findings on limits of the measurement, as pairs."""
        if "guest_to_guest" not in arguments["directions"]:
            return ()
        detail = "guest_to_guest is compared with bare metal to its peer"
        return (("peer_replaces_partner", detail),)

    def address(self, direction: str, endpoints: base.Endpoints) -> str:
        """Return the server address of a direction as text.

        :raises base.WorkloadError: If there is no such server.
        """
        server_role = self.DIRECTIONS[direction]
        address = (
            endpoints.peer if server_role == "peer" else endpoints.partner
        )
        if not address:
            raise base.WorkloadError(
                f"{self.name}: {direction} requires a {server_role}; "
                f"configure one, or remove {direction} from directions"
            )
        return address


class ServerWorkload(DirectionalWorkload):
    """A workload with a server and a port for each direction."""

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return Ports with one port for every direction."""
        return base.Ports(own=len(self.DIRECTIONS))

    def servers(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> collections.abc.Iterator[tuple[str, str, int]]:
        """Yield direction, server address and port of each selection.

        :raises base.WorkloadError: If an address is missing.
        """
        for direction, port in zip(
            self.DIRECTIONS, endpoints.own_ports, strict=True
        ):
            if direction in arguments["directions"]:
                yield direction, self.address(direction, endpoints), port
