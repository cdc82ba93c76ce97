"""Checks of iperf3's JSON against its command and for consistency."""

import math
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads.network import _iperf3_result

#: Maximum relative difference of the reports and the totals: a new iperf3
#: still sends while it writes its last report.
_REPORTS = 0.02


def check(
    report: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Reject an iperf3 report that contradicts the arguments or itself.

    :raises base.WorkloadError: For the first contradiction.
    """
    output = outputs.Reader(f"iperf3: {direction}")
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
            raise output.error(f"did not run with {key}: {setting}")
    for path in (("end", "streams"), ("start", "connected")):
        if len(report.array(*path)) != arguments["streams"]:
            raise output.error(f"did not have {arguments['streams']} streams")
    duration = report.number("end", "sum_received", "seconds")
    if duration > 1.1 * arguments["time"] + 1:
        raise output.error(
            f"took {duration:g} s instead of {arguments['time']} s"
        )
    for total in ("sum_sent", "sum_received"):
        seconds, size, rate = report.at("end", total).numbers(
            "seconds", "bytes", "bits_per_second"
        )
        if not math.isclose(
            rate * seconds, size * 8, rel_tol=2e-6, abs_tol=1e-3
        ):
            raise output.error(
                f"moved {size:g} B in {seconds:g} s, which is not {rate:g} "
                "bit/s"
            )
    check_totals = _check_datagrams if is_udp else _check_streams
    check_totals(report.at("end"), output, arguments)
    _check_reports(report, direction, output)


def _check_streams(
    end: document.Document, output: outputs.Reader, arguments: base.Arguments
) -> None:
    """Reject TCP sums that differ from those of the streams."""
    for total, side, key in (
        ("sum_sent", "sender", "bytes"),
        ("sum_sent", "sender", "retransmits"),
        ("sum_received", "receiver", "bytes"),
    ):
        reported = end.number(total, key)
        parts = [
            end.number("streams", stream, side, key)
            for stream in range(arguments["streams"])
        ]
        _check_sum(output, f"{key} of {total}", reported, parts)


def _check_datagrams(
    end: document.Document, output: outputs.Reader, arguments: base.Arguments
) -> None:
    """Reject UDP sums unlike the streams, or bytes unlike the datagrams."""
    count = arguments["streams"]
    streams = [end.at("streams", number, "udp") for number in range(count)]
    sent, size = end.at("sum_sent").numbers("packets", "bytes")
    numbered, lost, percent, jitter, received = end.at("sum_received").numbers(
        "packets", "lost_packets", "lost_percent", "jitter_ms", "bytes"
    )
    datagrams, losses, jitters = (
        [stream.number(key) for stream in streams]
        for key in ("packets", "lost_packets", "jitter_ms")
    )
    late = [
        stream.number("out_of_order")
        for stream in streams
        if stream.find("out_of_order") is not None
    ]
    _check_sum(output, "datagrams", sent, datagrams)
    _check_sum(output, "lost datagrams", lost, losses)
    _check_sum(output, "jitter", jitter * count, jitters)
    shares = [100 * lost / whole for whole in (sent, numbered) if whole]
    arrived = received / arguments["datagram"]
    if (
        size != sent * arguments["datagram"]
        or abs(arrived - (numbered - lost)) > sum(late)
        or not any(
            math.isclose(percent, share, abs_tol=1e-9) for share in shares
        )
    ):
        raise output.error(
            f"sent {sent:g} datagrams, numbered {numbered:g} and lost "
            f"{lost:g}, which does not agree with {size:g} and "
            f"{received:g} B"
        )


def _check_reports(
    report: document.Document, direction: str, output: outputs.Reader
) -> None:
    """Reject interval reports whose bytes differ from the summary."""
    if not report.array("intervals"):
        raise output.error("did not print interval reports")
    transferred = sum(
        interval.number("bytes")
        for interval in _iperf3_result.measured_intervals(report)
    )
    end = "sum_received" if direction == "from_peer" else "sum_sent"
    size = report.number("end", end, "bytes")
    if not math.isclose(transferred, size, rel_tol=_REPORTS):
        raise output.error(
            f"moved {transferred:g} B in its reports, but {size:g} B in its "
            "sum"
        )


def _check_sum(
    output: outputs.Reader, quantity: str, total: float, parts: list[float]
) -> None:
    """Raise an error if a total differs from the sum of its parts."""
    if not math.isclose(total, math.fsum(parts), rel_tol=1e-9, abs_tol=1e-9):
        raise output.error(
            f"has {total:g} {quantity}, but {math.fsum(parts):g} in its "
            "streams"
        )
