"""Outputs of iperf, iperf3, ping, sockperf, h2load and wget."""

import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads.network import iperf2
from rally_vmperf.workloads.network import ping

#: The directions that a user can give.
DIRECTIONS = ("to_peer", "from_peer", "guest_to_guest")
_GIVEN = {"direction": " or ".join(DIRECTIONS)}

_IPERF_ROW = re.compile(
    r"^(?:\[ {0,3}(?P<id>\*?[0-9]{1,5}|SUM)\]\S{0,20} +)?"
    r"(?P<begin>[0-9.]{1,20}) ?- ?(?P<end>[0-9.]{1,20}) sec +"
    r"[0-9.]{1,20} [KMGT]?Bytes? +"
    r"(?P<rate>[0-9.]{1,20}) (?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec\b.*$",
    re.M,
)
_IPERF_FAILURE = re.compile(
    r"^.*(?:failed|WARNING: did not receive|unable to|refused).*$", re.M
)


def find_direction(tool: str, given: raw.Given, default: str) -> str:
    """Return the direction that the user gives, or the default."""
    raw.check_given(tool, given, "direction", DIRECTIONS)
    return given.get("direction", default)


def read_iperf(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of all streams over the whole run, of iperf 2."""
    if re.search(r"UDP port|datagram", text):
        raise raw.error(
            "iperf", "this is UDP, whose sent rate says nothing; use TCP"
        )
    if failure := _IPERF_FAILURE.search(text):
        raise raw.error("iperf", f"failed: {failure[0].strip()[:120]}")
    direction = find_direction("iperf", given, "to_peer")
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
    results = whole if len(streams) == 1 else _list_sums(whole)
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
    if not rate > 0:
        raise raw.error("iperf", f"{direction} moved nothing in {seconds:g} s")
    return [
        raw.RawOutput(
            workload="iperf2",
            arguments={
                "directions": [direction],
                "streams": len(streams),
                "time": round(seconds),
            },
            repetitions=(
                raw.create_samples(
                    [iperf2.throughput_metric(direction)], [rate]
                ),
            ),
        )
    ]


def _list_sums(rows: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the rows of the sum of all streams."""
    return [row for row in rows if row["id"] == "SUM"]


def read_iperf3(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the retransmits or the loss in iperf3's JSON."""
    if '"start"' not in text and '"error"' not in text:
        raise raw.error(
            "iperf3", "this is its table; its JSON is required: iperf3 -J"
        )
    report = raw.load_json("iperf3", text)
    if failure := report.get("error"):
        raise raw.error("iperf3", f"failed: {str(failure)[:200]}")
    start = report["start"]["test_start"]
    protocol = str(start.get("protocol", "TCP")).lower()
    default = "from_peer" if start.get("reverse") else "to_peer"
    direction = find_direction("iperf3", given, default)
    prefix = f"network.iperf3.{direction}"
    end = report["end"]
    if "sum_received_bidir_reverse" in end:
        raise raw.error(
            "iperf3", "is of --bidir; give an output of each direction alone"
        )
    figures: dict[str, tuple[str, sample.Better, sample.Scale, t.Any]]
    if protocol == "udp":
        whole = end.get("sum_received") or end["sum"]
        prefix += ".udp"
        figures = {
            "throughput": (
                *("bit/s", "higher", "ratio"),
                whole["bits_per_second"]
                * (1 - whole.get("lost_percent", 0) / 100),
            ),
            "loss": ("%", "lower", "count", whole.get("lost_percent")),
        }
        if "sum_received" in end:
            figures["throughput"] = (
                *("bit/s", "higher", "ratio"),
                end["sum_received"]["bits_per_second"],
            )
    else:
        figures = {
            "throughput": (
                *("bit/s", "higher", "ratio"),
                end["sum_received"]["bits_per_second"],
            ),
            "retransmits": (
                *("1", "lower", "count"),
                end["sum_sent"].get("retransmits"),
            ),
        }
    if not figures["throughput"][-1] > 0:
        raise raw.error("iperf3", f"{direction} moved nothing")
    return [
        raw.RawOutput(
            workload="iperf3",
            arguments={
                "directions": [direction],
                "protocol": protocol,
                "streams": start.get("num_streams"),
                "time": start.get("duration"),
                "omit": start.get("omit"),
            },
            repetitions=(
                raw.create_samples(
                    [
                        sample.Metric(
                            f"{prefix}.{name}", unit, better, scale=scale
                        )
                        for name, (unit, better, scale, _) in figures.items()
                    ],
                    [figure for *_, figure in figures.values()],
                ),
            ),
        )
    ]


_PING_COUNTS = re.compile(
    r"^([0-9]{1,9}) packets transmitted, ([0-9]{1,9}) (?:packets )?received",
    re.M,
)
_PING_TIMES = re.compile(
    r"^(?:rtt|round-trip) min/avg/max(?:/\S{1,10})? = "
    r"([0-9.]{1,20})/([0-9.]{1,20})/([0-9.]{1,20})(?:/[0-9.]{1,20})? ms\b",
    re.M,
)
_PING_STAMP = re.compile(r"^\[[0-9]{1,12}\.[0-9]{1,9}\] ", re.M)
_PING_DUPLICATES = re.compile(r", \+([0-9]{1,9}) duplicates")
_PING_SIZE = re.compile(r"^PING .*? ([0-9]{1,6})(?:\([0-9]+\))?", re.M)


def read_ping(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the latencies of ping; without replies, those of its end."""
    direction = find_direction("ping", given, "to_peer")
    counts = _PING_COUNTS.findall(text)
    size = _PING_SIZE.search(text)
    if len(counts) != 1:
        raise raw.error("ping", "the counts must be once at its end")
    text = _PING_STAMP.sub("", text)
    count, received = map(int, counts[0])
    duplicates = _PING_DUPLICATES.search(text)
    if duplicates and int(duplicates[1]) >= received:
        raise raw.error("ping", "several machines answered; use one address")
    if not received:
        raise raw.error("ping", f"none of {count} packets was answered")
    prefix = f"network.ping.{direction}"
    if "icmp_seq=" in text and "rtt min" in text:
        times = ping.parse_latencies(
            text, direction, count, int(size[1]) if size else 56
        )
        values = {
            "latency_min": times[0],
            "latency_mean": sum(times) / len(times),
            "latency_p50": ping.find_percentile(times, 50),
            "latency_p95": ping.find_percentile(times, 95),
            "latency_max": times[-1],
        }
        received = len(times)
    elif summary := _PING_TIMES.search(text):
        values = {
            f"latency_{name}": float(value) / 1000
            for name, value in zip(
                ("min", "mean", "max"), summary.groups(), strict=True
            )
        }
    else:
        raise raw.error("ping", "has no latencies at its end")
    return [
        raw.RawOutput(
            workload="ping",
            arguments={
                "directions": [direction],
                "count": count,
                **({"size": int(size[1])} if size else {}),
            },
            repetitions=(
                raw.create_samples(
                    [
                        *(
                            sample.Metric(f"{prefix}.{name}", "s", "lower")
                            for name in values
                        ),
                        sample.Metric(
                            f"{prefix}.loss", "%", "lower", scale="count"
                        ),
                    ],
                    [*values.values(), (count - received) / count * 100],
                ),
            ),
        )
    ]


_SOCKPERF_RUN = re.compile(
    r"^sockperf: \[Valid Duration\] RunTime=([0-9.]+) sec; "
    r"SentMessages=([0-9]+); ReceivedMessages=([0-9]+)",
    re.M,
)
_SOCKPERF_MEAN = re.compile(
    r"^sockperf: =+> avg-(rtt|lat\w*)= *([0-9.]+)", re.M
)
_SOCKPERF_SHARE = re.compile(
    r"^sockperf: ---> percentile ([0-9.]+) = *([0-9]+\.[0-9]{3,9})$", re.M
)


def read_sockperf(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate and the round-trip times of sockperf ping-pong."""
    direction = find_direction("sockperf", given, "to_peer")
    run, mean = _SOCKPERF_RUN.search(text), _SOCKPERF_MEAN.search(text)
    percentiles = {
        float(share): float(value)
        for share, value in _SOCKPERF_SHARE.findall(text)
    }
    # The median is the last of them that is read.
    if not (run and mean and 50 in percentiles and float(run[1]) > 0):
        raise raw.error("sockperf", "the report is not complete")
    if int(run[3]) < 0.9 * int(run[2]):
        raise raw.error("sockperf", f"{run[2]} messages, {run[3]} answers")
    # Without --full-rtt it prints half of the round trip.
    factor = 1e-6 if mean[1] == "rtt" else 2e-6
    shares = {
        f"latency_p{share:g}".replace(".", "_"): percentiles[share] * factor
        for share in (99.9, 99, 90, 50)
        if share in percentiles
    }
    figures = {"latency_mean": float(mean[2]) * factor, **shares}
    prefix = f"network.sockperf.{direction}"
    protocol = re.search(r"# (TCP|UDP)$", text, re.M)
    return [
        raw.RawOutput(
            workload="sockperf",
            arguments={
                "directions": [direction],
                **({"protocol": protocol[1].lower()} if protocol else {}),
            },
            repetitions=(
                raw.create_samples(
                    [
                        sample.Metric(f"{prefix}.rate", "ops/s", "higher"),
                        *(
                            sample.Metric(f"{prefix}.{name}", "s", "lower")
                            for name in figures
                        ),
                    ],
                    [int(run[3]) / float(run[1]), *figures.values()],
                ),
            ),
        )
    ]


_H2LOAD_RATE = re.compile(
    r"^finished in ([0-9.]+)(us|ms|s|m), ([0-9.]+) req/s", re.M
)
_H2LOAD_COUNTS = re.compile(
    r"^requests: ([0-9]+) total, .* ([0-9]+) succeeded, ([0-9]+) failed, "
    r"([0-9]+) errored",
    re.M,
)
_H2LOAD_TIME = re.compile(
    r"^time for request: +\S+ +\S+ +([0-9.]+)(us|ms|s|m) +\S", re.M
)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def read_h2load(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the mean time and the failures of h2load."""
    rate, counts = _H2LOAD_RATE.search(text), _H2LOAD_COUNTS.search(text)
    mean = _H2LOAD_TIME.search(text)
    if rate is None or counts is None or not int(counts[2]):
        raise raw.error("h2load", "no request succeeded")
    prefix = "network.h2load"
    return [
        raw.RawOutput(
            workload="h2load",
            arguments={},
            repetitions=(
                raw.create_samples(
                    [
                        sample.Metric(f"{prefix}.rate", "ops/s", "higher"),
                        sample.Metric(
                            f"{prefix}.response_time_mean", "s", "lower"
                        ),
                        sample.Metric(
                            f"{prefix}.failed_requests",
                            "1",
                            "lower",
                            scale="count",
                        ),
                    ],
                    [
                        float(rate[3]),
                        float(mean[1]) * _SECONDS[mean[2]] if mean else None,
                        int(counts[1]) - int(counts[2]),
                    ],
                ),
            ),
        )
    ]


READERS = (
    raw.Reader(
        tool="iperf3",
        signature=re.compile(
            r'"(?:sum_received|sum_sent|test_start)"|^iperf3: |'
            r"^\[ ID\] Interval +Transfer +Bitrate|Cwnd$|^\[.{1,4}\] .* "
            r"(?:sender|receiver)$|"
            r'^\s*"error":\s*"',
            re.M,
        ),
        read=read_iperf3,
        given=_GIVEN,
    ),
    raw.Reader(
        tool="iperf",
        signature=re.compile(
            r"^(?:Client connecting to|Server listening on) |"
            r"^(?:\[[ 0-9A-Z*]{1,5}\])? *[0-9.]+ ?- ?[0-9.]+ sec ",
            re.M,
        ),
        read=read_iperf,
        given=_GIVEN,
    ),
    raw.Reader(
        tool="ping",
        signature=re.compile(r"^PING |packets transmitted, ", re.M),
        read=read_ping,
        given=_GIVEN,
    ),
    raw.Reader(
        tool="sockperf",
        signature=re.compile(r"^sockperf: ", re.M),
        read=read_sockperf,
        given=_GIVEN,
    ),
    raw.Reader(
        tool="h2load",
        signature=re.compile(r"^finished in \S+, \S+ req/s", re.M),
        read=read_h2load,
    ),
)
