"""What iperf3 reports of one direction, in base units."""

import contextlib
import json
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits

Protocol = t.Literal["tcp", "udp"]

#: Share of the time below which a run has ended early, and of the datagrams
#: sent below which too many came after the last one that arrived.
_LEAST = 0.9

#: Protocol -> what is measured: name, unit, direction and scale.
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

#: Metric -> where it is: percent of one CPU, of the client and of the server.
_CPU = {"client_cpu": "host_total", "server_cpu": "remote_total"}


def command_name(direction: str, protocol: Protocol) -> str:
    """Return what the command is called, in a task that has both protocols."""
    return direction if protocol == "tcp" else f"{direction}-udp"


def direction_of(command: str) -> str:
    """Return the direction of a command."""
    return command.removesuffix("-udp")


def metrics(
    direction: str, protocol: Protocol, *, cpu: bool = False
) -> tuple[sample.Metric, ...]:
    """Return what is measured in a direction.

    :param cpu: the CPU time of both ends as well
    """
    values = tuple(
        sample.Metric(
            f"network.iperf3.{direction}.{name}", unit, better, scale=scale
        )
        for name, unit, better, scale in _METRICS[protocol]
    )
    return (
        *values,
        *(_cpu(direction, protocol, name) for name in _CPU if cpu),
    )


def _cpu(direction: str, protocol: Protocol, name: str) -> sample.Metric:
    of = "udp." if protocol == "udp" else ""
    return sample.Metric(
        f"network.iperf3.{direction}.{of}{name}",
        "%",
        "lower",
        scale="count",
        additive=False,
        # From 3.16 on each stream has a thread.
        bounds=(0.0, 13000.0),
    )


def read(
    direction: str,
    protocol: Protocol,
    outcome: base.Outcome,
    time: float,
    *,
    cpu: bool = False,
) -> list[sample.Sample]:
    """Return the samples in iperf3's JSON.

    Data that arrived are counted, not data that were sent.

    :param time: seconds that were asked for
    :param cpu: as of ``metrics``
    """
    result = document.Document(outcome.stdout, "iperf3")
    lasted = result.number("end", "sum_received", "seconds")
    if lasted < _LEAST * time:
        raise base.WorkloadError(
            f"iperf3: {direction} ended after {lasted:g} s of {time:g} s; "
            "look at the raw output"
        )
    values = (_tcp if protocol == "tcp" else _udp)(result, direction)
    if cpu:
        values += tuple(
            result.number("end", "cpu_utilization_percent", where)
            for where in _CPU.values()
        )
    return [
        limits.measured(metric, value)
        for metric, value in zip(
            metrics(direction, protocol, cpu=cpu), values, strict=True
        )
    ]


def split(text: str) -> dict[str, str]:
    """Return what iperf3 says of both directions at once, as of one each.

    :returns: direction -> JSON, to be read as that of a run of its own
    :raises base.WorkloadError: where it was not of both directions
    """
    result = document.Document.only(text, "iperf3")
    told = result.find("start", "test_start", "bidir")
    reverse = result.find("end", "sum_received_bidir_reverse")
    # Old versions do not tell what was asked for.
    if told not in (None, 1) or not isinstance(reverse, dict):
        raise base.WorkloadError(
            "iperf3: bidir has one direction only; look at the raw output"
        )
    return {
        "to_peer": json.dumps(_half(result, True)),
        "from_peer": json.dumps(_half(result, False)),
    }


def _half(result: document.Document, sent: bool) -> dict[str, t.Any]:
    """Return what there is of the direction that the client sent, or got."""
    suffix = "" if sent else "_bidir_reverse"
    connected = _list(result.find("start", "connected"))
    middle = len(connected) // 2
    asked = result.find("start", "test_start")
    return {
        "start": {
            "connected": connected[:middle] if sent else connected[middle:],
            "test_start": {
                **(asked if isinstance(asked, dict) else {}),
                "reverse": int(not sent),
            },
        },
        "intervals": [
            {"sum": result.find("intervals", at, f"sum{suffix}")}
            for at in range(len(_list(result.find("intervals"))))
        ],
        "end": {
            "streams": [
                one
                for at, one in enumerate(_list(result.find("end", "streams")))
                if result.find("end", "streams", at, "sender", "sender")
                is sent
            ],
            "sum_sent": result.find("end", f"sum_sent{suffix}"),
            "sum_received": result.find("end", f"sum_received{suffix}"),
        },
    }


