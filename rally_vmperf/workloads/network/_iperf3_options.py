# SPDX-License-Identifier: Apache-2.0
"""The options of iperf3 that an output states."""

import re
import typing as t

from rally_vmperf.workloads import options

#: The length of the buffer of TCP in bytes; that of UDP depends on the path.
_TCP_BLOCK = "131072"
#: The line of ``-V`` in a table.
_TEST = r"^Starting Test: protocol: "


def _parse_segment(text: str) -> t.Any:
    """Return a size of segments; 0 for the default of the connection."""
    return 0 if "default" in text else options.parse_number(text)


def _parse_amount(text: str) -> t.Any:
    """Return a number of bytes or blocks; 0 if it does not end the run."""
    return options.parse_size(text or "0")


_VALUES = (
    options.Option(
        names=("num_streams", "P", "parallel"),
        argument="streams",
        default="1",
        parse=options.parse_number,
        pattern=re.compile(rf"{_TEST}\w+, ([0-9]{{1,4}}) streams", re.M),
    ),
    options.Option(
        names=("duration", "t", "time"),
        argument="time",
        default="10",
        parse=options.parse_number,
        pattern=re.compile(rf"{_TEST}.*, ([0-9]{{1,6}}) second test", re.M),
    ),
    options.Option(
        names=("omit", "O"),
        argument="omit",
        default="0",
        parse=options.parse_number,
        pattern=re.compile(rf"{_TEST}.*, omitting ([0-9]{{1,6}}) sec", re.M),
    ),
    options.Option(
        names=("blksize", "l", "length"),
        argument="blksize",
        default=_TCP_BLOCK,
        parse=options.parse_size,
        pattern=re.compile(rf"{_TEST}.*, ([0-9]{{1,9}}) byte blocks", re.M),
    ),
    options.Option(
        names=("target_bitrate", "b", "bitrate", "bandwidth"),
        argument="tcp_bitrate",
        default="0",
        parse=options.parse_rate,
    ),
    options.Option(
        names=("sock_bufsize", "w", "window"),
        argument="window_kib",
        default="0",
        parse=options.parse_kib,
    ),
    options.Option(
        names=("sender_tcp_congestion", "C", "congestion", "linux-congestion"),
        argument="congestion",
        # The default is that of the machine.
        pattern=re.compile(r"^snd_tcp_congestion (\w{1,20})$", re.M),
    ),
    options.Option(
        names=("tcp_mss", "M", "set-mss"),
        argument="segment",
        default="0",
        parse=_parse_segment,
        pattern=re.compile(
            r"^[ \t]*TCP MSS: ([0-9]{1,6}(?: \(default\))?)$", re.M
        ),
    ),
    options.Option(
        names=("tos", "S", "dscp"),
        argument="tos",
        default="0",
        parse=options.parse_number,
        pattern=re.compile(rf"{_TEST}.*, tos ([0-9]{{1,3}})$", re.M),
    ),
    options.Option(
        names=("bytes", "n"),
        argument="bytes",
        default="0",
        parse=_parse_amount,
        pattern=re.compile(
            rf"{_TEST}.*, (?:([0-9]{{1,20}}) bytes to send|"
            r"[0-9]{1,20} (?:second test|blocks to send))",
            re.M,
        ),
    ),
    options.Option(
        names=("blocks", "k", "blockcount"),
        argument="blocks",
        default="0",
        parse=_parse_amount,
        pattern=re.compile(
            rf"{_TEST}.*, (?:([0-9]{{1,20}}) blocks to send|"
            r"[0-9]{1,20} (?:second test|bytes to send))",
            re.M,
        ),
    ),
    # Tables and JSON lack these, and command lines have them.
    options.Option(names=("Z", "zerocopy"), has_value=False),
    options.Option(names=("N", "no-delay"), has_value=False),
    options.Option(names=("A", "affinity")),
)
#: The direction and the protocol are in the name of the metric.
_NAMES = (
    *options.name_options("c", "client", "p", "port", "i", "interval", "f"),
    *options.name_options("format", "T", "title", "B", "bind", "I"),
    *options.name_options("pidfile", "cport", "logfile", "connect-timeout"),
    *options.name_options("s", "server", "u", "udp", has_value=False),
    *options.name_options("R", "reverse", "bidir", has_value=False),
    *options.name_options("protocol", "J", "json", has_value=False),
    *options.name_options("json-stream", "V", "verbose", has_value=False),
    *options.name_options("d", "debug", "4", "6", "1", has_value=False),
    *options.name_options("get-server-output", "forceflush", has_value=False),
    *options.name_options("timestamps", "one-off", "D", has_value=False),
    *options.name_options("daemon", "version4", "version6", has_value=False),
    *options.name_options("udp-counters-64bit", has_value=False),
)

TABLE = options.OptionTable(options=(*_VALUES, *_NAMES))
