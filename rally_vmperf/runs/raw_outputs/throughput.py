"""Outputs of iperf and iperf3."""

import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads.network import iperf2

_IPERF_ROW = re.compile(
    r"^(?:\[ {0,3}(?P<id>\*?[0-9]{1,5}|SUM)\]\S{0,20} +)?"
    r"(?P<begin>[0-9.]{1,20}) ?- ?(?P<end>[0-9.]{1,20}) sec +"
    r"[0-9.]{1,20} [KMGT]?Bytes? +"
    r"(?P<rate>[0-9.]{1,20}) (?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec\b.*$",
    re.M,
)
#: The shortest run in seconds; a shorter one may be an interval of 1 s.
_SHORTEST = 1.5
#: The shortest run in seconds of which iperf3 states the exact time.
_SHORTEST_JSON = 0.5
_LOOPBACK = re.compile(r"127\.|::1$|::ffff:127\.")
_IPERF_FAILURE = re.compile(
    r"^.*(?:failed|WARNING: did not receive|unable to|refused).*$", re.M
)


def read_iperf(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of all streams over the whole run, of iperf 2."""
    if re.search(r"UDP port|datagram", text):
        raise raw.error(
            "iperf", "this is UDP, whose sent rate says nothing; use TCP"
        )
    if failure := _IPERF_FAILURE.search(text):
        raise raw.error("iperf", f"failed: {failure[0].strip()[:120]}")
    direction = raw.find_direction("iperf", given, "to_peer")
    rows = list(_IPERF_ROW.finditer(text))
    if not rows:
        raise raw.error("iperf", f"has no rate: {raw.describe(text)}")
    begin = min(float(row["begin"]) for row in rows)
    end = max(float(row["end"]) for row in rows)
    # Rows of single intervals are no results of the run.
    whole = [
        row
        for row in rows
        if float(row["begin"]) == begin and float(row["end"]) >= 0.95 * end
    ]
    streams = [row for row in whole if row["id"] != "SUM"]
    connections = len(re.findall(r"^\[.{1,40} connected with ", text, re.M))
    sums = [row for row in whole if row["id"] == "SUM"]
    results = whole if len(streams) == 1 else sums
    if len(results) != 1 or len(streams) < connections:
        raise raw.error(
            "iperf",
            f"{len(streams)} of {connections} streams have a result of the "
            "whole run; give the complete output of the client",
        )
    (row,) = results
    powers = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
    power = powers[row["prefix"]]
    # Bytes are counted in powers of 1024.
    factor = 8 * 1024**power if row["unit"] == "Bytes" else 1000**power
    rate, seconds = float(row["rate"]) * factor, end - begin
    if seconds < _SHORTEST:
        raise raw.error(
            "iperf",
            f"ended after {seconds:g} s, or the output is cut after the first "
            "interval",
        )
    if not rate > 0:
        raise raw.error("iperf", f"{direction} moved nothing in {seconds:g} s")
    return [
        raw.create_output(
            "iperf2",
            {
                "directions": [direction],
                "streams": len(streams),
                "time": round(seconds),
            },
            {iperf2.throughput_metric(direction): rate},
        )
    ]


def read_iperf3(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the retransmits or the loss in iperf3's JSON."""
    if '"start"' not in text and '"error"' not in text:
        raise raw.error(
            "iperf3", "this is its table; its JSON is required: iperf3 -J"
        )
    report = raw.load_object("iperf3", text)
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
    if 0 < received.get("seconds", 0) < _SHORTEST_JSON:
        raise raw.error(
            "iperf3",
            f"ended after {received['seconds']:.3g} s, in which TCP has no "
            "steady rate",
        )
    if received.get("seconds", 0) < 0.9 * (start.get("duration") or 0):
        raise raw.error(
            "iperf3",
            f"ended after {received.get('seconds', 0):g} s of "
            f"{start['duration']} s",
        )
    if not figures["throughput"] > 0:
        raise raw.error("iperf3", f"{direction} moved nothing")
    chosen = {"directions": [direction], "protocol": protocol}
    return [
        raw.create_output(
            "iperf3",
            {
                **chosen,
                "streams": start.get("num_streams"),
                "time": start.get("duration"),
                "omit": start.get("omit"),
                "blksize": start.get("blksize"),
                **_read_bitrate(protocol, start),
                **_read_connection(report["start"]),
            },
            {
                raw.find_metric("iperf3", f"{prefix}.{name}", **chosen): figure
                for name, figure in figures.items()
            },
        )
    ]


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


def _read_bitrate(
    protocol: str, start: t.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return the rate that the client does not exceed; {} without one."""
    bitrate = start.get("target_bitrate")
    if protocol == "udp":
        return {"bitrate": bitrate} if bitrate else {}
    return {} if bitrate is None else {"target_bitrate": bitrate}


def _read_connection(start: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return what the output states of its connection, a dict.

    Addresses are not compared, but a guest that measures its own loopback has
    no network on its way.
    """
    arguments: dict[str, t.Any] = {}
    if "sock_bufsize" in start:
        arguments["socket_buffer"] = start["sock_bufsize"]
    hosts = {
        str(connection.get("remote_host", ""))
        for connection in start.get("connected") or ()
    }
    if hosts:
        is_local = any(map(_LOOPBACK.match, hosts))
        arguments["path"] = "loopback" if is_local else "network"
    return arguments


READERS = (
    raw.Reader(
        tool="iperf3",
        signature=re.compile(
            r"^iperf3: |^\[ ID\] Interval +Transfer +Bitrate|Cwnd$|"
            r"^\[.{1,4}\] .* (?:sender|receiver)$",
            re.M,
        ),
        json_texts=(
            *('"sum_received"', '"sum_sent"', '"test_start"'),
            *(f'"error":{space}"' for space in ("", " ", "\t")),
        ),
        searches_lines=False,
        read=read_iperf3,
        given=raw.DIRECTION,
    ),
    raw.Reader(
        tool="iperf",
        signature=re.compile(
            r"^(?:Client connecting to|Server listening on) |"
            r"^(?:\[[ 0-9A-Z*]{1,5}\])? *[0-9.]+ ?- ?[0-9.]+ sec ",
            re.M,
        ),
        read=read_iperf,
        given=raw.DIRECTION,
    ),
)