def _list(found: t.Any) -> list[t.Any]:
    return found if isinstance(found, list) else []


def received(outcome: base.Outcome) -> float:
    """Return how many bytes arrived after those that are left out."""
    result = document.Document(outcome.stdout, "iperf3")
    rate = result.number("end", "sum_received", "bits_per_second")
    return rate * result.number("end", "sum_received", "seconds") / 8


def course(
    direction: str, protocol: Protocol, outcome: base.Outcome, omit: float
) -> courses.Course | None:
    """Return how much was sent or received over time, by iperf3's reports.

    It says how long its connection has been up, and not since when: what it
    took to come and to go is taken to be as long before as after.

    :param omit: seconds that came before what was measured
    """
    result = document.Document(outcome.stdout, "iperf3")
    lasted = result.number("end", "sum_received", "seconds")
    beside = outcome.ended - outcome.started - omit - lasted
    begin = outcome.started + beside / 2 + omit
    points = [(begin, 0.0)]
    done = 0.0
    reports = result.find("intervals")
    for number in range(len(reports) if isinstance(reports, list) else 0):
        where = ("intervals", number, "sum")
        if result.find(*where, "omitted") is True:
            continue
        done += result.number(*where, "bytes")
        points.append((begin + result.number(*where, "end"), done))
    throughput, *_ = metrics(direction, protocol)
    return courses.course((throughput.name,), points)


def series(
    direction: str, protocol: Protocol, outcome: base.Outcome, omit: float
) -> list[sample.Series]:
    """Return the throughput over time, none where iperf3 told it once.

    :param omit: seconds that came before what was measured
    """
    throughput, *_ = metrics(direction, protocol)
    # Values are worth as much without it.
    with contextlib.suppress(base.WorkloadError, ValueError):
        told = course(direction, protocol, outcome, omit)
        if told is not None and len(told.points) > 2:
            return [sample.Series(metric=throughput, points=told.rates(8))]
    return []


def _tcp(result: document.Document, _: str) -> tuple[float, ...]:
    return (
        result.number("end", "sum_received", "bits_per_second"),
        result.number("end", "sum_sent", "retransmits"),
    )


def _udp(result: document.Document, direction: str) -> tuple[float, ...]:
    """Return rate, jitter and loss as the receiver saw them.

    The receiver does not know which datagram is the last, so iperf3 does not
    count losses at the end: where nothing arrived, it reports no loss.

    :raises base.WorkloadError: when that is too much to tell the loss
    """
    sent = result.number("end", "sum_sent", "packets")
    numbered = result.number("end", "sum_received", "packets")
    rate = result.number("end", "sum_received", "bits_per_second")
    if not (rate and numbered):
        raise base.WorkloadError(
            f"iperf3: {direction}: none of {sent:g} datagrams arrived; check "
            "that the other end lets in UDP, and datagrams of this size"
        )
    if numbered < _LEAST * sent:
        raise base.WorkloadError(
            f"iperf3: {direction}: none of the last {sent - numbered:g} of "
            f"{sent:g} datagrams arrived; look at the raw output"
        )
    lost = result.number("end", "sum_received", "lost_packets")
    jitter = result.number("end", "sum_received", "jitter_ms")
    return rate, jitter / 1e3, lost / numbered * 100


def raise_reported(outcome: base.Outcome, protocol: Protocol) -> None:
    """Raise iperf3's own error, which is in its standard output."""
    if len(outcome.stdout) > base.LONGEST:
        return
    try:
        reported = document.Document(outcome.stdout, "iperf3").find("error")
    except base.WorkloadError:
        return
    if isinstance(reported, str):
        ways = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {direction_of(outcome.name)}: "
            f"{sanitize.line(reported)}; check that the other end can be "
            f"reached at that port{ways}"
        )
