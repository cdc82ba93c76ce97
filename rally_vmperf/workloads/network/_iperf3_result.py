"""What iperf3 says of one direction, in base units."""

import collections.abc
import typing as t

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs

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


def command_name(direction: str, protocol: Protocol) -> str:
    """Return what the command is called, in a task that has both protocols."""
    return direction if protocol == "tcp" else f"{direction}-udp"


def metrics(direction: str, protocol: Protocol) -> tuple[sample.Metric, ...]:
    """Return what is measured in a direction."""
    return tuple(
        sample.Metric(
            name=f"network.iperf3.{direction}.{name}",
            unit=unit,
            better=better,
            scale=scale,
        )
        for name, unit, better, scale in _METRICS[protocol]
    )


def read(
    direction: str,
    protocol: Protocol,
    outcomes: collections.abc.Mapping[str, base.Outcome],
    time: float,
) -> list[sample.Sample]:
    """Return the samples in iperf3's JSON, none without an outcome.

    What arrived is counted, and not what was sent.

    :param time: seconds that were asked for
    :raises base.WorkloadError: with iperf3's own words when it has failed
    """
    name = command_name(direction, protocol)
    if name in outcomes:
        _raise_reported(direction, protocol, outcomes[name])
    outcome = outputs.taken(outcomes, name)
    if outcome is None:
        return []
    result = document.Document(outcome.stdout, "iperf3")
    lasted = result.number("end", "sum_received", "seconds")
    if lasted < _LEAST * time:
        raise base.WorkloadError(
            f"iperf3: {direction} ended after {lasted:g} s of {time:g} s; "
            "look at the raw output"
        )
    values = (_tcp if protocol == "tcp" else _udp)(result, direction)
    return [
        limits.measured(metric, value)
        for metric, value in zip(
            metrics(direction, protocol), values, strict=True
        )
    ]


def received(outcome: base.Outcome) -> float:
    """Return how many bytes arrived after those that are left out."""
    result = document.Document(outcome.stdout, "iperf3")
    rate = result.number("end", "sum_received", "bits_per_second")
    return rate * result.number("end", "sum_received", "seconds") / 8


def course(
    direction: str, protocol: Protocol, outcome: base.Outcome, omit: float
) -> courses.Course | None:
    """Return how much was sent or received when, by iperf3's reports.

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


def _tcp(result: document.Document, _: str) -> tuple[float, ...]:
    return (
        result.number("end", "sum_received", "bits_per_second"),
        result.number("end", "sum_sent", "retransmits"),
    )


def _udp(result: document.Document, direction: str) -> tuple[float, ...]:
    """Return rate, jitter and loss as the receiver saw them.

    Nobody tells of a datagram that it is the last one, so what is lost at
    the end is not among iperf3's losses: of nothing that arrived, it says
    that nothing was lost.

    :raises base.WorkloadError: when that is too much to tell the loss
    """
    sent = result.number("end", "sum_sent", "packets")
    numbered = result.number("end", "sum_received", "packets")
    rate = result.number("end", "sum_received", "bits_per_second")
    if not (rate and numbered):
        raise base.WorkloadError(
            f"iperf3: {direction}: none of {sent:g} datagrams arrived; is UDP "
            "let in there, and are datagrams of this size?"
        )
    if numbered < _LEAST * sent:
        raise base.WorkloadError(
            f"iperf3: {direction}: none of the last {sent - numbered:g} of "
            f"{sent:g} datagrams arrived; look at the raw output"
        )
    lost = result.number("end", "sum_received", "lost_packets")
    jitter = result.number("end", "sum_received", "jitter_ms")
    return rate, jitter / 1e3, lost / numbered * 100


def _raise_reported(
    direction: str, protocol: Protocol, outcome: base.Outcome
) -> None:
    """Raise iperf3's own error, which stands in its output and not beside."""
    if len(outcome.stdout) > outputs.LONGEST:
        return
    try:
        reported = document.Document(outcome.stdout, "iperf3").find("error")
    except base.WorkloadError:
        return
    if isinstance(reported, str):
        ways = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {direction}: {outputs.printable(reported)}; look "
            f"whether the other end can be reached at that port{ways}"
        )
