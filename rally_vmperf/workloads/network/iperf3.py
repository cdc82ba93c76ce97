"""Network workload: TCP or UDP with iperf3."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import units
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _iperf3_command
from rally_vmperf.workloads.network import _iperf3_result

_DIRECTIONS = _iperf3_command.DIRECTIONS
_OLDEST_FOR_UDP = tools.AtLeast(
    version="3.11",
    why="with UDP it does not tell what arrived",
    remedy="install one of a newer release of the distribution, or measure "
    "with protocol: tcp",
)


class Network(base.Workload):
    """Throughput to and from another machine; of UDP jitter and loss too."""

    name = "iperf3"
    title = "Network: TCP or UDP with iperf3"
    part = "network"
    ARGUMENTS = rules.schema(
        directions=rules.choices(
            "Measured one after the other: to_peer, from_peer, "
            "guest_to_guest (to the partner guest).",
            _DIRECTIONS,
            default=("to_peer", "from_peer"),
        ),
        protocol=rules.choice(
            "tcp, as fast as it goes, or udp, at the bitrate.",
            ("tcp", "udp"),
            default="tcp",
        ),
        time=rules.integer(
            "Seconds that are measured for each direction", 1, 3600, default=10
        ),
        omit=rules.integer(
            "Seconds before them that are not measured, while TCP finds its "
            "pace",
            0,
            60,
            default=1,
            note="0 with udp",
        ),
        streams=rules.integer(
            "Connections at the same time", 1, 128, default=1
        ),
        bitrate=rules.integer(
            "Rate at which each stream of udp is offered, bit/s of payload",
            10**5,
            4 * 10**11,
            default=10**8,
        ),
        # Not iperf3's own default, which is what fits the path: it would
        # differ between bare metal and a guest on an overlay network.
        datagram=rules.integer(
            "Bytes of payload of each datagram of udp", 16, 65507, default=1400
        ),
    )
    TOOLS = (
        tools.Tool(
            command="iperf3",
            package="iperf3",
            version=("iperf3", "--version"),
            packages={"zypper": "iperf"},
        ),
    )

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for what is of the other protocol
        """
        complete = super().complete(arguments)
        if complete["protocol"] == "udp":
            complete["omit"] = int(arguments.get("omit", 0))
            _refuse(complete, {"omit": 0}, "tcp")
        else:
            known = self.ARGUMENTS["properties"]
            given = ("bitrate", "datagram")
            _refuse(complete, {k: known[k]["default"] for k in given}, "udp")
        return complete

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf3, for UDP one that says what arrived."""
        if arguments["protocol"] == "tcp":
            return self.TOOLS
        return tuple(
            dataclasses.replace(tool, at_least=_OLDEST_FOR_UDP)
            for tool in self.TOOLS
        )

    def ports(self, arguments: base.Arguments) -> int:
        """Return a port for each direction there is, asked for or not."""
        return len(_DIRECTIONS)

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the other ends of the directions that are asked for."""
        return frozenset(_DIRECTIONS[d] for d in _directions(arguments))

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments without guest_to_guest for want of a partner.

        A missing peer is not forgiven: every machine is owed one.
        """
        kept = [
            direction
            for direction in _directions(arguments)
            if _DIRECTIONS[direction] == "peer" or ends.partner
        ]
        return {**arguments, "directions": kept}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return what the figures do not say."""
        found = []
        if "guest_to_guest" in arguments["directions"]:
            seen = "guest_to_guest is compared with bare metal to its peer"
            found.append(("partner_is_peer", seen))
        if arguments["protocol"] == "udp":
            rate = units.show(
                arguments["streams"] * arguments["bitrate"], "bit/s"
            )
            found.append(("rate_offered", f"{rate} of UDP are offered"))
        return tuple(found)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return what is measured in each direction."""
        return tuple(
            metric
            for direction in _directions(arguments)
            for metric in _iperf3_result.metrics(
                direction, arguments["protocol"]
            )
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return a client and its server for each direction.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            _iperf3_command.command(direction, arguments, ends)
            for direction in _directions(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the samples of each outcome there is."""
        return [
            measured
            for direction in _directions(arguments)
            for measured in _iperf3_result.read(
                direction, arguments["protocol"], outcomes, arguments["time"]
            )
        ]

    def course(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> courses.Course | None:
        """Return when a direction's bytes came or went."""
        protocol = arguments["protocol"]
        for direction in _directions(arguments):
            name = _iperf3_result.command_name(direction, protocol)
            if outcome.name == name:
                return _iperf3_result.course(
                    direction, protocol, outcome, arguments["omit"]
                )
        return None

    def work(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> base.Work | None:
        """Return how many bytes arrived.

        iperf3 does not count those of the time left out, which are taken to
        have come at the same pace.
        """
        taken = outputs.taken({outcome.name: outcome}, outcome.name)
        if taken is None:
            return None
        whole = 1 + arguments["omit"] / arguments["time"]
        amount = _iperf3_result.received(taken) * whole
        return base.Work(amount=amount, unit="B")


def _directions(arguments: base.Arguments) -> list[str]:
    return [d for d in _DIRECTIONS if d in arguments["directions"]]


def _refuse(
    arguments: base.Arguments, unused: dict[str, int], other: str
) -> None:
    for key, value in unused.items():
        if arguments[key] != value:
            raise base.WorkloadError(
                f"workload iperf3: {key}: {arguments[key]} is of {other}, "
                f"and the protocol is {arguments['protocol']}; leave {key} "
                f"out, or say protocol: {other}"
            )
