# SPDX-License-Identifier: Apache-2.0
"""The table that iperf3 prints for people."""

import re
import typing as t

from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry

_ROW = re.compile(
    r"^\[ {0,3}(?P<id>[0-9]{1,5}|SUM)\](?P<way>\[[RT]X-[CS]\])? +"
    r"(?P<begin>[0-9.]{1,20})- {0,3}(?P<end>[0-9.]{1,20}) +sec +"
    r"[0-9.]{1,20} [KMGT]?Bytes +"
    r"(?P<rate>[0-9.]{1,20}) (?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec"
    r"(?: +(?P<retransmits>[0-9]{1,12})(?= *sender))?"
    r"(?: +[0-9.]{1,20} ms +(?P<lost>[0-9]{1,15})/ ?(?P<total>[0-9]{1,15}) "
    r"\([^)\n]{1,20}\))?"
    r" *(?P<role>sender|receiver)?$",
    re.M,
)
#: A line of a stream.
_STREAM = re.compile(r"^\[ {0,3}([0-9]{1,5})\] ", re.M)
#: An interval before the measured time, with its end.
_OMITTED = re.compile(
    r"^\[.{1,6}\] +[0-9.]{1,20}- {0,3}([0-9.]{1,20}) +sec .*\(omitted\)$",
    re.M,
)
_FIRST_INTERVAL = re.compile(
    r"^\[.{1,6}\] +0\.00- {0,3}[0-9.]{1,20} +sec ", re.M
)
_FAILURE = re.compile(r"^iperf3: (?:error|interrupt).*$", re.M)
_CONNECTED = re.compile(
    r"^\[.{1,6}\] local (\S{1,60}) port [0-9]{1,5} connected to "
    r"(\S{1,60}) port",
    re.M,
)
_SERVER = re.compile(r"^Connecting to host ([^\s,]{1,100}),", re.M)
#: The default of TCP, in bytes.
_TCP_BLOCK = 128 << 10
#: Blanks and tabs before lines, of which notes have different numbers.
INDENT = re.compile(r"^[ \t]+", re.M)
#: The line behind the row of a whole run with UDP, of the client.
_SENT = re.compile(
    r"^\[ {0,3}[0-9]{1,5}\] Sent ([0-9]{1,15}) datagrams$", re.M
)
_SEPARATOR = "\n- - - -"
SIGNATURE = re.compile(
    r"^iperf3: |^iperf 3\.[0-9]|^Connecting to host \S+, port [0-9]+$|"
    r"^\[ ID\](?:\[Role\])? Interval +Transfer +(?:Bitrate|\w+ +Retr)|"
    r"^\[ ID\] Interval .*(?<!/)Total Datagrams$|"
    r"Cwnd$|^[ \t]*\[.{1,4}\] .* (?:sender|receiver)$|"
    r"^[ \t]*\[[ 0-9A-Z]{1,5}\] +[0-9.]{4,12}-[0-9.]{4,12} {2,3}sec ",
    re.M,
)


