"""The results of iperf3 for one direction, in base units."""

import collections.abc
import contextlib
import json
import math
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sequence

Protocol = t.Literal["tcp", "udp"]

#: Minimum share of the time of a complete run, and minimum share of the sent
#: datagrams that the number of the last received one must reach.
_MIN_SHARE = 0.9

#: The metrics of each protocol.
_METRICS: dict[Protocol, tuple[sample.Metric, ...]] = {
    "tcp": (
        sample.Metric("network.iperf3.{}.throughput", "bit/s", "higher"),
        sample.Metric(
            "network.iperf3.{}.retransmits", "1", "lower", scale="count"
        ),
    ),
    "udp": (
        sample.Metric("network.iperf3.{}.udp.throughput", "bit/s", "higher"),
        sample.Metric(
            "network.iperf3.{}.udp.jitter", "s", "lower", scale="count"
        ),
        sample.Metric(
            "network.iperf3.{}.udp.loss", "%", "lower", scale="count"
        ),
    ),
}

#: Metric of the client or server -> its key, in percent of one CPU.
_CPU = {"client_cpu": "host_total", "server_cpu": "remote_total"}


def command_name(direction: str, protocol: Protocol) -> str:
    """Return the name of a direction's command for a protocol."""
    return direction if protocol == "tcp" else f"{direction}-udp"


def direction_of(command: str) -> str:
    """Return the name of the direction in the name of a command."""
    return command.removesuffix("-udp")


