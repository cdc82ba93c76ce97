"""Network workload: TCP or UDP with iperf3."""

import dataclasses
import typing as t

from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed
from rally_vmperf.workloads.network import _iperf3_agreement
from rally_vmperf.workloads.network import _iperf3_result

#: Number of reports in a run, and maximum duration of a run with reports, s.
_REPORTS, _LONGEST = 10, 600

#: To the peer and from it concurrently; used as a direction.
BIDIR = "bidir"

_MINIMUM_FOR_UDP = tools.MinimumVersion(
    version="3.11",
    reason="with UDP it does not report received data",
    remedy="use a newer release of the distribution, or protocol: tcp",
)


class Iperf3(_directed.ServerWorkload):
    """Throughput to and from another machine; jitter and loss of UDP."""

    name = "iperf3"
    title = "Network: TCP or UDP with iperf3"
    part = "network"
    DIRECTIONS = _directed.BOTH_DIRECTIONS
    ARGUMENTS = schemas.schema(
        directions=schemas.choices(
            "Measured one after the other: to_peer, from_peer, "
            "guest_to_guest (to the partner guest), bidir (to the peer and "
            "from it concurrently).",
            (*DIRECTIONS, BIDIR),
            default=("to_peer", "from_peer"),
        ),
        protocol=schemas.choice(
            "tcp, at the maximum rate, or udp, at the bitrate.",
            ("tcp", "udp"),
            default="tcp",
        ),
        time=schemas.integer(
            "Measured time of each direction, s", 1, 3600, default=10
        ),
        omit=schemas.integer(
            "Time before it that is not measured, for slow start of TCP, s",
            0,
            60,
            default=1,
            note="0 with udp",
        ),
        streams=schemas.integer(
            "Number of concurrent connections", 1, 128, default=1
        ),
        bitrate=schemas.integer(
            "Rate of each stream of udp, bit/s of payload",
            10**5,
            4 * 10**11,
            default=10**8,
        ),
        # The default of iperf3 depends on the path: it would differ between
        # bare metal and a guest on an overlay network.
        datagram=schemas.integer(
            "Payload of each datagram of udp, bytes", 16, 65507, default=1400
        ),
        window_kib=schemas.integer(
            "Requested socket buffer of client and server, KiB",
            0,
            65536,
            default=0,
            note="0 for the default of the system",
        ),
        segment=schemas.integer(
            "Largest segment of tcp, bytes",
            0,
            9216,
            default=0,
            note="0 for the maximum of the path",
        ),
        zero_copy=schemas.flag(
            "Send with sendfile, without copies", default=False
        ),
        cpu=schemas.flag(
            "Measure the CPU time of client and server", default=False
        ),
    )
    TOOLS = (tools.define("iperf3", packages={"zypper": "iperf"}),)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with all defaults as a dict.

        :raises base.WorkloadError: If an argument is not valid, or does not
            apply to the protocol.
        """
        completed = super().complete(arguments)
        if completed["protocol"] == "udp":
            if BIDIR in completed["directions"]:
                raise base.WorkloadError(
                    "workload iperf3: directions: bidir requires protocol: "
                    "tcp; remove bidir, or set protocol: tcp"
                )
            completed["omit"] = int(arguments.get("omit", 0))
            _reject_unused(completed, {"omit": 0, "segment": 0}, "tcp")
        else:
            properties = self.ARGUMENTS["properties"]
            udp_keys = ("bitrate", "datagram")
            _reject_unused(
                completed,
                {key: properties[key]["default"] for key in udp_keys},
                "udp",
            )
        return completed

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the names of the endpoints of the selected directions."""
        bidir_ends = {"peer"} if BIDIR in arguments["directions"] else set()
        return super().needs(arguments) | bidir_ends

    def for_endpoints(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> dict[str, t.Any]:
        """Return the arguments, adapted to the endpoints, as a dict."""
        adapted = super().for_endpoints(arguments, endpoints)
        if BIDIR in arguments["directions"]:
            adapted["directions"].append(BIDIR)
        return adapted

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf3 as a Tool, with a minimum version for UDP."""
        if arguments["protocol"] == "tcp":
            return self.TOOLS
        return tools.require_version(self.TOOLS, "iperf3", _MINIMUM_FOR_UDP)

    def argument_findings(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return the findings on limits of the measurement, as pairs."""
        findings = super().argument_findings(arguments)
        if arguments["protocol"] == "tcp":
            return findings
        rate = units.show(arguments["streams"] * arguments["bitrate"], "bit/s")
        return (*findings, ("fixed_rate", f"{rate} of UDP are offered"))

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each selected direction."""
        metrics = [
            metric
            for direction in self.directions(arguments)
            for metric in _iperf3_result.metrics(
                direction, arguments["protocol"], cpu=arguments["cpu"]
            )
        ]
        if BIDIR in arguments["directions"]:
            metrics += [
                _bidirectional_metric(metric)
                for direction in ("to_peer", "from_peer")
                for metric in _iperf3_result.metrics(direction, "tcp")
            ]
        return tuple(metrics)

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return one client command per direction, with its server.

        :raises base.WorkloadError: If the address of a server is missing.
        """
        targets = [*self.servers(arguments, endpoints)]
        if BIDIR in arguments["directions"]:
            # The port of a direction that is not selected, or the least
            # recently used one.
            used = {port for _, _, port in targets}
            free = [port for port in endpoints.own_ports if port not in used]
            port = (free or list(endpoints.own_ports))[0]
            targets.append((BIDIR, self.address("to_peer", endpoints), port))
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
            for direction, address, port in targets
        )

    def parse_all(
        self, arguments: base.Arguments, outcomes: base.Outcomes
    ) -> list[sample.Reading]:
        """Return the samples in the outputs of several commands as a list.

        :raises base.WorkloadError: If iperf3 failed, with its message.
        """
        for outcome in outcomes.values():
            _iperf3_result.raise_reported_error(outcome, arguments["protocol"])
        return super().parse_all(arguments, outcomes)

    def parse(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return the samples of one direction, or of two concurrent ones."""
        if outcome.name != BIDIR:
            return self._parse(arguments, outcome)
        readings = []
        without_cpu = {**arguments, "cpu": False}
        for direction, text in _iperf3_result.split_directions(
            outcome.stdout
        ).items():
            half_outcome = dataclasses.replace(
                outcome, name=direction, stdout=text
            )
            readings += [
                dataclasses.replace(
                    reading, metric=_bidirectional_metric(reading.metric)
                )
                for reading in self._parse(without_cpu, half_outcome)
            ]
        return readings

    def _parse(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return the samples and the series of a single direction."""
        protocol = arguments["protocol"]
        direction = _iperf3_result.direction_of(outcome.name)
        readings = _iperf3_result.parse(
            direction,
            protocol,
            outcome,
            arguments["time"],
            cpu=arguments["cpu"],
        )
        _iperf3_agreement.check(
            document.Document.parse_single(outcome.stdout, "iperf3"),
            direction,
            arguments,
        )
        return [
            *readings,
            *_iperf3_result.series(
                direction, protocol, outcome, arguments["omit"]
            ),
        ]

    def progress(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> curves.ProgressCurve | None:
        """Return a curve of the bytes of a direction over time, or None."""
        direction = _iperf3_result.direction_of(outcome.name)
        if direction not in self.directions(arguments):
            return None
        return _iperf3_result.progress(
            direction,
            arguments["protocol"],
            outcome,
            arguments["omit"],
        )

    def work_done(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> base.Work | None:
        """Return the number of received bytes as Work, or None.

        iperf3 does not count bytes in the omitted time; the same rate is
        assumed for them.
        """
        omit_factor = 1 + arguments["omit"] / arguments["time"]
        checked = outcome.validate()
        texts = [checked.stdout]
        if outcome.name == BIDIR:
            texts = [*_iperf3_result.split_directions(checked.stdout).values()]
        amount = omit_factor * sum(
            _iperf3_result.received_bytes(
                dataclasses.replace(checked, stdout=text)
            )
            for text in texts
        )
        return base.Work(amount=amount, unit="B")


def _bidirectional_metric(metric: sample.Metric) -> sample.Metric:
    """Return a copy of a Metric, renamed for a bidirectional run."""
    prefix = "network.iperf3."
    name = f"{prefix}{BIDIR}.{metric.name.removeprefix(prefix)}"
    return dataclasses.replace(metric, name=name)


def _command(
    direction: str,
    arguments: base.Arguments,
    server: base.Server,
    address: str,
) -> base.Command:
    """Return the client Command of a direction, with its server.

    Client and server of UDP exchange their results at the end, so that the
    output of the server is not requested. An hour of small datagrams exceeds
    32-bit counters.

    :param address: The address of the machine with the server.
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
    """Return the seconds between reports; 0 for no reports.

    The number of reports is small, because reports of many streams are long.
    Runs of more than ten minutes have no reports, because the maximum
    interval of iperf3 is a minute.
    """
    return 0 if time > _LONGEST else -(-time // _REPORTS)


def _reject_unused(
    arguments: base.Arguments, unused: dict[str, int], protocol: str
) -> None:
    """Reject arguments that only apply to another protocol."""
    for key, default in unused.items():
        if arguments[key] != default:
            raise base.WorkloadError(
                f"workload iperf3: {key}={arguments[key]}: requires "
                f"protocol: {protocol}; remove {key}, or set protocol: "
                f"{protocol}"
            )
