# SPDX-License-Identifier: Apache-2.0
"""Outputs of ping, sockperf, h2load and wget."""

import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.network import ping

_PING_COUNTS = re.compile(
    r"^([0-9]{1,9}) packets transmitted, ([0-9]{1,9}) (?:packets )?received",
    re.M,
)
_PING_TIMES = re.compile(
    r"^(?:rtt|round-trip) min/avg/max(?:/\S{1,10})? = "
    r"([0-9.]{1,20})/([0-9.]{1,20})/([0-9.]{1,20})(?:/[0-9.]{1,20})? ms\b",
    re.M,
)
#: The last line; a terminal shows a prompt behind it.
_PING_END = re.compile(r"^rtt min/avg/max/.*\n", re.M)
_PING_TOTAL = re.compile(
    r"^[0-9]{1,9} packets transmitted, .*, time ([0-9]{1,10}) ?ms$", re.M
)
#: The shortest interval in seconds that timers keep, and the largest relative
#: difference from it.
_SHORTEST_INTERVAL, _MAX_INTERVAL_ERROR = 0.1, 0.03
#: The end of a run without a fixed interval: flood (-f) or adaptive (-A).
_PING_FLOOD = re.compile(r"^(?:rtt |round-trip |pipe ).*\bipg/ewma ", re.M)
_PING_STAMP = re.compile(r"^\[[0-9]{1,12}\.[0-9]{1,9}\] ", re.M)
#: The name of the machine that answered, before its address.
_PING_NAME = re.compile(
    r"^([0-9]{1,6} bytes from )\S{1,255} (?=\([^\s()]{1,60}\): icmp_seq=)",
    re.M,
)
_PING_DUPLICATES = re.compile(r", \+([0-9]{1,9}) duplicates")
#: The counts in another language, such as "3 Pakete übertragen, 3 empfangen".
_PING_FOREIGN = re.compile(
    r"^[0-9]{1,9} (?!packets )[^\d\s,]{2,40}.{0,60}, [0-9]{1,9} .{1,60}"
    r"[0-9.,]{1,8} ?%",
    re.M,
)
_PING_WINDOWS = re.compile(
    r"^Pinging .* with [0-9]+ bytes of data:"
    r"|^\w{1,20} .{1,80}=32 .{1,40} TTL=[0-9]{1,3}$"
    r"|^ *Packets: Sent = [0-9]+, Received = |in milli-seconds:$",
    re.M,
)
_PING_SIZE = re.compile(
    r"^PING \S.{1,300}? ([0-9]{1,6})(?:\([0-9]{1,6}\)|(?= data| bytes|$))",
    re.M,
)


def _list_options(tool: str, text: str) -> dict[str, t.Any]:
    """Return the arguments that an output and a command line state."""
    return registry.get_workload(tool).TOOL_OPTIONS.read_output(text, tool)


