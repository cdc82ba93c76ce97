# SPDX-License-Identifier: Apache-2.0
"""Outputs of iperf and iperf3."""

import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.runs.raw_outputs import iperf3_table
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.network import iperf2

_IPERF_ROW = re.compile(
    r"^(?:\[ {0,3}(?P<id>\*?[0-9]{1,5}|SUM(?:-[0-9]{1,5})?)\]\S{0,20} +)?"
    r"(?P<begin>[0-9.]{1,20}) ?- ?(?P<end>[0-9.]{1,20}) sec +"
    r"[0-9.]{1,20} [KMGT]?Bytes? +"
    r"(?P<rate>[0-9.]{1,20}) (?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec\b.*$",
    re.M,
)
#: The shortest run in seconds; a shorter one may be an interval of 1 s.
_SHORTEST = 1.5
#: A segment size that is not set changes the segments, and nothing fails.
_IPERF_FAILURE = re.compile(
    r"^(?!WARNING: attempt to set TCP max).*"
    r"(?:failed|WARNING: did not receive|unable to|refused).*$",
    re.M,
)
#: A row of -y C.
_IPERF_CSV = re.compile(
    r"^[0-9]{14}(?:\.[0-9]{3})?(?:,[0-9A-Fa-f.:%]{0,60},[0-9]{1,5}){2},"
    r"-?[0-9]{1,9},[0-9.]{1,20}-[0-9.]{1,20},",
    re.M,
)
_IPERF_UDP = re.compile(
    r"UDP port|datagram|[0-9] ms +[0-9]{1,12}/ *[0-9]{1,12} \(", re.I
)
_IPERF_CONNECTION = re.compile(
    r"^\[.{1,12}\] local (\S{1,60}) port [0-9]{1,5} connected with "
    r"(\S{1,60}) port.*$",
    re.M,
)
_IPERF_CLIENT = re.compile(r"^Client connecting to ([^\s,]{1,100}),", re.M)
_IPERF_OPTIONS = registry.get_workload("iperf2").TOOL_OPTIONS
_IPERF3_OPTIONS = registry.get_workload("iperf3").TOOL_OPTIONS


