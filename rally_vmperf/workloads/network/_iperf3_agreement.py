"""Checks of iperf3's JSON against its command and for consistency."""

import math
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import document

#: Maximum relative difference of the reports and the totals: a new iperf3
#: still sends while it writes its last report.
_REPORTS = 0.02


def check(
    report: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Reject an iperf3 report that contradicts the arguments or itself.

    :raises base.WorkloadError: For the first contradiction.
    """
    expected: dict[str, t.Any] = {
        "protocol": arguments["protocol"].upper(),
        "num_streams": arguments["streams"],
        "omit": arguments["omit"],
        "duration": arguments["time"],
        "reverse": int(direction == "from_peer"),
    }
    is_udp = arguments["protocol"] == "udp"
    if is_udp:
        expected |= {
            "blksize": arguments["datagram"],
            "target_bitrate": arguments["bitrate"],
        }
    for key, setting in expected.items():
        reported = report.find("start", "test_start", key)
        # Old versions do not report all settings.
        if reported is not None and reported != setting:
            raise _error(direction, f"did not run with {key}: {setting}")
    streams = report.find("end", "streams")
    connections = report.find("start", "connected")
    for streams_or_connections in (streams, connections):
        if (
            not isinstance(streams_or_connections, list)
            or len(streams_or_connections) != arguments["streams"]
        ):
            raise _error(
                direction, f"did not have {arguments['streams']} streams"
            )
    duration = report.number("end", "sum_received", "seconds")
    if duration > 1.1 * arguments["time"] + 1:
        raise _error(
            direction, f"took {duration:g} s instead of {arguments['time']} s"
        )
    for total in ("sum_sent", "sum_received"):
        seconds, size, rate = (
            report.number("end", total, key)
            for key in ("seconds", "bytes", "bits_per_second")
        )
        if not math.isclose(
            rate * seconds, size * 8, rel_tol=2e-6, abs_tol=1e-3
        ):
            raise _error(
                direction,
                f"moved {size:g} B in {seconds:g} s, which is not {rate:g} "
                "bit/s",
            )
    (_check_datagrams if is_udp else _check_streams)(
        report, direction, arguments
    )
    _check_reports(report, direction)


def _check_streams(
    report: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Reject TCP sums that differ from those of the streams."""
    for total, end, key in (
        ("sum_sent", "sender", "bytes"),
        ("sum_sent", "sender", "retransmits"),
        ("sum_received", "receiver", "bytes"),
    ):
        reported = report.number("end", total, key)
        _check_sum(
            direction,
            f"{key} of {total}",
            reported,
            [
                report.number("end", "streams", stream, end, key)
                for stream in range(arguments["streams"])
            ],
        )


def _check_datagrams(
    report: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Reject UDP sums unlike the streams, or bytes unlike the datagrams."""
    streams = range(arguments["streams"])
    sent, size = (
        report.number("end", "sum_sent", key) for key in ("packets", "bytes")
    )
    numbered, lost, percent, jitter, received = (
        report.number("end", "sum_received", key)
        for key in (
            *("packets", "lost_packets", "lost_percent", "jitter_ms"),
            "bytes",
        )
    )
    by_stream = {
        key: [
            report.number("end", "streams", stream, "udp", key)
            for stream in streams
        ]
        for key in ("packets", "lost_packets", "jitter_ms")
    }
    late = [
        report.number(*path)
        for stream in streams
        if report.find(
            *(path := ("end", "streams", stream, "udp", "out_of_order"))
        )
        is not None
    ]
    _check_sum(direction, "datagrams", sent, by_stream["packets"])
    _check_sum(direction, "lost datagrams", lost, by_stream["lost_packets"])
    _check_sum(
        direction,
        "jitter",
        jitter * arguments["streams"],
        by_stream["jitter_ms"],
    )
    shares = [100 * lost / whole for whole in (sent, numbered) if whole]
    arrived = received / arguments["datagram"]
    if (
        size != sent * arguments["datagram"]
        or abs(arrived - (numbered - lost)) > sum(late)
        or not any(
            math.isclose(percent, share, abs_tol=1e-9) for share in shares
        )
    ):
        raise _error(
            direction,
            f"sent {sent:g} datagrams, numbered {numbered:g} and lost "
            f"{lost:g}, which does not agree with {size:g} and "
            f"{received:g} B",
        )


def _check_reports(report: document.Document, direction: str) -> None:
    """Reject interval reports whose bytes differ from the summary."""
    intervals = report.find("intervals")
    if not isinstance(intervals, list) or not intervals:
        raise _error(direction, "did not print interval reports")
    transferred = 0.0
    for number in range(len(intervals)):
        path = ("intervals", number, "sum")
        if report.find(*path, "omitted") is not True:
            transferred += report.number(*path, "bytes")
    end = "sum_received" if direction == "from_peer" else "sum_sent"
    size = report.number("end", end, "bytes")
    if not math.isclose(transferred, size, rel_tol=_REPORTS):
        raise _error(
            direction,
            f"moved {transferred:g} B in its reports, but {size:g} B in its "
            "sum",
        )


def _check_sum(
    direction: str, quantity: str, total: float, parts: list[float]
) -> None:
    """Raise an error if a total differs from the sum of its parts."""
    if not math.isclose(total, math.fsum(parts), rel_tol=1e-9, abs_tol=1e-9):
        raise _error(
            direction,
            f"has {total:g} {quantity}, but {math.fsum(parts):g} in its "
            "streams",
        )


def _error(direction: str, problem: str) -> base.WorkloadError:
    """Return a WorkloadError that describes a problem of a direction."""
    return base.WorkloadError(
        f"iperf3: {direction} {problem}; look at the raw output"
    )