def read_ping(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the latencies of ping; without replies, those of its end."""
    direction = raw.find_direction("ping", given, "to_peer")
    counts = _PING_COUNTS.findall(text)
    size = _PING_SIZE.search(text)
    if len(counts) != 1:
        raise raw.error("ping", _explain_counts(text, len(counts)))
    text = _PING_NAME.sub(r"\1", _PING_STAMP.sub("", text))
    if end := _PING_END.search(text):
        text = text[: end.end()]
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
    loss = sample.Metric(f"{prefix}.loss", "%", "lower", scale="count")
    return [
        raw.create_output(
            "ping",
            {
                **_read_ping_options(text, count),
                "directions": [direction],
                "count": count,
                **({"size": int(size[1])} if size else {}),
            },
            {
                **_name_times(prefix, values),
                loss: (count - received) / count * 100,
            },
        )
    ]


def _explain_counts(text: str, number: int) -> str:
    """Return why an output of ping has no counts, or several.

    :param number: The number of lines with counts.
    """
    if not number and _PING_FOREIGN.search(text):
        return "the output is not in English; run ping with LC_ALL=C"
    if _PING_WINDOWS.search(text):
        return (
            "this is ping of Windows, whose times are in whole ms; use ping "
            "of Linux, or sockperf"
        )
    return "the counts must be once at its end"


def _read_ping_options(text: str, count: int) -> dict[str, t.Any]:
    """Return the arguments that an output and a command line of ping state.

    A run that sends a packet after each answer has the interval 0, which its
    command line need not state.
    """
    stated = _list_options("ping", text)
    if not _PING_FLOOD.search(text):
        return {**_find_ping_interval(text, count), **stated}
    default = ping.Ping.TOOL_OPTIONS.read({}, is_complete=True)["interval"]
    if stated.get("interval", default) == default:
        stated["interval"] = 0.0
    return stated


def _find_ping_interval(text: str, count: int) -> dict[str, t.Any]:
    """Return the time between two packets as an argument, if it is usual.

    A short interval depends on the timers and on the answers. Others are
    rounded to one digit, as users set them.
    """
    total = _PING_TOTAL.search(text)
    if total is None or count < 2:
        return {}
    seconds = int(total[1]) / 1000 / (count - 1)
    usual = float(f"{seconds:.1g}")
    is_usual = abs(seconds - usual) <= _MAX_INTERVAL_ERROR * usual
    is_known = is_usual and usual >= _SHORTEST_INTERVAL
    return {"interval": usual} if is_known else {}


def _name_times(prefix: str, times: dict[str, float]) -> raw.Figures:
    """Return times in seconds, by metric.

    :param prefix: The beginning of the names of the metrics.
    """
    return {
        sample.Metric(f"{prefix}.{name}", "s", "lower"): seconds
        for name, seconds in times.items()
    }


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


#: A command line of under-load, and the option with its rate.
_SOCKPERF_UNDER_LOAD = re.compile(
    r"\bsockperf (?:under-load|ul) (.{0,1000})$", re.M
)
_SOCKPERF_MPS = re.compile(r"(?:^| )--[mp]ps[ =]")
#: The messages per second of under-load by default.
_SOCKPERF_DEFAULT_RATE = 10000
_SOCKPERF_THROUGHPUT = re.compile(
    r"^sockperf: Summary: (?:Message Rate|BandWidth) is ", re.M
)


def read_sockperf(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate and the round-trip times of sockperf ping-pong."""
    direction = raw.find_direction("sockperf", given, "to_peer")
    run, mean = _SOCKPERF_RUN.search(text), _SOCKPERF_MEAN.search(text)
    percentiles = {
        float(share): float(value)
        for share, value in _SOCKPERF_SHARE.findall(text)
    }
    if len(_SOCKPERF_RUN.findall(text)) > 1:
        raise raw.several_runs("sockperf")
    if _SOCKPERF_THROUGHPUT.search(text):
        raise raw.error(
            "sockperf",
            "only ping-pong is read, and this is throughput; run sockperf "
            "ping-pong, or iperf3",
        )
    # The median is the last percentile that is read.
    if not (run and mean and 50 in percentiles and float(run[1]) > 0):
        raise raw.error("sockperf", "the report is not complete")
    if int(run[3]) < 0.9 * int(run[2]):
        raise raw.error(
            "sockperf",
            f"{run[3]} of {run[2]} messages have an answer; if this is "
            "under-load, add --reply-every 1, or run sockperf ping-pong",
        )
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
    rate = sample.Metric(f"{prefix}.rate", "ops/s", "higher")
    return [
        raw.create_output(
            "sockperf",
            {
                **_list_options("sockperf", text),
                **_find_default_rate(text),
                "directions": [direction],
                **({"protocol": protocol[1].lower()} if protocol else {}),
            },
            {
                rate: int(run[3]) / float(run[1]),
                **_name_times(prefix, figures),
            },
        )
    ]


def _find_default_rate(text: str) -> dict[str, t.Any]:
    """Return the rate of under-load if its command line has none."""
    lines = _SOCKPERF_UNDER_LOAD.findall(text)
    if not lines or any(map(_SOCKPERF_MPS.search, lines)):
        return {}
    return {"rate": _SOCKPERF_DEFAULT_RATE}


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
_H2LOAD_THREAD = re.compile(r"^spawning thread #[0-9]{1,4}: ", re.M)
_H2LOAD_CIPHER = re.compile(r"^Cipher: (\S{1,60})$", re.M)
#: The bytes of all pages, without headers.
_H2LOAD_DATA = re.compile(r"^traffic: .* \(([0-9]{1,20})\) data$", re.M)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def read_h2load(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate, the mean time and the failures of h2load."""
    text = text.expandtabs()
    rate, counts = _H2LOAD_RATE.search(text), _H2LOAD_COUNTS.search(text)
    mean = _H2LOAD_TIME.search(text)
    if rate is None or counts is None or not int(counts[2]):
        raise raw.error("h2load", "no request succeeded")
    if len(_H2LOAD_RATE.findall(text)) > 1:
        raise raw.several_runs("h2load")
    total, succeeded = int(counts[1]), int(counts[2])
    figures = {
        # h2load counts failed requests, too.
        "rate": float(rate[3]) * succeeded / total,
        "response_time_mean": float(mean[1]) * _SECONDS[mean[2]]
        if mean
        else None,
        "failed_requests": total - succeeded,
    }
    return [
        raw.create_output(
            "h2load",
            _read_h2load_arguments(text),
            {
                raw.find_metric("h2load", f"network.h2load.{name}"): figure
                for name, figure in figures.items()
            },
        )
    ]


def _read_h2load_arguments(text: str) -> dict[str, t.Any]:
    """Return the arguments that an output of h2load states.

    The number of requests of a run with a duration is a result.
    """
    arguments = _list_options("h2load", text)
    if threads := _H2LOAD_THREAD.findall(text):
        arguments["threads"] = len(threads)
    if cipher := _H2LOAD_CIPHER.search(text):
        arguments["cipher"] = cipher[1]
    counts, content = _H2LOAD_COUNTS.search(text), _H2LOAD_DATA.search(text)
    if counts and content and counts[1] == counts[2]:
        size, rest = divmod(int(content[1]), int(counts[1]))
        # Pages of several sizes have a rest.
        arguments.update({} if rest else {"page_bytes": size})
    if re.search(r"^Progress of |Main benchmark duration", text, re.M):
        arguments.pop("requests", None)
    if "application_protocol" in arguments:
        arguments["tls"] = "TLS Protocol: " in text
    for argv in options.find_commands(text, "h2load"):
        for uri in argv:
            if "://" in uri:
                arguments["path"] = options.classify_host(uri)
    return arguments


_WGET_SAVED = re.compile(
    r"^[0-9]{4}-[0-9-]{5} [0-9:]{8} \((?P<rate>[0-9.]{1,9}) "
    r"(?P<prefix>[KMG]?)B/s\) - (?:.{1,300} saved|written to stdout) "
    r"\[(?P<saved>[0-9]{1,20})(?:/(?P<length>[0-9]{1,20}))?\]$",
    re.M,
)
_WGET_URL = re.compile(r"^--[0-9].*-- {1,2}(http|ftp)(s?)://", re.M)


def read_wget(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rate of each file that wget saved; it has three digits."""
    urls = _WGET_URL.findall(text)
    protocols = {protocol for protocol, _ in urls}
    files = list(_WGET_SAVED.finditer(text))
    if not files:
        raise raw.error("wget", "has no saved file")
    if len(protocols) != 1:
        raise raw.error(
            "wget",
            "must have the URLs of one protocol, http or ftp; give the "
            "complete output",
        )
    if any(
        (download["length"] or download["saved"]) != download["saved"]
        for download in files
    ):
        raise raw.error("wget", "did not save the whole file")
    (protocol,) = protocols
    metric = raw.find_metric(
        "wget", f"network.wget.{protocol}.throughput", protocols=[protocol]
    )
    factors = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return [
        raw.create_output(
            "wget",
            {
                **_list_options("wget", text),
                "protocols": [protocol],
                # The last URL has the file, behind redirections.
                "tls": bool(urls[-1][1]),
                "bytes": int(download["saved"]),
            },
            {metric: float(download["rate"]) * factors[download["prefix"]]},
        )
        for download in files
    ]


READERS = (
    raw.RawReader(
        tool="ping",
        signature=re.compile(
            rf"^PING |packets transmitted, |{_PING_WINDOWS.pattern}", re.M
        ),
        read=read_ping,
        given=raw.DIRECTION,
    ),
    raw.RawReader(
        tool="sockperf",
        signature=re.compile(r"^sockperf: ", re.M),
        read=read_sockperf,
        version=re.compile(r"== version #([\w.-]{1,40}) ==", re.M),
        given=raw.DIRECTION,
    ),
    raw.RawReader(
        tool="wget",
        signature=re.compile(
            r"^[0-9-]{10} [0-9:]{8} \(.* (?:saved|written to stdout) \[",
            re.M,
        ),
        read=read_wget,
    ),
    raw.RawReader(
        tool="h2load",
        signature=re.compile(r"^finished in \S+, \S+ req/s", re.M),
        read=read_h2load,
    ),
)