def read_iperf(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of all streams over the whole run, of iperf 2."""
    text = iperf3_table.INDENT.sub("", text)
    if _IPERF_CSV.search(text):
        raise raw.error(
            "iperf",
            "this is CSV (-y C), which is not read; run iperf without -y",
        )
    if _IPERF_UDP.search(text):
        raise raw.error(
            "iperf", "this is UDP, whose sent rate says nothing; use TCP"
        )
    if failure := _IPERF_FAILURE.search(text):
        raise raw.error("iperf", f"failed: {failure[0].strip()[:120]}")
    raw.find_direction("iperf", given, "to_peer")
    rows = list(_IPERF_ROW.finditer(text))
    if not rows:
        raise raw.error("iperf", f"has no rate: {raw.describe(text)}")
    direction = raw.find_direction(
        "iperf", given, _find_iperf_direction(text, rows)
    )
    row, streams = _find_iperf_total(text, rows)
    rate = raw.parse_bit_rate(row)
    seconds = float(row["end"]) - float(row["begin"])
    if seconds < _SHORTEST:
        raise raw.error(
            "iperf",
            f"ended after {seconds:g} s, or the output is cut after the first "
            "interval",
        )
    if not rate > 0:
        raise raw.error("iperf", f"{direction} moved nothing in {seconds:g} s")
    arguments = _read_iperf_arguments(text)
    if not arguments.get("bytes"):
        # It is a result otherwise.
        arguments["time"] = round(seconds)
    output = raw.create_output(
        "iperf2",
        {**arguments, "directions": [direction], "streams": streams},
        {iperf2.throughput_metric(direction): rate},
    )
    return [raw.round_rates(output)]


def _find_iperf_direction(text: str, rows: list[re.Match[str]]) -> str:
    """Return the direction of a run of iperf 2, from the view of the client.

    A version that receives from its peer marks the streams with ``*``.

    :raises WorkloadError: If the run had two directions.
    """
    if "Client connecting to" in text and "Server listening on" in text:
        raise raw.error(
            "iperf",
            "is of --dualtest or --tradeoff, or of a client and a server; "
            "give an output of each direction alone",
        )
    streams = [row["id"] for row in rows if row["id"]]
    received = [name for name in streams if name.startswith("*")]
    sent = [name for name in streams if name.isdecimal()]
    if "(full-duplex)" in text or (received and sent):
        raise raw.error(
            "iperf",
            "is of --full-duplex; give an output of each direction alone",
        )
    return "from_peer" if received or "(reverse)" in text else "to_peer"


def _find_iperf_total(
    text: str, rows: list[re.Match[str]]
) -> tuple[re.Match[str], int]:
    """Return the row of all streams over the whole run, and their number.

    :raises WorkloadError: If there is not exactly one.
    """
    begin = min(float(row["begin"]) for row in rows)
    end = max(float(row["end"]) for row in rows)
    # Rows of single intervals are no results of the run.
    whole = [
        row
        for row in rows
        if float(row["begin"]) == begin and float(row["end"]) >= 0.95 * end
    ]
    connections = list(_IPERF_CONNECTION.finditer(text))
    if whole and any(row.start() > whole[0].start() for row in connections):
        raise raw.several_runs("iperf")
    sums = [row for row in whole if str(row["id"]).startswith("SUM")]
    streams = len(whole) - len(sums)
    results = whole if streams == 1 else sums
    if len(results) == 1 and (number := results[0]["id"] or "")[3:]:
        # --sum-only prints the number of streams in place of them.
        streams = int(number.removeprefix("SUM-"))
    if len(results) != 1 or streams < len(connections):
        raise raw.error(
            "iperf",
            f"{streams} of {len(connections)} streams have a result of the "
            "whole run; give the complete output of the client",
        )
    return results[0], streams


def _read_iperf_arguments(text: str) -> dict[str, t.Any]:
    """Return the arguments that an output of iperf 2 states."""
    arguments = _IPERF_OPTIONS.read_output(text, "iperf")
    connections = _IPERF_CONNECTION.findall(text) or [
        ("", host) for host in _IPERF_CLIENT.findall(text)
    ]
    if connections:
        arguments["path"] = options.classify_route(connections)
    return arguments


def read_iperf3(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the retransmits or the loss of iperf3."""
    if '"start"' not in text and '"error"' not in text:
        return iperf3_table.read_table(text, given)
    report = _load_report(text)
    if failure := report.get("error"):
        raise raw.error("iperf3", f"failed: {str(failure)[:200]}")
    start = report["start"]["test_start"]
    protocol = str(start["protocol"]).lower()
    default = "from_peer" if start.get("reverse") else "to_peer"
    direction = raw.find_direction("iperf3", given, default)
    end = report["end"]
    if "sum_received_bidir_reverse" in end:
        raise raw.error(
            "iperf3", "is of --bidir; give an output of each direction alone"
        )
    if protocol == "udp":
        prefix, figures = f"network.iperf3.{direction}.udp", _read_udp(end)
    else:
        prefix, figures = f"network.iperf3.{direction}", _read_tcp(end)
    received = end.get("sum_received") or end.get("sum") or {}
    if seconds := received.get("seconds", 0):
        raw.check_steady("iperf3", seconds)
    if seconds < 0.9 * (start.get("duration") or 0):
        raise raw.error(
            "iperf3", f"ended after {seconds:g} s of {start['duration']} s"
        )
    if not figures["throughput"] > 0:
        raise raw.error("iperf3", f"{direction} moved nothing")
    chosen = {"directions": [direction], "protocol": protocol}
    return [
        raw.create_output(
            "iperf3",
            {**chosen, **_read_iperf3_arguments(report, protocol)},
            {
                raw.find_metric("iperf3", f"{prefix}.{name}", **chosen): figure
                for name, figure in figures.items()
            },
        )
    ]


def _load_report(text: str) -> documents.Json:
    """Return the report of iperf3, also from the events of --json-stream."""
    objects = raw.load_objects("iperf3", text)
    if "event" not in objects[0]:
        return raw.load_object("iperf3", text)
    events = [(event["event"], event.get("data")) for event in objects]
    report = dict(events)
    names = [name for name, _ in events]
    if names.count("start") > 1 or names.count("end") > 1:
        raise raw.several_runs("iperf3")
    if "error" not in report and "end" not in report:
        raise raw.error("iperf3", "the output ends before the event 'end'")
    return report


def _read_tcp(end: documents.Json) -> dict[str, t.Any]:
    """Return rate and retransmits of a TCP run."""
    return {
        "throughput": raw.number(end["sum_received"]["bits_per_second"]),
        "retransmits": end["sum_sent"].get("retransmits"),
    }


def _read_udp(end: documents.Json) -> dict[str, t.Any]:
    """Return the received rate and the loss of a UDP run."""
    if received := end.get("sum_received"):
        rate = raw.number(received["bits_per_second"])
        return {"throughput": rate, "loss": received.get("lost_percent")}
    # Before 3.11, the sum is of what was sent.
    sent = raw.number(end["sum"]["bits_per_second"])
    loss = raw.number(end["sum"]["lost_percent"])
    return {"throughput": sent * (1 - loss / 100), "loss": loss}


def _read_iperf3_arguments(
    report: documents.Json, protocol: str
) -> dict[str, t.Any]:
    """Return the arguments that the JSON of iperf3 states.

    A version that states the limit of the rate states each other option that
    has a value. New ones are zero if they are not given.
    """
    start, test = report["start"], report["start"]["test_start"]
    stated = {
        **{
            key: start[key]
            for key in ("sock_bufsize", "tcp_mss")
            if key in start
        },
        **test,
    }
    if congestion := report["end"].get("sender_tcp_congestion"):
        stated["sender_tcp_congestion"] = congestion
    arguments = _IPERF3_OPTIONS.read(
        {
            key: str(option)
            for key, option in stated.items()
            if option or _IPERF3_OPTIONS.find(key)
        },
        is_complete="target_bitrate" in test,
    )
    connections = [
        (str(connection.get("local_host")), str(connection["remote_host"]))
        for connection in start.get("connected") or ()
        if "remote_host" in connection
    ]
    if connections:
        arguments["path"] = options.classify_route(connections)
    return iperf3_table.rename_for_udp(arguments, protocol)


READERS = (
    raw.RawReader(
        tool="iperf3",
        signature=iperf3_table.SIGNATURE,
        json_texts=(
            *('"sum_received"', '"sum_sent"', '"test_start"'),
            *(f'"error":{space}"' for space in ("", " ", "\t")),
        ),
        searches_lines=False,
        read=read_iperf3,
        version=re.compile(
            r'(?:^|"version":\s{0,4}")(iperf 3[0-9.]{1,20})', re.M
        ),
        given=raw.DIRECTION,
    ),
    raw.RawReader(
        tool="iperf",
        signature=re.compile(
            r"^[ \t]{0,40}(?:Client connecting to |"
            r"Server listening on (?:TCP|UDP) |"
            r"(?:\[[ 0-9A-Z*-]{1,9}\] {0,9})?"
            rf"[0-9.]{{1,20}} ?- ?[0-9.]{{1,20}} sec )|{_IPERF_CSV.pattern}",
            re.M,
        ),
        read=read_iperf,
        given=raw.DIRECTION,
    ),
)
