"""Network workload: TCP or UDP with iperf3."""

import typing as t

from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed
from rally_vmperf.workloads.network import _iperf3_result

#: Number of reports in a run, and maximum duration of a run with reports, s.
_REPORTS, _MAX_REPORTED_SECONDS = 10, 600
#: Number of reports in a run of few streams with this duration, s.
_DENSE_REPORTS, _DENSE, _FEW_STREAMS = 60, range(31, 301), 8

#: To the peer and from it concurrently; used as a direction.
BIDIR = "bidir"

#: The length of the buffer of TCP in bytes, which no option changes.
_TCP_BUFFER = 128 << 10
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
    OUTPUT_BOUNDS = output_bounds.JSON
    has_time_series = True
    DIRECTIONS = {**_directed.BOTH_DIRECTIONS, BIDIR: "peer"}  # noqa: RUF012
    ARGUMENTS = schemas.schema(
        directions=schemas.choices(
            "Measured one after the other: to_peer, from_peer, "
            "guest_to_guest (to the partner guest), bidir (to the peer and "
            "from it concurrently).",
            DIRECTIONS,
            default=("to_peer", "from_peer"),
        ),
        protocol=schemas.choice(
            "tcp, at the maximum rate, or udp, at the bitrate.",
            ("tcp", "udp"),
            default="tcp",
        ),
        time=schemas.duration("Measured time of each direction"),
        omit=schemas.integer(
            "Time before it that is not measured, for slow start of TCP, s",
            0,
            60,
            default=1,
            note="0 with udp",
        ),
        streams=_directed.STREAMS,
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
        window_kib=_directed.WINDOW_KIB,
        segment=schemas.optional(
            "Largest segment of tcp, bytes", 9216, "the maximum of the path"
        ),
        zero_copy=schemas.flag(
            "Send with sendfile, without copies", default=False
        ),
        cpu=schemas.flag(
            "Measure the CPU time of client and server", default=False
        ),
    )
    TOOLS = (tools.load_generator("iperf3", packages={"zypper": "iperf"}),)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with all defaults as a dict.

        :raises base.WorkloadError: If an argument is not valid, or does not
            apply to the protocol.
        """
        if arguments.get("protocol") == "udp":
            arguments = {"omit": 0, **arguments}
        return super().complete(arguments)

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject arguments that only apply to the other protocol.

        :raises ValueError: If there is such an argument.
        """
        properties = self.ARGUMENTS["properties"]
        unused = {
            key: properties[key]["default"] for key in ("bitrate", "datagram")
        }
        protocol = "udp"
        if arguments["protocol"] == "udp":
            unused, protocol = {"omit": 0, "segment": 0}, "tcp"
            if BIDIR in arguments["directions"]:
                raise ValueError(
                    "directions: bidir requires protocol: tcp; remove bidir, "
                    "or set protocol: tcp"
                )
        for key, default in unused.items():
            if arguments[key] != default:
                raise ValueError(
                    f"{key}={arguments[key]}: requires protocol: {protocol}; "
                    f"remove {key}, or set protocol: {protocol}"
                )

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return Ports with one port for every single direction."""
        return base.Ports(own=len(_directed.BOTH_DIRECTIONS))

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf3 as a Tool, with a minimum version for UDP."""
        if arguments["protocol"] == "tcp":
            return self.TOOLS
        return tools.require_version(self.TOOLS, "iperf3", _MINIMUM_FOR_UDP)

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
        """Return the findings on limits of the measurement, as pairs."""
        findings = super().argument_findings(arguments)
        if arguments["protocol"] == "tcp":
            return findings
        rate = units.show(arguments["streams"] * arguments["bitrate"], "bit/s")
        return (*findings, ("fixed_rate", f"{rate} of UDP are offered"))

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each selected direction."""
        return tuple(
            metric
            for direction in self.selected(arguments)
            for part in _parts(direction)
            for metric in _iperf3_result.metrics(part, arguments)
        )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the client Command of a direction, with its server.

        Client and server of UDP exchange their results at the end, so that
        the output of the server is not requested. An hour of small datagrams
        exceeds 32-bit counters.
        """
        line = (
            "iperf3 -c {address} -p {port} -J -i {interval} -t {time} "
            "-O {omit} -P {streams}"
        )
        if option == "from_peer":
            line += " -R"
        if option == BIDIR:
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
        role = "to_peer" if option == BIDIR else option
        port = self._port(option, arguments, endpoints)
        seconds = arguments["time"] + arguments["omit"]
        return base.Command(
            name=option + ("-udp" if arguments["protocol"] == "udp" else ""),
            argv=base.argv(
                line,
                arguments,
                address=self.address(role, endpoints),
                port=port,
                interval=_interval(arguments["time"], arguments["streams"]),
            ),
            timeout=seconds + 60,
            seconds=seconds,
            server=base.Server(
                on=self.DIRECTIONS[option],
                argv=(
                    *("iperf3", "-s", "-p", f"{port}"),
                    *self.listen_options("-B", option, endpoints),
                ),
                port=port,
            ),
        )

    def _port(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> int:
        """Return the port of a direction's server as an integer.

        That of bidir is the port of a direction that is not selected, or the
        least recently used one.
        """
        if option != BIDIR:
            return self.port(option, endpoints)
        used = {
            self.port(direction, endpoints)
            for direction in self.selected(arguments)
            if direction != BIDIR
        }
        free = [port for port in endpoints.own_ports if port not in used]
        return (free or endpoints.own_ports)[0]

    def parse_all(
        self, arguments: base.Arguments, results: base.Results
    ) -> list[sample.Reading]:
        """Return the samples in the outputs of several commands as a list.

        :raises base.WorkloadError: If iperf3 failed, with its message.
        """
        for result in results.values():
            _iperf3_result.raise_reported_error(result, arguments["protocol"])
        return super().parse_all(arguments, results)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return the samples of one direction, or of two concurrent ones."""
        readings: list[sample.Reading] = []
        for report in _parse_reports(arguments, result):
            readings += report.samples()
            _check_report(report)
            readings += report.series()
        return readings

    def progress(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> curves.ProgressCurve | None:
        """Return a curve of the bytes of a direction over time, or None."""
        direction, *others = _parts(result.name)
        if others or direction not in self.selected(arguments):
            return None
        return _iperf3_result.Report(direction, arguments, result).progress()

    def work_done(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> base.Work | None:
        """Return the number of received bytes as Work, or None.

        iperf3 does not count bytes in the omitted time; the same rate is
        assumed for them.
        """
        omit_factor = 1 + arguments["omit"] / arguments["time"]
        reports = _parse_reports(
            arguments, base.check_result(result, self.OUTPUT_BOUNDS)
        )
        received = sum(report.received_bytes() for report in reports)
        return base.Work(amount=omit_factor * received, unit="B")


def _parts(command: str) -> tuple[str, ...]:
    """Return the directions that a command measures as a tuple of names."""
    if command == BIDIR:
        return _iperf3_result.BIDIR
    return (command.removesuffix("-udp"),)


def _parse_reports(
    arguments: base.Arguments, result: base.CommandResult
) -> list[_iperf3_result.Report]:
    """Parse a result into a list of one Report for each direction."""
    return [
        _iperf3_result.Report(direction, arguments, result)
        for direction in _parts(result.name)
    ]


def _interval(time: int, streams: int) -> int:
    """Return the seconds between reports; 0 for no reports.

    The number of reports is small, because reports of many streams are long.
    Runs of more than ten minutes have no reports, because the maximum
    interval of iperf3 is a minute.
    """
    if time > _MAX_REPORTED_SECONDS:
        return 0
    is_dense = time in _DENSE and streams <= _FEW_STREAMS
    return -(-time // (_DENSE_REPORTS if is_dense else _REPORTS))


def _check_report(report: _iperf3_result.Report) -> None:
    """Reject an iperf3 report that contradicts its arguments.

    :raises base.WorkloadError: For the first contradiction.
    """
    output, arguments = report.output, report.arguments
    time, streams = arguments["time"], arguments["streams"]
    is_udp = arguments["protocol"] == "udp"
    test: dict[str, t.Any] = {
        "protocol": arguments["protocol"].upper(),
        "num_streams": streams,
        "omit": arguments["omit"],
        "duration": time,
        "reverse": int(report.direction == "from_peer"),
        "blksize": arguments["datagram"] if is_udp else _TCP_BUFFER,
    }
    # Not all versions report these settings.
    optional: dict[tuple[str, ...], t.Any] = {
        ("start", "test_start", "target_bitrate"): (
            arguments["bitrate"] if is_udp else 0
        ),
        ("start", "sock_bufsize"): arguments["window_kib"] * 1024,
    }
    settings: dict[tuple[str, ...], t.Any] = {
        **{("start", "test_start", key): test[key] for key in test},
        ("start", "tcp_mss"): arguments["segment"] or None,
        **optional,
    }
    for path, setting in settings.items():
        reported = report.document.find(*path)
        if reported != setting and not (reported is None and path in optional):
            raise output.error(f"did not run with {path[-1]}: {setting}")
    directions = 2 if report.direction in _iperf3_result.BIDIR else 1
    connected = report.document.array("start", "connected")
    if (len(report.streams()), len(connected)) != (
        streams,
        directions * streams,
    ):
        raise output.error(f"did not have {streams} streams")
    output.check_time(report.received.number("seconds"), time)
    if not report.document.array("intervals"):
        raise output.error("did not print interval reports")
