"""Whether iperf3's JSON agrees with its command and with itself."""

import math
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import document

#: Share by which the reports may differ from the totals: a new iperf3 goes on
#: sending while it makes its last one.
_REPORTS = 0.02


def check(
    result: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Check what iperf3 printed against its arguments and against itself.

    :raises base.WorkloadError: for the first disagreement
    """
    asked: dict[str, t.Any] = {
        "protocol": arguments["protocol"].upper(),
        "num_streams": arguments["streams"],
        "omit": arguments["omit"],
        "duration": arguments["time"],
        "reverse": int(direction == "from_peer"),
    }
    udp = arguments["protocol"] == "udp"
    if udp:
        asked |= {
            "blksize": arguments["datagram"],
            "target_bitrate": arguments["bitrate"],
        }
    for key, wanted in asked.items():
        told = result.find("start", "test_start", key)
        # Old versions do not tell all of it.
        if told is not None and told != wanted:
            raise _error(direction, f"did not run with {key}: {wanted}")
    streams = result.find("end", "streams")
    known = result.find("start", "connected")
    for found in (streams, known):
        if not isinstance(found, list) or len(found) != arguments["streams"]:
            raise _error(
                direction, f"did not have {arguments['streams']} streams"
            )
    lasted = result.number("end", "sum_received", "seconds")
    if lasted > 1.1 * arguments["time"] + 1:
        raise _error(
            direction, f"took {lasted:g} s instead of {arguments['time']} s"
        )
    for total in ("sum_sent", "sum_received"):
        seconds, size, rate = (
            result.number("end", total, key)
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
    (_check_datagrams if udp else _check_streams)(result, direction, arguments)
    _check_reports(result, direction)


def _check_streams(
    result: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Check the sums of TCP against its streams."""
    for total, end, key in (
        ("sum_sent", "sender", "bytes"),
        ("sum_sent", "sender", "retransmits"),
        ("sum_received", "receiver", "bytes"),
    ):
        told = result.number("end", total, key)
        _check_sum(
            direction,
            f"{key} of {total}",
            told,
            [
                result.number("end", "streams", at, end, key)
                for at in range(arguments["streams"])
            ],
        )


def _check_datagrams(
    result: document.Document, direction: str, arguments: base.Arguments
) -> None:
    """Check the sums of UDP against streams, and bytes against datagrams."""
    streams = range(arguments["streams"])
    sent, size = (
        result.number("end", "sum_sent", key) for key in ("packets", "bytes")
    )
    numbered, lost, percent, jitter, received = (
        result.number("end", "sum_received", key)
        for key in (
            *("packets", "lost_packets", "lost_percent", "jitter_ms"),
            "bytes",
        )
    )
    each = {
        key: [
            result.number("end", "streams", at, "udp", key) for at in streams
        ]
        for key in ("packets", "lost_packets", "jitter_ms")
    }
    late = [
        result.number(*path)
        for at in streams
        if result.find(
            *(path := ("end", "streams", at, "udp", "out_of_order"))
        )
        is not None
    ]
    _check_sum(direction, "datagrams", sent, each["packets"])
    _check_sum(direction, "lost datagrams", lost, each["lost_packets"])
    _check_sum(
        direction, "jitter", jitter * arguments["streams"], each["jitter_ms"]
    )
    shares = [100 * lost / whole for whole in (sent, numbered) if whole]
    arrived = received / arguments["datagram"]
    if (
        size != sent * arguments["datagram"]
        or abs(arrived - (numbered - lost)) > sum(late)
        or not any(math.isclose(percent, s, abs_tol=1e-9) for s in shares)
    ):
        raise _error(
            direction,
            f"sent {sent:g} datagrams, numbered {numbered:g} and lost "
            f"{lost:g}, which are not {size:g} and {received:g} B",
        )


def _check_reports(result: document.Document, direction: str) -> None:
    """Check the bytes of the reports against those of the summary."""
    reports = result.find("intervals")
    if not isinstance(reports, list) or not reports:
        raise _error(direction, "has no report of the time in between")
    done = 0.0
    for at in range(len(reports)):
        where = ("intervals", at, "sum")
        if result.find(*where, "omitted") is not True:
            done += result.number(*where, "bytes")
    end = "sum_received" if direction == "from_peer" else "sum_sent"
    size = result.number("end", end, "bytes")
    if not math.isclose(done, size, rel_tol=_REPORTS):
        raise _error(
            direction,
            f"moved {done:g} B by its reports and {size:g} B by its sum",
        )


def _check_sum(
    direction: str, what: str, total: float, parts: list[float]
) -> None:
    if not math.isclose(total, math.fsum(parts), rel_tol=1e-9, abs_tol=1e-9):
        raise _error(
            direction,
            f"has {total:g} {what}, and {math.fsum(parts):g} by its streams",
        )


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"iperf3: {direction} {what}; look at the raw output"
    )
