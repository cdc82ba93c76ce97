# SPDX-License-Identifier: Apache-2.0
"""Workloads that measure directions in sequence."""

import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence

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


def directions_argument(directions: Directions) -> schemas.Rule:
    """Return the JSON Schema of the argument ``directions``.

    :param directions: The directions; guest_to_guest is the last one.
    """
    note = " (to the partner guest)"
    return schemas.sequence(directions, default=("to_peer",), note=note)


#: The arguments of throughput tools.
STREAMS = schemas.concurrency("connections", 128)
WINDOW_KIB = schemas.optional(
    "Requested socket buffer of client and server, KiB",
    65536,
    "the default of the system",
)


class DirectionalWorkload(sequence.CommandSequenceWorkload):
    """A workload with an argument ``directions``."""

    OPTIONS = "directions"
    DIRECTIONS: t.ClassVar[Directions]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the names of the endpoints of the selected directions."""
        return frozenset(
            self.DIRECTIONS[direction]
            for direction in self.selected(arguments)
        )

    def for_endpoints(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> dict[str, t.Any]:
        """Return the arguments, without guest_to_guest if no partner.

        A missing peer is still an error, because every machine needs one.
        """
        directions = [
            direction
            for direction in self.selected(arguments)
            if self.DIRECTIONS[direction] == "peer" or endpoints.partner
        ]
        return {**arguments, "directions": directions}

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
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

    def port(self, direction: str, endpoints: base.Endpoints) -> int:
        """Return the port of a direction's server as an integer."""
        return endpoints.own_ports[list(self.DIRECTIONS).index(direction)]

    def listen_options(
        self, option: str, direction: str, endpoints: base.Endpoints
    ) -> tuple[str, ...]:
        """Return the arguments that bind a server on the peer, as a tuple.

        :param option: The option of the tool before the address.
        """
        on_peer = self.DIRECTIONS[direction] == "peer"
        address = endpoints.listen_address if on_peer else ""
        return (option, address) if address else ()
