"""The results of iperf3 for one direction, in base units."""

import contextlib
import json
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits

Protocol = t.Literal["tcp", "udp"]

#: Minimum share of the time of a complete run, and minimum share of the sent
#: datagrams that the number of the last received one must reach.
_MIN_SHARE = 0.9

#: Protocol -> name, unit, direction and scale of each metric.
_METRICS: dict[
    Protocol, tuple[tuple[str, str, sample.Better, sample.Scale], ...]
] = {
    "tcp": (
        ("throughput", "bit/s", "higher", "ratio"),
        ("retransmits", "1", "lower", "count"),
    ),
    "udp": (
        ("udp.throughput", "bit/s", "higher", "ratio"),
        ("udp.jitter", "s", "lower", "count"),
        ("udp.loss", "%", "lower", "count"),
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
    readings = tuple(
        sample.Metric(
            f"network.iperf3.{direction}.{name}", unit, better, scale=scale
        )
        for name, unit, better, scale in _METRICS[protocol]
    )
    return (
        *readings,
        *(_cpu_metric(direction, protocol, name) for name in _CPU if cpu),
    )


def _cpu_metric(
    direction: str, protocol: Protocol, name: str
) -> sample.Metric:
    """Return the Metric of a CPU share of client or server in percent."""
    prefix = "udp." if protocol == "udp" else ""
    return sample.Metric(
        f"network.iperf3.{direction}.{prefix}{name}",
        "%",
        "lower",
        scale="count",
        additive=False,
        # From 3.16 on each stream has a thread.
        bounds=(0.0, 13000.0),
    )


def parse(
    direction: str,
    protocol: Protocol,
    outcome: base.Outcome,
    time: float,
    *,
    cpu: bool = False,
) -> list[sample.Sample]:
    """Return the samples of received data in iperf3's JSON as a list.

    :param time: The requested duration in seconds.
    :param cpu: True to include the CPU time of client and server.
    """
    report = document.Document(outcome.stdout, "iperf3")
    duration = report.number("end", "sum_received", "seconds")
    if duration < _MIN_SHARE * time:
        raise base.WorkloadError(
            f"iperf3: {direction} ended after {duration:g} s of {time:g} s; "
            "look at the raw output"
        )
    readings = (_tcp_values if protocol == "tcp" else _udp_values)(
        report, direction
    )
    if cpu:
        readings += tuple(
            report.number("end", "cpu_utilization_percent", key)
            for key in _CPU.values()
        )
    return [
        limits.create_sample(metric, reading)
        for metric, reading in zip(
            metrics(direction, protocol, cpu=cpu), readings, strict=True
        )
    ]


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
        raise base.WorkloadError(
            "iperf3: bidir did not run in two directions; look at the raw "
            "output"
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
    connected = _as_list(report.find("start", "connected"))
    half = len(connected) // 2
    test_start = report.find("start", "test_start")
    return {
        "start": {
            "connected": connected[:half] if sent else connected[half:],
            "test_start": {
                **(test_start if isinstance(test_start, dict) else {}),
                "reverse": int(not sent),
            },
        },
        "intervals": [
            {"sum": report.find("intervals", number, f"sum{suffix}")}
            for number in range(len(_as_list(report.find("intervals"))))
        ],
        "end": {
            "streams": [
                stream
                for number, stream in enumerate(
                    _as_list(report.find("end", "streams"))
                )
                if report.find("end", "streams", number, "sender", "sender")
                is sent
            ],
            "sum_sent": report.find("end", f"sum_sent{suffix}"),
            "sum_received": report.find("end", f"sum_received{suffix}"),
        },
    }


def _as_list(node: t.Any) -> list[t.Any]:
    """Return a JSON node if it is a list, else an empty list."""
    return node if isinstance(node, list) else []


def received_bytes(outcome: base.Outcome) -> float:
    """Return the number of received bytes after the omitted seconds."""
    report = document.Document(outcome.stdout, "iperf3")
    rate = report.number("end", "sum_received", "bits_per_second")
    return rate * report.number("end", "sum_received", "seconds") / 8


def progress(
    direction: str, protocol: Protocol, outcome: base.Outcome, omit: float
) -> curves.ProgressCurve | None:
    """Return a curve of the transferred bytes over time, or None.

    Reports have times relative to the start of the connection, which is not
    reported: the overheads before and after it are assumed to be equal.

    :param omit: The omitted time before the measurement in seconds.
    """
    report = document.Document(outcome.stdout, "iperf3")
    duration = report.number("end", "sum_received", "seconds")
    overhead = outcome.ended - outcome.started - omit - duration
    begin = outcome.started + overhead / 2 + omit
    points = [(begin, 0.0)]
    transferred = 0.0
    intervals = report.find("intervals")
    for number in range(len(intervals) if isinstance(intervals, list) else 0):
        path = ("intervals", number, "sum")
        if report.find(*path, "omitted") is True:
            continue
        transferred += report.number(*path, "bytes")
        points.append((begin + report.number(*path, "end"), transferred))
    throughput, *_ = metrics(direction, protocol)
    return curves.build_curve((throughput.name,), points)


def series(
    direction: str, protocol: Protocol, outcome: base.Outcome, omit: float
) -> list[sample.Series]:
    """Return a list with the throughput series; empty for one report.

    :param omit: The omitted time before the measurement in seconds.
    """
    throughput, *_ = metrics(direction, protocol)
    # The samples are valid without the series.
    with contextlib.suppress(base.WorkloadError, ValueError):
        curve = progress(direction, protocol, outcome, omit)
        if curve is not None and len(curve.points) > 2:
            return [sample.Series(metric=throughput, points=curve.rates(8))]
    return []


def _tcp_values(report: document.Document, _: str) -> tuple[float, ...]:
    """Return received bits per second and retransmits as floats."""
    return (
        report.number("end", "sum_received", "bits_per_second"),
        report.number("end", "sum_sent", "retransmits"),
    )


def _udp_values(
    report: document.Document, direction: str
) -> tuple[float, ...]:
    """Return rate, jitter and loss at the receiver as floats.

    The receiver does not know the last datagram, so that iperf3 does not
    count losses at the end: if nothing arrived, it does not report a loss.

    :raises base.WorkloadError: If the loss cannot be determined.
    """
    sent = report.number("end", "sum_sent", "packets")
    numbered = report.number("end", "sum_received", "packets")
    rate = report.number("end", "sum_received", "bits_per_second")
    if not (rate and numbered):
        raise base.WorkloadError(
            f"iperf3: {direction}: none of {sent:g} datagrams arrived; check "
            "that the server accepts UDP and datagrams of this size"
        )
    if numbered < _MIN_SHARE * sent:
        raise base.WorkloadError(
            f"iperf3: {direction}: none of the last {sent - numbered:g} of "
            f"{sent:g} datagrams arrived; look at the raw output"
        )
    lost = report.number("end", "sum_received", "lost_packets")
    jitter = report.number("end", "sum_received", "jitter_ms")
    return rate, jitter / 1e3, lost / numbered * 100


def raise_reported_error(outcome: base.Outcome, protocol: Protocol) -> None:
    """Raise the error that iperf3 reports on standard output."""
    if len(outcome.stdout) > base.LONGEST:
        return
    try:
        reported = document.Document(outcome.stdout, "iperf3").find("error")
    except base.WorkloadError:
        return
    if isinstance(reported, str):
        transports = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {direction_of(outcome.name)}: "
            f"{sanitize.line(reported)}; check that the server is reachable "
            f"at this port{transports}"
        )
