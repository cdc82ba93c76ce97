# SPDX-License-Identifier: Apache-2.0
"""Network workload: TCP or UDP with iperf3."""

import collections.abc
import contextlib
import math
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed
from rally_vmperf.workloads.network import _iperf3_options

#: Minimum share of the time of a complete run, and minimum share of the sent
#: datagrams that the number of the last received one must reach.
_MIN_SHARE = 0.9

#: Metric of the client or server -> its key, in percent of one CPU.
_CPU = {"client_cpu": "host_total", "server_cpu": "remote_total"}

#: The two concurrent directions of one run.
_BIDIR_SIDES = ("bidir.to_peer", "bidir.from_peer")


#: Number of reports in a run, and maximum duration of a run with reports, s.
_REPORTS, _MAX_REPORTED_SECONDS = 10, 600
#: Number of reports in a run of few streams with this duration, s.
_DENSE_REPORTS, _DENSE, _FEW_STREAMS = 60, range(31, 301), 8

#: To the peer and from it concurrently; used as a direction.
BIDIR = "bidir"

#: The length of the buffer of TCP in bytes, which no option changes.
_TCP_BUFFER = 128 << 10
#: The maximum rate of a stream in bit/s.
_MAX_BITRATE = 4 * 10**11
#: The minimum number of buffers of a stream with a rate in a run.
_MIN_BUFFERS = 20
_MINIMUM_FOR_UDP = tools.MinimumVersion(
    version="3.11",
    reason="with UDP it does not report received data",
    remedy="use a newer release of the distribution, or protocol: tcp",
)


def _cpu_metrics(prefix: str) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of the CPU time of both ends."""
    return tuple(
        sample.Metric(
            f"{prefix}.{name}",
            "%",
            "lower",
            scale="count",
            additive=False,
            # From 3.16 on each stream has a thread.
            bounds=(0.0, 13000.0),
        )
        for name in _CPU
    )


_TCP, _UDP = "network.iperf3.{}", "network.iperf3.{}.udp"
#: The metrics of each protocol; those of the CPU time are the last ones.
_METRICS: dict[str, tuple[sample.Metric, ...]] = {
    "tcp": (
        sample.Metric(f"{_TCP}.throughput", "bit/s", "higher"),
        sample.Metric(f"{_TCP}.retransmits", "1", "lower", scale="count"),
        *_cpu_metrics(_TCP),
    ),
    "udp": (
        sample.Metric(f"{_UDP}.throughput", "bit/s", "higher"),
        sample.Metric(f"{_UDP}.jitter", "s", "lower", scale="count"),
        sample.Metric(f"{_UDP}.loss", "%", "lower", scale="count"),
        *_cpu_metrics(_UDP),
    ),
}


class Iperf3Report:
    """The JSON report of a run, for one of its directions.

    :param direction: The direction, after ``bidir.`` if the run had two
        concurrent directions.
    :raises base.WorkloadError: If the output is not a report, or the run did
        not have two directions.
    """

    def __init__(
        self,
        direction: str,
        arguments: base.Arguments,
        result: base.CommandResult,
    ) -> None:
        self.direction = direction
        self.arguments = arguments
        self.result = result
        # 3.16 and 3.17 can print their report twice.
        self.document = document.Document.parse_last(result.stdout, "iperf3")
        self.output = outputs.Reader(f"iperf3: {direction}")
        suffix = "_bidir_reverse" if direction == _BIDIR_SIDES[1] else ""
        self._interval_sum = f"sum{suffix}"
        self.end = self.document.at("end")
        self.sent = self.end.at(f"sum_sent{suffix}")
        self.received = self.end.at(f"sum_received{suffix}")
        bidir = self.document.find("start", "test_start", "bidir")
        # Old versions do not report this option.
        if direction in _BIDIR_SIDES and (
            bidir not in (None, 1) or not self.received.mapping()
        ):
            raise outputs.Reader("iperf3: bidir").error(
                "did not run in two directions"
            )

    def streams(self) -> list[document.Document]:
        """Return the results of the streams of the direction as a list."""
        streams = [
            self.end.at("streams", number)
            for number in range(len(self.end.array("streams")))
        ]
        if self.direction not in _BIDIR_SIDES:
            return streams
        is_sent = self.direction == _BIDIR_SIDES[0]
        return [s for s in streams if s.find("sender", "sender") is is_sent]

    def intervals(self) -> list[document.Document]:
        """Return the interval sums after the omitted seconds as a list."""
        sums = (
            self.document.at("intervals", number, self._interval_sum)
            for number in range(len(self.document.array("intervals")))
        )
        return [part for part in sums if part.find("omitted") is not True]

    def received_bytes(self) -> float:
        """Return the number of received bytes after the omitted seconds."""
        factors = self.received.numbers("bits_per_second", "seconds")
        return math.prod(factors) / 8

    def samples(self) -> list[sample.Sample]:
        """Return the samples of received data as a list.

        :raises base.WorkloadError: If the run ended early, or a value is not
            valid.
        """
        duration = self.received.number("seconds")
        time = self.arguments["time"]
        if duration < _MIN_SHARE * time:
            raise self.output.error(
                f"ended after {duration:g} s of {time:g} s"
            )
        readings = (
            self._datagram_figures()
            if self.arguments["protocol"] == "udp"
            else [
                self.received.number("bits_per_second"),
                self.sent.number("retransmits"),
            ]
        )
        definitions = create_metrics(self.direction, self.arguments)
        if len(definitions) > len(readings):
            utilization = self.end.at("cpu_utilization_percent")
            readings += utilization.numbers(*_CPU.values())
        return outputs.create_samples(definitions, readings)

    def _datagram_figures(self) -> list[float]:
        """Return rate, jitter and loss at the receiver as floats.

        The receiver does not know the last datagram, so that iperf3 does not
        count losses at the end: if nothing arrived, it does not report a loss.

        :raises base.WorkloadError: If the loss cannot be determined.
        """
        sent = self.sent.number("packets")
        numbered, rate = self.received.numbers("packets", "bits_per_second")
        if not (rate and numbered):
            raise base.WorkloadError(
                f"{self.output.subject}: none of {sent:g} datagrams arrived; "
                "check that the server accepts UDP and datagrams of this size"
            )
        if numbered < _MIN_SHARE * sent:
            raise outputs.Reader(f"{self.output.subject}:").error(
                f"none of the last {sent - numbered:g} of {sent:g} datagrams "
                "arrived"
            )
        lost, jitter = self.received.numbers("lost_packets", "jitter_ms")
        return [rate, jitter / 1e3, lost / numbered * 100]

    def progress(self) -> curves.ProgressCurve | None:
        """Return a curve of the transferred bytes over time, or None.

        Reports have times relative to the start of the connection, which is
        not reported: the overheads before and after it are assumed to be
        equal.
        """
        omit = self.arguments["omit"]
        duration = self.received.number("seconds")
        overhead = self.result.ended - self.result.started - omit - duration
        begin = self.result.started + overhead / 2 + omit
        points = [(begin, 0.0)]
        for interval in self.intervals():
            transferred = points[-1][1] + interval.number("bytes")
            points.append((begin + interval.number("end"), transferred))
        throughput, *_ = create_metrics(self.direction, self.arguments)
        return curves.build_curve((throughput.name,), points)

    def series(self) -> list[sample.Series]:
        """Return a list with the throughput series; empty for one report."""
        throughput, *_ = create_metrics(self.direction, self.arguments)
        # The samples are valid without the series.
        with contextlib.suppress(base.WorkloadError, ValueError):
            curve = self.progress()
            if curve is not None and len(curve.points) > 2:
                return [
                    sample.Series(metric=throughput, points=curve.rates(8))
                ]
        return []


def create_metrics(
    direction: str, arguments: base.Arguments
) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of a direction.

    Concurrent directions share the CPU time, which is not one of them.
    """
    definitions = _METRICS[arguments["protocol"]]
    if not arguments["cpu"] or direction in _BIDIR_SIDES:
        definitions = definitions[: -len(_CPU)]
    return sequence.name_metrics(definitions, direction)


