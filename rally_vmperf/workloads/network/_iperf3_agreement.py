"""Checks of iperf3's JSON against its command."""

import typing as t

from rally_vmperf.workloads.network import _iperf3_result

#: The length of the buffer of TCP in bytes, which no option changes.
_TCP_BUFFER = 128 << 10


def check(report: _iperf3_result.Report) -> None:
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