def metrics(
    direction: str, protocol: Protocol, *, cpu: bool = False
) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of a direction.

    :param cpu: True to include the CPU time of client and server.
    """
    prefix = "udp." if protocol == "udp" else ""
    cpu_metrics = (
        sample.Metric(
            f"network.iperf3.{{}}.{prefix}{name}",
            "%",
            "lower",
            scale="count",
            additive=False,
            # From 3.16 on each stream has a thread.
            bounds=(0.0, 13000.0),
        )
        for name in _CPU
        if cpu
    )
    return sequence.name_metrics(
        (*_METRICS[protocol], *cpu_metrics), direction
    )


def parse(
    direction: str,
    protocol: Protocol,
    result: base.CommandResult,
    time: float,
    *,
    cpu: bool = False,
) -> list[sample.Sample]:
    """Return the samples of received data in iperf3's JSON as a list.

    :param time: The requested duration in seconds.
    :param cpu: True to include the CPU time of client and server.
    """
    report = document.Document(result.stdout, "iperf3")
    duration = report.number("end", "sum_received", "seconds")
    if duration < _MIN_SHARE * time:
        raise outputs.Reader(f"iperf3: {direction}").error(
            f"ended after {duration:g} s of {time:g} s"
        )
    end = report.at("end")
    readings = (
        [
            end.number("sum_received", "bits_per_second"),
            end.number("sum_sent", "retransmits"),
        ]
        if protocol == "tcp"
        else _udp_values(end, direction)
    )
    if cpu:
        utilization = end.at("cpu_utilization_percent")
        readings += utilization.numbers(*_CPU.values())
    return limits.create_samples(
        metrics(direction, protocol, cpu=cpu), readings
    )


def split_directions(text: str) -> dict[str, str]:
    """Split a bidirectional JSON report into two texts by direction.

    :returns: The JSON by direction, in the format of a separate run.
    :raises base.WorkloadError: If the run did not have two directions.
    """
    report = document.Document.parse_single(text, "iperf3")
    bidir = report.find("start", "test_start", "bidir")
    reverse = report.find("end", "sum_received_bidir_reverse")
    # Old versions do not report this option.
    if bidir not in (None, 1) or not isinstance(reverse, dict):
        raise outputs.Reader("iperf3: bidir").error(
            "did not run in two directions"
        )
    return {
        "to_peer": json.dumps(_select_direction(report, True)),
        "from_peer": json.dumps(_select_direction(report, False)),
    }


def _select_direction(
    report: document.Document, sent: bool
) -> dict[str, t.Any]:
    """Return the report of the sent or of the received data as a dict."""
    suffix = "" if sent else "_bidir_reverse"
    connected = report.array("start", "connected")
    half = len(connected) // 2
    return {
        "start": {
            "connected": connected[:half] if sent else connected[half:],
            "test_start": {
                **report.mapping("start", "test_start"),
                "reverse": int(not sent),
            },
        },
        "intervals": [
            {"sum": report.find("intervals", number, f"sum{suffix}")}
            for number in range(len(report.array("intervals")))
        ],
        "end": {
            "streams": [
                stream
                for number, stream in enumerate(report.array("end", "streams"))
                if report.find("end", "streams", number, "sender", "sender")
                is sent
            ],
            "sum_sent": report.find("end", f"sum_sent{suffix}"),
            "sum_received": report.find("end", f"sum_received{suffix}"),
        },
    }


def received_bytes(text: str) -> float:
    """Return the number of received bytes after the omitted seconds."""
    received = document.Document(text, "iperf3").at("end", "sum_received")
    return math.prod(received.numbers("bits_per_second", "seconds")) / 8


def measured_intervals(
    report: document.Document,
) -> collections.abc.Iterator[document.Document]:
    """Yield the sum of each interval report after the omitted seconds."""
    for number in range(len(report.array("intervals"))):
        interval = report.at("intervals", number, "sum")
        if interval.find("omitted") is not True:
            yield interval


def progress(
    direction: str,
    protocol: Protocol,
    result: base.CommandResult,
    omit: float,
) -> curves.ProgressCurve | None:
    """Return a curve of the transferred bytes over time, or None.

    Reports have times relative to the start of the connection, which is not
    reported: the overheads before and after it are assumed to be equal.

    :param omit: The omitted time before the measurement in seconds.
    """
    report = document.Document(result.stdout, "iperf3")
    duration = report.number("end", "sum_received", "seconds")
    overhead = result.ended - result.started - omit - duration
    begin = result.started + overhead / 2 + omit
    points = [(begin, 0.0)]
    transferred = 0.0
    for interval in measured_intervals(report):
        transferred += interval.number("bytes")
        points.append((begin + interval.number("end"), transferred))
    throughput, *_ = metrics(direction, protocol)
    return curves.build_curve((throughput.name,), points)


def series(
    direction: str,
    protocol: Protocol,
    result: base.CommandResult,
    omit: float,
) -> list[sample.Series]:
    """Return a list with the throughput series; empty for one report.

    :param omit: The omitted time before the measurement in seconds.
    """
    throughput, *_ = metrics(direction, protocol)
    # The samples are valid without the series.
    with contextlib.suppress(base.WorkloadError, ValueError):
        curve = progress(direction, protocol, result, omit)
        if curve is not None and len(curve.points) > 2:
            return [sample.Series(metric=throughput, points=curve.rates(8))]
    return []


def _udp_values(end: document.Document, direction: str) -> list[float]:
    """Return rate, jitter and loss at the receiver as floats.

    The receiver does not know the last datagram, so that iperf3 does not
    count losses at the end: if nothing arrived, it does not report a loss.

    :raises base.WorkloadError: If the loss cannot be determined.
    """
    sent, received = end.number("sum_sent", "packets"), end.at("sum_received")
    numbered, rate = received.numbers("packets", "bits_per_second")
    if not (rate and numbered):
        raise base.WorkloadError(
            f"iperf3: {direction}: none of {sent:g} datagrams arrived; check "
            "that the server accepts UDP and datagrams of this size"
        )
    if numbered < _MIN_SHARE * sent:
        raise outputs.Reader(f"iperf3: {direction}:").error(
            f"none of the last {sent - numbered:g} of {sent:g} datagrams "
            "arrived"
        )
    lost, jitter = received.numbers("lost_packets", "jitter_ms")
    return [rate, jitter / 1e3, lost / numbered * 100]


def raise_reported_error(
    result: base.CommandResult, protocol: Protocol
) -> None:
    """Raise the error that iperf3 reports on standard output."""
    if len(result.stdout) > base.LONGEST:
        return
    try:
        reported = document.Document(result.stdout, "iperf3").find("error")
    except base.WorkloadError:
        return
    if isinstance(reported, str):
        transports = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {direction_of(result.name)}: "
            f"{sanitize.line(reported)}; check that the server is reachable "
            f"at this port{transports}"
        )