def raise_reported_error(result: base.CommandResult, protocol: str) -> None:
    """Raise the error that iperf3 reports on standard output."""
    if output_bounds.JSON.describe_excess(result):
        return
    try:
        *_, report = document.Document.parse_all(result.stdout, "iperf3")
    except base.WorkloadError:
        return
    reported = report.find("error")
    if isinstance(reported, str):
        transports = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {result.name.removesuffix('-udp')}: "
            f"{sanitize.line(reported)}; check that the server is reachable "
            f"at this port{transports}"
        )


class Iperf3(_directed.ServerWorkload):
    """Throughput to and from another machine; jitter and loss of UDP."""

    name = "iperf3"
    title = "Network: TCP or UDP with iperf3"
    part = "network"
    OUTPUT_BOUNDS = output_bounds.JSON
    has_time_series = True
    TOOL_OPTIONS = _iperf3_options.TABLE
    DIRECTIONS = {**_directed.BOTH_DIRECTIONS, BIDIR: "peer"}  # noqa: RUF012
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        directions=schemas.choices(
            "Measured one after the other: to_peer, from_peer, "
            "guest_to_guest (to the partner guest), bidir (to the peer and "
            "from it concurrently).",
            DIRECTIONS,
            default=("to_peer", "from_peer"),
        ),
        protocol=schemas.choice(
            "tcp, at the maximum rate or tcp_bitrate, or udp, at the bitrate.",
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
        bitrate=schemas.by_name(
            schemas.integer(
                "Rate of each stream of udp, bit/s of payload",
                10**5,
                _MAX_BITRATE,
                default=10**8,
            ),
            DIRECTIONS,
            "direction",
        ),
        tcp_bitrate=schemas.by_name(
            schemas.optional(
                "Rate of each stream of tcp, bit/s of payload",
                _MAX_BITRATE,
                "the maximum",
            ),
            DIRECTIONS,
            "limited direction",
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
            unused = {"omit": 0, "segment": 0, "tcp_bitrate": 0}
            protocol = "tcp"
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
        self._check_rates(arguments)

    def _check_rates(self, arguments: base.Arguments) -> None:
        """Reject rates of other directions, and rates that are too low.

        :raises ValueError: If a direction of UDP has no rate, a rate has no
            direction, or a run of TCP has too few buffers.
        """
        directions = arguments["directions"]
        for key in ("bitrate", "tcp_bitrate"):
            schemas.check_names(key, arguments[key], "directions", directions)
        for direction in directions:
            if not schemas.number_for(arguments["bitrate"], direction):
                raise ValueError(
                    f"bitrate: must have a number for {direction}, because "
                    "udp has no maximum rate"
                )
            rate = schemas.number_for(arguments["tcp_bitrate"], direction)
            least = -(-_MIN_BUFFERS * _TCP_BUFFER * 8 // arguments["time"])
            if 0 < rate < least:
                raise ValueError(
                    f"tcp_bitrate={rate}: must be >= {least} in a run of "
                    f"{arguments['time']} s, because iperf3 sends "
                    f"{_TCP_BUFFER} bytes at once; raise tcp_bitrate or time, "
                    "or reduce streams"
                )

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return Ports with one port for every single direction."""
        return base.Ports(own=len(_directed.BOTH_DIRECTIONS))

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf3 as a Tool, with a minimum version for UDP."""
        if arguments["protocol"] == "tcp":
            return self.TOOLS
        return tools.require_version(self.TOOLS, "iperf3", _MINIMUM_FOR_UDP)

    def offers(self, arguments: base.Arguments) -> tuple[base.Offer, ...]:
        """Return an Offer for each direction, two for bidir."""
        offers = []
        for direction in self.selected(arguments):
            rate = _stream_rate(direction, arguments)
            for part in _parts(direction):
                throughput, *_ = create_metrics(part, arguments)
                offers.append(
                    base.Offer(
                        command=_command_name(direction, arguments),
                        metric=throughput.name,
                        rate=rate * arguments["streams"] or None,
                    )
                )
        return tuple(offers)

    def check_drivable(self, arguments: base.Arguments) -> None:
        """Reject bidir, whose directions share one rate.

        :raises base.WorkloadError: If it is selected.
        """
        if BIDIR in arguments["directions"]:
            raise base.WorkloadError(
                "workload iperf3: direction bidir cannot be driven at a rate; "
                f"these can: {', '.join(_directed.BOTH_DIRECTIONS)}"
            )

    def _drive(
        self,
        arguments: base.Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return the rate of a stream for each direction."""
        key = "bitrate" if arguments["protocol"] == "udp" else "tcp_bitrate"
        return {
            key: {
                direction: max(
                    1,
                    round(
                        rates[_command_name(direction, arguments)]
                        / arguments["streams"]
                    ),
                )
                for direction in self.selected(arguments)
            }
        }

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each selected direction."""
        return tuple(
            metric
            for direction in self.selected(arguments)
            for part in _parts(direction)
            for metric in create_metrics(part, arguments)
        )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the client Command of a direction, with its server.

        Client and server of UDP exchange their results at the end, so that
        the output of the server is not requested. An hour of small datagrams
        exceeds 32-bit counters.
        """
        rate = _stream_rate(option, arguments)
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
            line += " -u -b {rate} -l {datagram} --udp-counters-64bit"
        elif rate:
            line += " -b {rate}"
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
            name=_command_name(option, arguments),
            argv=base.argv(
                line,
                arguments,
                address=self.address(role, endpoints),
                port=port,
                rate=rate,
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
            raise_reported_error(result, arguments["protocol"])
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
        return Iperf3Report(direction, arguments, result).progress()

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


def _command_name(direction: str, arguments: base.Arguments) -> str:
    """Return the name of the command that measures a direction."""
    return direction + ("-udp" if arguments["protocol"] == "udp" else "")


def _stream_rate(direction: str, arguments: base.Arguments) -> int:
    """Return the rate of a stream in bit/s; 0 for the maximum of TCP."""
    key = "bitrate" if arguments["protocol"] == "udp" else "tcp_bitrate"
    return schemas.number_for(arguments[key], direction)


def _parts(command: str) -> tuple[str, ...]:
    """Return the directions that a command measures as a tuple of names."""
    if command == BIDIR:
        return _BIDIR_SIDES
    return (command.removesuffix("-udp"),)


def _parse_reports(
    arguments: base.Arguments, result: base.CommandResult
) -> list[Iperf3Report]:
    """Parse a result into a list of one Report for each direction."""
    return [
        Iperf3Report(direction, arguments, result)
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


def _check_report(report: Iperf3Report) -> None:
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
        ("start", "test_start", "target_bitrate"): _stream_rate(
            report.direction.partition(".")[0], arguments
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
    directions = 2 if report.direction in _BIDIR_SIDES else 1
    connected = report.document.array("start", "connected")
    if (len(report.streams()), len(connected)) != (
        streams,
        directions * streams,
    ):
        raise output.error(f"did not have {streams} streams")
    output.check_time(report.received.number("seconds"), time)
    if not report.document.array("intervals"):
        raise output.error("did not print interval reports")
