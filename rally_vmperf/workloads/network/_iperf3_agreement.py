"""Checks of iperf3's JSON against its command and for consistency."""

import math
import typing as t

from rally_vmperf.workloads.network import _iperf3_result

#: Maximum relative difference of the reports and the totals: a new iperf3
#: still sends while it writes its last report.
_REPORTS = 0.02
#: The length of the buffer of TCP in bytes, which no option changes.
_TCP_BUFFER = 128 << 10


def check(report: _iperf3_result.Report) -> None:
    """Reject an iperf3 report that contradicts its arguments or itself.

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
    duration = report.received.number("seconds")
    if duration > 1.1 * time + 1:
        raise output.error(f"took {duration:g} s instead of {time} s")
    for total in (report.sent, report.received):
        seconds, size, rate = total.numbers(
            "seconds", "bytes", "bits_per_second"
        )
        if not math.isclose(
            rate * seconds, size * 8, rel_tol=2e-6, abs_tol=1e-3
        ):
            raise output.error(
                f"moved {size:g} B in {seconds:g} s, which is not {rate:g} "
                "bit/s"
            )
    if is_udp:
        _check_datagrams(report)
    else:
        _check_streams(report)
    _check_reports(report)


def _check_streams(report: _iperf3_result.Report) -> None:
    """Reject TCP sums that differ from those of the streams."""
    for name, total, side, key in (
        ("sum_sent", report.sent, "sender", "bytes"),
        ("sum_sent", report.sent, "sender", "retransmits"),
        ("sum_received", report.received, "receiver", "bytes"),
    ):
        parts = [stream.number(side, key) for stream in report.streams()]
        _check_sum(report, f"{key} of {name}", total.number(key), parts)


def _check_datagrams(report: _iperf3_result.Report) -> None:
    """Reject UDP sums unlike the streams, or bytes unlike the datagrams."""
    datagram = report.arguments["datagram"]
    streams = [stream.at("udp") for stream in report.streams()]
    sent, size = report.sent.numbers("packets", "bytes")
    numbered, lost, percent, jitter, received = report.received.numbers(
        "packets", "lost_packets", "lost_percent", "jitter_ms", "bytes"
    )
    for quantity, key, total in (
        ("datagrams", "packets", sent),
        ("lost datagrams", "lost_packets", lost),
        ("jitter", "jitter_ms", jitter * len(streams)),
    ):
        parts = [stream.number(key) for stream in streams]
        _check_sum(report, quantity, total, parts)
    late = [
        stream.number("out_of_order")
        for stream in streams
        if stream.find("out_of_order") is not None
    ]
    shares = [100 * lost / whole for whole in (sent, numbered) if whole]
    if (
        size != sent * datagram
        or abs(received / datagram - (numbered - lost)) > sum(late)
        or not any(
            math.isclose(percent, share, abs_tol=1e-9) for share in shares
        )
    ):
        raise report.output.error(
            f"sent {sent:g} datagrams, numbered {numbered:g} and lost "
            f"{lost:g}, which does not agree with {size:g} and "
            f"{received:g} B"
        )


def _check_reports(report: _iperf3_result.Report) -> None:
    """Reject interval reports whose bytes differ from the summary."""
    if not report.document.array("intervals"):
        raise report.output.error("did not print interval reports")
    transferred = sum(part.number("bytes") for part in report.intervals())
    end = report.sent
    if report.direction.endswith("from_peer"):
        end = report.received
    size = end.number("bytes")
    if not math.isclose(transferred, size, rel_tol=_REPORTS):
        raise report.output.error(
            f"moved {transferred:g} B in its reports, but {size:g} B in its "
            "sum"
        )


def _check_sum(
    report: _iperf3_result.Report,
    quantity: str,
    total: float,
    parts: list[float],
) -> None:
    """Raise an error if a total differs from the sum of its parts."""
    if not math.isclose(total, math.fsum(parts), rel_tol=1e-9, abs_tol=1e-9):
        raise report.output.error(
            f"has {total:g} {quantity}, but {math.fsum(parts):g} in its "
            "streams"
        )
