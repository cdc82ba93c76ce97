"""Network workload: TCP with iperf3."""

import collections.abc
import typing as t

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import iperf3_result

#: Direction -> where its server is; its place is what is added to the port,
#: for a port just used may still be waiting.
DIRECTIONS: dict[str, t.Literal["peer", "partner"]] = {
    "to_peer": "peer",
    "from_peer": "peer",
    "guest_to_guest": "partner",
}


class Network(base.Workload):
    """TCP throughput to and from another machine."""

    name = "iperf3"
    title = "Network: TCP throughput with iperf3"
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "properties": {
            "directions": {
                "type": "array",
                "description": "Measured one after the other: to_peer, "
                "from_peer, guest_to_guest (to the partner guest).",
                "items": {"enum": list(DIRECTIONS)},
                "minItems": 1,
                "uniqueItems": True,
                "default": ["to_peer", "from_peer"],
            },
            "time": {
                "type": "integer",
                "description": "Seconds that are measured for each "
                "direction, 1 to 3600.",
                "minimum": 1,
                "maximum": 3600,
                "default": 10,
            },
            "omit": {
                "type": "integer",
                "description": "Seconds before them that are not measured, "
                "while TCP finds its pace, 0 to 60.",
                "minimum": 0,
                "maximum": 60,
                "default": 1,
            },
            "streams": {
                "type": "integer",
                "description": "Connections at the same time, 1 to 128.",
                "minimum": 1,
                "maximum": 128,
                "default": 1,
            },
        },
        "additionalProperties": False,
    }
    TOOLS = (
        base.Tool(
            command="iperf3",
            package="iperf3",
            version=("iperf3", "--version"),
            packages={"zypper": "iperf"},
        ),
    )

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the other ends of the directions that are asked for."""
        return frozenset(DIRECTIONS[d] for d in _directions(arguments))

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments without guest_to_guest for want of a partner.

        A missing peer is not forgiven: every machine is owed one.
        """
        kept = [
            direction
            for direction in _directions(arguments)
            if DIRECTIONS[direction] == "peer" or ends.partner
        ]
        return {**arguments, "directions": kept}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a caution when guests' traffic has no equal on metal."""
        if "guest_to_guest" not in arguments["directions"]:
            return ()
        seen = "guest_to_guest is compared with bare metal to its peer"
        return (("partner_is_peer", seen),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return throughput and retransmits of each direction."""
        return tuple(
            metric
            for direction in _directions(arguments)
            for metric in iperf3_result.metrics(direction)
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return a client and its server for each direction.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            _command(direction, arguments, ends)
            for direction in _directions(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return throughput and retransmits of each outcome there is."""
        return [
            measured
            for direction in _directions(arguments)
            for measured in iperf3_result.read(
                direction, outcomes, arguments["time"]
            )
        ]


def _directions(arguments: base.Arguments) -> list[str]:
    return [d for d in DIRECTIONS if d in arguments["directions"]]


def _command(
    direction: str, arguments: base.Arguments, ends: base.Ends
) -> base.Command:
    on = DIRECTIONS[direction]
    address = ends.peer if on == "peer" else ends.partner
    if not address:
        raise base.WorkloadError(
            f"iperf3: {direction} needs a {on}, and there is none; name one "
            "or leave the direction out of 'directions'"
        )
    port = ends.port + list(DIRECTIONS).index(direction)
    argv = (
        "iperf3",
        "-c",
        address,
        "-p",
        f"{port}",
        "-J",
        # No report each second: hours of many streams would be megabytes.
        "-i",
        "0",
        "-t",
        f"{arguments['time']}",
        "-O",
        f"{arguments['omit']}",
        "-P",
        f"{arguments['streams']}",
        *(["-R"] if direction == "from_peer" else []),
        "--connect-timeout",
        "5000",
    )
    server = base.Server(
        on=on, argv=("iperf3", "-s", "-1", "-p", f"{port}"), port=port
    )
    return base.Command(
        name=direction,
        argv=argv,
        timeout=arguments["time"] + arguments["omit"] + 60,
        server=server,
    )
