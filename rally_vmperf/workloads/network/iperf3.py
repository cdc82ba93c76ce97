"""Network workload: TCP or UDP with iperf3."""

import dataclasses
import typing as t

from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed
from rally_vmperf.workloads.network import _iperf3_agreement
from rally_vmperf.workloads.network import _iperf3_result

#: Reports in a run, and seconds of the longest run that has them.
_REPORTS, _LONGEST = 10, 600

#: To the peer and from it at once, in place of a direction.
BIDIR = "bidir"

_OLDEST_FOR_UDP = tools.AtLeast(
    version="3.11",
    why="with UDP it does not report what arrived",
    remedy="install one of a newer release of the distribution, or measure "
    "with protocol: tcp",
)


class Network(_directed.Served):
    """Throughput to and from another machine; of UDP also jitter and loss."""

    name = "iperf3"
    title = "Network: TCP or UDP with iperf3"
    part = "network"
    DIRECTIONS = _directed.BOTH_WAYS
    ARGUMENTS = rules.schema(
        directions=rules.choices(
            "Measured one after the other: to_peer, from_peer, "
            "guest_to_guest (to the partner guest), bidir (to the peer and "
            "from it at once).",
            (*DIRECTIONS, BIDIR),
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
            "Rate at which each stream of udp sends, bit/s of payload",
            10**5,
            4 * 10**11,
            default=10**8,
        ),
        # Not iperf3's own default, which is what fits the path: it would
        # differ between bare metal and a guest on an overlay network.
        datagram=rules.integer(
            "Bytes of payload of each datagram of udp", 16, 65507, default=1400
        ),
        window_kib=rules.integer(
            "Socket buffer that is asked for on both ends, KiB",
            0,
            65536,
            default=0,
            note="0 leaves it to the system",
        ),
        segment=rules.integer(
            "Largest segment of tcp, bytes",
            0,
            9216,
            default=0,
            note="0 leaves it to the path",
        ),
        zero_copy=rules.flag(
            "Send with sendfile, which copies nothing", default=False
        ),
        cpu=rules.flag(
            "Have metrics of the CPU time of both ends", default=False
        ),
    )
    TOOLS = (tools.of("iperf3", packages={"zypper": "iperf"}),)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for what is of the other protocol
        """
        complete = super().complete(arguments)
        if complete["protocol"] == "udp":
            if BIDIR in complete["directions"]:
                raise base.WorkloadError(
                    "workload iperf3: directions: bidir is of tcp, and the "
                    "protocol is udp; leave bidir out, or say protocol: tcp"
                )
            complete["omit"] = int(arguments.get("omit", 0))
            _refuse(complete, {"omit": 0, "segment": 0}, "tcp")
        else:
            known = self.ARGUMENTS["properties"]
            given = ("bitrate", "datagram")
            _refuse(complete, {k: known[k]["default"] for k in given}, "udp")
        return complete

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the other ends of what is asked for."""
        both = {"peer"} if BIDIR in arguments["directions"] else set()
        return super().needs(arguments) | both

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments of what a machine with these ends does."""
        found = super().narrowed(arguments, ends)
        if BIDIR in arguments["directions"]:
            found["directions"].append(BIDIR)
        return found

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf3; UDP needs a version that reports what arrived."""
        if arguments["protocol"] == "tcp":
            return self.TOOLS
        return tools.newer(self.TOOLS, "iperf3", _OLDEST_FOR_UDP)

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return findings on what the figures do not show."""
        found = super().cautions(arguments)
        if arguments["protocol"] == "tcp":
            return found
        rate = units.show(arguments["streams"] * arguments["bitrate"], "bit/s")
        return (*found, ("fixed_rate", f"{rate} of UDP are offered"))

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return what is measured in each direction."""
        found = [
            metric
            for direction in self.directions(arguments)
            for metric in _iperf3_result.metrics(
                direction, arguments["protocol"], cpu=arguments["cpu"]
            )
        ]
        if BIDIR in arguments["directions"]:
            found += [
                _of_both(metric)
                for direction in ("to_peer", "from_peer")
                for metric in _iperf3_result.metrics(direction, "tcp")
            ]
        return tuple(found)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return a client and its server for each direction.

        :raises base.WorkloadError: when the address of an end is missing
        """
        asked = [*self.each(arguments, ends)]
        if BIDIR in arguments["directions"]:
            # The port of a direction that is not asked for, or the one that
            # was used longest ago.
            used = {port for _, _, port in asked}
            free = [port for port in ends.own_ports if port not in used]
            port = (free or list(ends.own_ports))[0]
            asked.append((BIDIR, self.address("to_peer", ends), port))
        return tuple(
            _command(
                direction,
                arguments,
                base.Server(
                    on=self.DIRECTIONS.get(direction, "peer"),
                    argv=("iperf3", "-s", "-p", f"{port}"),
                    port=port,
                ),
                address,
            )
            for direction, address, port in asked
        )

    def parse(
        self, arguments: base.Arguments, outcomes: base.Outcomes
    ) -> list[sample.Reading]:
        """Return the samples in the outputs of commands.

        :raises base.WorkloadError: with iperf3's own words when it has failed
        """
        for outcome in outcomes.values():
            _iperf3_result.raise_reported(outcome, arguments["protocol"])
        return super().parse(arguments, outcomes)

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return the samples of a direction, or of both at once."""
        if outcome.name != BIDIR:
            return self._read(arguments, outcome)
        found = []
        once = {**arguments, "cpu": False}
        for direction, text in _iperf3_result.split(outcome.stdout).items():
            half = dataclasses.replace(outcome, name=direction, stdout=text)
            found += [
                dataclasses.replace(one, metric=_of_both(one.metric))
                for one in self._read(once, half)
            ]
        return found

    def _read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        protocol = arguments["protocol"]
        direction = _iperf3_result.direction_of(outcome.name)
        readings = _iperf3_result.read(
            direction,
            protocol,
            outcome,
            arguments["time"],
            cpu=arguments["cpu"],
        )
        _iperf3_agreement.check(
            document.Document.only(outcome.stdout, "iperf3"),
            direction,
            arguments,
        )
        return [
            *readings,
            *_iperf3_result.series(
                direction, protocol, outcome, arguments["omit"]
            ),
        ]

    def course(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> courses.Course | None:
        """Return the progress of a direction's bytes over time."""
        direction = _iperf3_result.direction_of(outcome.name)
        if direction not in self.directions(arguments):
            return None
        return _iperf3_result.course(
            direction,
            arguments["protocol"],
            outcome,
            arguments["omit"],
        )

    def work(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> base.Work | None:
        """Return how many bytes arrived.

        iperf3 does not count those of the time left out, which are taken to
        have come at the same pace.
        """
        whole = 1 + arguments["omit"] / arguments["time"]
        checked = outcome.checked()
        texts = [checked.stdout]
        if outcome.name == BIDIR:
            texts = [*_iperf3_result.split(checked.stdout).values()]
        amount = whole * sum(
            _iperf3_result.received(dataclasses.replace(checked, stdout=one))
            for one in texts
        )
        return base.Work(amount=amount, unit="B")


def _of_both(metric: sample.Metric) -> sample.Metric:
    """Return the metric of a direction that was measured with the other."""
    prefix = "network.iperf3."
    name = f"{prefix}{BIDIR}.{metric.name.removeprefix(prefix)}"
    return dataclasses.replace(metric, name=name)


def _command(
    direction: str,
    arguments: base.Arguments,
    server: base.Server,
    address: str,
) -> base.Command:
    """Return the client of a direction.

    The two ends of UDP exchange what they saw when they are done, so the
    server's own output is not asked for. An hour of its datagrams, if they
    are small, is more than 32 bits can count.

    :param address: of the machine with the server
    """
    line = (
        "iperf3 -c {address} -p {port} -J -i {interval} -t {time} -O {omit} "
        "-P {streams}"
    )
    if direction == "from_peer":
        line += " -R"
    if direction == BIDIR:
        line += " --bidir"
    line += " --connect-timeout 5000"
    if arguments["protocol"] == "udp":
        line += " -u -b {bitrate} -l {datagram} --udp-counters-64bit"
    if arguments["window_kib"]:
        line += " -w {window_kib}K"
    if arguments["segment"]:
        line += " -M {segment}"
    if arguments["zero_copy"]:
        line += " -Z"
    seconds = arguments["time"] + arguments["omit"]
    return base.Command(
        name=_iperf3_result.command_name(direction, arguments["protocol"]),
        argv=base.argv(
            line,
            arguments,
            address=address,
            port=server.port,
            interval=_interval(arguments["time"]),
        ),
        timeout=seconds + 60,
        seconds=seconds,
        server=server,
    )


def _interval(time: int) -> int:
    """Return the seconds between two reports, by which a run can be cut.

    There are few of them: those of many streams are long.  Of more than ten
    minutes there is nothing to cut, and iperf3 has no longer interval than
    one; 0 means no reports.
    """
    return 0 if time > _LONGEST else -(-time // _REPORTS)


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