def read_table(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the retransmits or the loss in iperf3's table."""
    text = INDENT.sub("", text).partition("\nServer output:")[0]
    if failure := _FAILURE.search(text):
        raise raw.error("iperf3", f"failed: {failure[0][:200]}")
    if len(re.findall("^Connecting to host |^Accepted conn", text, re.M)) > 1:
        raise raw.several_runs("iperf3")
    rows = list(_ROW.finditer(text))
    if any(row["way"] for row in rows):
        raise raw.error(
            "iperf3", "is of --bidir; give an output of each direction alone"
        )
    is_udp = any(row["lost"] for row in rows) or "Total Datagrams" in text
    received = _find_total(text, rows, "receiver")
    seconds = float(received["end"]) - float(received["begin"])
    raw.check_steady("iperf3", seconds)
    is_reverse = bool(re.search("^Reverse mode, ", text, re.M))
    direction = raw.find_direction(
        "iperf3", given, "from_peer" if is_reverse else "to_peer"
    )
    rate = raw.parse_bit_rate(received)
    figures: dict[str, t.Any] = {"throughput": rate}
    if is_udp:
        total, lost = int(received["total"]), int(received["lost"])
        if not received["role"]:
            # Before 3.7, the rate is of what was sent.
            figures["throughput"] = rate * (1 - lost / total)
        figures["loss"] = 100 * lost / total
    else:
        figures["retransmits"] = _find_retransmits(rows, received["id"])
    if not figures["throughput"] > 0:
        raise raw.error("iperf3", f"{direction} moved nothing")
    protocol = "udp" if is_udp else "tcp"
    chosen = {"directions": [direction], "protocol": protocol}
    name = f"network.iperf3.{direction}" + (".udp" if is_udp else "")
    arguments = _read_arguments(text, rows, protocol)
    if not (arguments.get("bytes") or arguments.get("blocks")):
        # It is a result otherwise.
        arguments.setdefault("time", round(seconds))
    else:
        arguments["time"] = 0
    output = raw.create_output(
        "iperf3",
        {**chosen, **arguments},
        {
            raw.find_metric("iperf3", f"{name}.{key}", **chosen): figure
            for key, figure in figures.items()
        },
    )
    return [raw.round_rates(output)]


def _find_total(
    text: str, rows: list[re.Match[str]], role: str
) -> re.Match[str]:
    """Return the row of all streams over the whole run.

    :param role: The side whose row it is, which old versions do not print
        with UDP.
    :raises WorkloadError: If there is not exactly one.
    """
    end = text.rfind(_SEPARATOR)
    sent = _SENT.findall(text)
    totals = [row for row in rows if row["role"] == role] or [
        row
        for row in rows
        if row["lost"]
        and not row["role"]
        and (0 <= end < row.start() or row["total"] in sent)
    ]
    sums = [row for row in totals if row["id"] == "SUM"] or totals
    if len({row["id"] for row in sums}) < len(sums):
        raise raw.several_runs("iperf3")
    if not sums:
        raise raw.error(
            "iperf3",
            f"the table has no line of the whole run ({role}); give the "
            "complete table, or the JSON of iperf3 -J",
        )
    streams = len({*_STREAM.findall(text)})
    if streams > 1 and sums[0]["id"] != "SUM":
        raise raw.error(
            "iperf3",
            f"the table has {streams} streams, and no line [SUM] of the "
            f"{role}; give the complete table",
        )
    return sums[0]


def _find_retransmits(rows: list[re.Match[str]], name: str) -> int | None:
    """Return the retransmits of the sender; None if the table has none."""
    counts = [
        int(row["retransmits"])
        for row in rows
        if row["retransmits"] and row["id"] == name
    ]
    return counts[0] if len(counts) == 1 else None


def _read_arguments(
    text: str, rows: list[re.Match[str]], protocol: str
) -> dict[str, t.Any]:
    """Return the arguments that a table and a command line state."""
    table = registry.get_workload("iperf3").TOOL_OPTIONS
    arguments = table.read_output(text, "iperf3")
    connections = _CONNECTED.findall(text)
    if omitted := _OMITTED.findall(text):
        arguments.setdefault("omit", round(max(map(float, omitted))))
    elif _FIRST_INTERVAL.search(text.rpartition(_SEPARATOR)[0]):
        arguments.setdefault("omit", 0)
    streams = len(connections) or len(
        {row["id"] for row in rows if row["role"]} - {"SUM"}
    )
    if streams:
        arguments.setdefault("streams", streams)
    routes = connections or [("", host) for host in _SERVER.findall(text)]
    if routes:
        arguments["path"] = options.classify_route(routes)
    return rename_for_udp(arguments, protocol)


def rename_for_udp(
    arguments: dict[str, t.Any], protocol: str
) -> dict[str, t.Any]:
    """Return the arguments with those of UDP by their own names.

    The rate of UDP is what the client sends, and that of TCP is a limit.
    """
    if protocol != "udp":
        return arguments
    renamed = {
        {"tcp_bitrate": "bitrate", "blksize": "datagram"}.get(key, key): (
            argument
        )
        for key, argument in arguments.items()
    }
    # These are not the defaults of UDP.
    for name, other in (("bitrate", 0), ("datagram", _TCP_BLOCK)):
        if renamed.get(name) == other:
            del renamed[name]
    return {
        key: argument
        for key, argument in renamed.items()
        if key not in ("congestion", "segment")
    }
