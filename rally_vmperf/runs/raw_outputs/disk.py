"""Outputs of dd, fio and iozone."""

import collections
import collections.abc
import json
import re
import statistics
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads.disk import dd
from rally_vmperf.workloads.disk import iozone

_DD_COMMAND = re.compile(
    r"^(?:.*[ #$])?dd((?: [a-z]{1,9}=\S{1,200})+) *(?:[;|&2].*)?$", re.M
)
#: The counts and the summary, or a summary alone.
_DD_SUMMARY = re.compile(
    r"^(?:(?P<read>[0-9]{1,15})\+[01] records in\n"
    r"(?P<wrote>[0-9]{1,15})\+[01] records out\n"
    r"(?:[0-9]{1,15} truncated records?\n)?)?"
    r"(?P<bytes>[0-9]{1,20}) bytes? ?(?:\([^()\n]{1,60}\) ?)?"
    r"(?:copied|transferred in),? ?(?P<seconds>[0-9.]{1,20}) "
    r"s(?:ec(?:ond)?s?)?\b.*$",
    re.M,
)
_DD_RECORDS = re.compile(r"^[0-9]{1,15}\+[0-9] records out$", re.M)
_DD_ERROR = re.compile(r"^dd: ((?:error|failed|writing|reading).*)$", re.M)
#: Records in another language, and decimal commas.
_DD_FOREIGN = re.compile(r"[0-9]{1,15}\+[01]|[0-9],[0-9]+ s, ")
_SUFFIXES = {
    **{"": 1, "c": 1, "w": 2, "b": 512},
    **{letter: 1 << 10 * n for n, letter in enumerate("kMGT", 1)},
    **{f"{letter}B": 1000**n for n, letter in enumerate(("k", "M", "G"), 1)},
    **{f"{letter}iB": 1 << 10 * n for n, letter in enumerate("KMG", 1)},
    "K": 1 << 10,
}
_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")
_SINKS = ("/dev/null", "/dev/zero")


def read_dd(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates in dd's summaries, each of which is a repetition."""
    if failure := _DD_ERROR.search(text):
        raise raw.error("dd", f"failed: {failure[1]}")
    commands = {
        tuple(command.split()) for command in _DD_COMMAND.findall(text)
    }
    if len(commands) > 1:
        raise raw.error(
            "dd",
            f"{len(commands)} different command lines are in one output; "
            "give each its own file",
        )
    operands = dict(
        word.split("=", 1) for command in commands for word in command
    )
    raw.check_given("dd", given, "direction", dd.DIRECTIONS)
    direction = given.get("direction") or _find_direction(operands)
    summaries = list(_DD_SUMMARY.finditer(text))
    if _DD_RECORDS.search(text):
        # The others are progress.
        summaries = [one for one in summaries if one["wrote"]]
    if not summaries:
        remedy = (
            "the output is not in English; run dd with LC_ALL=C"
            if _DD_FOREIGN.search(text)
            else f"there is no summary in {raw.describe(text)}"
        )
        raise raw.error("dd", remedy)
    if len({summary[0] for summary in summaries}) < len(summaries):
        raise raw.error(
            "dd",
            "the output contains a summary twice, with the same seconds; "
            "remove the copy",
        )
    arguments = _read_dd_arguments(operands)
    block, count = _parse_size(operands.get("bs", "")), arguments.get("count")
    size = block * count if block and count else 0
    metric = raw.find_metric(
        "dd", f"disk.dd.{direction}.bandwidth", directions=[direction]
    )
    return [
        raw.RawOutput(
            workload="dd",
            arguments={"directions": [direction], **arguments},
            repetitions=tuple(
                raw.create_samples([metric], [_compute_rate(one, size)])
                for one in summaries
            ),
        )
    ]


def _find_direction(operands: collections.abc.Mapping[str, str]) -> str:
    """Return the direction that both operands tell."""
    source, sink = operands.get("if", ""), operands.get("of", "")
    if sink in _SINKS:
        return "read"
    if source in _SOURCES:
        return "write"
    raise raw.error(
        "dd",
        "the output does not tell whether dd wrote or read; give "
        "dd:direction=write=FILE or dd:direction=read=FILE",
    )


def _compute_rate(summary: re.Match[str], size: int) -> float:
    """Return the bytes per second of a summary.

    :param size: The bytes of the command line; 0 if unknown.
    """
    copied, seconds = int(summary["bytes"]), float(summary["seconds"])
    if summary["read"] != summary["wrote"]:
        raise raw.error(
            "dd", f"read {summary['read']} and wrote {summary['wrote']} blocks"
        )
    if size and copied != size:
        raise raw.error("dd", f"copied {copied} bytes instead of {size}")
    if not seconds > 0:
        raise raw.error("dd", f"took {seconds:g} s")
    return copied / seconds


def _parse_size(text: str) -> int:
    """Return the bytes of an operand such as ``1M``; 0 if it is unclear."""
    match = re.fullmatch(r"([0-9]{1,15})([A-Za-z]{0,3})", text)
    if match is None:
        return 0
    return int(match[1]) * _SUFFIXES.get(match[2], 0)


def _format_size(text: str) -> str:
    """Return a size in its shortest form, so that equal sizes are equal."""
    size = _parse_size(text)
    if not size:
        return text
    for suffix, factor in (("M", 1 << 20), ("k", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def _read_dd_arguments(
    operands: collections.abc.Mapping[str, str],
) -> dict[str, t.Any]:
    """Return the arguments in a command line of dd; {} without one."""
    if not operands:
        return {}
    flags = {
        flag
        for key in ("conv", "oflag", "iflag")
        for flag in operands.get(key, "").split(",")
    }
    arguments: dict[str, t.Any] = {
        "sync": next(
            (
                kind
                for kind in ("fdatasync", "fsync", "dsync")
                if kind in flags
            ),
            "none",
        ),
        "direct": "direct" in flags,
    }
    if "sync" in operands.get("oflag", "").split(","):
        arguments["sync"] = "sync"
    if "bs" in operands:
        arguments["block_size"] = _format_size(operands["bs"])
    if operands.get("count", "").isdecimal():
        arguments["count"] = int(operands["count"])
    return arguments


#: Options of fio -> our arguments.
_FIO_OPTIONS = {
    "rw": "pattern",
    "bs": "block_size",
    "iodepth": "depth",
    "numjobs": "jobs",
    "direct": "direct",
    "ioengine": "ioengine",
    "runtime": "runtime",
    "size": "size",
    "rwmixread": "read_percent",
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    "sync": "sync",
}
_FIO_ALIASES = {"readwrite": "rw", "blocksize": "bs"}
_FIO_KINDS = ("iops", "bandwidth", "latency_mean")
#: Percentiles of fio -> ours.
_FIO_PERCENTILES = {
    f"{percent:.6f}": sample.percentile_name("latency", percent)
    for percent in sample.PERCENTILES
}


def read_fio(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the figures of the jobs in fio's JSON, as one repetition."""
    report = load_json("fio", text)
    shared = _rename_options(report.get("global options") or {})
    by_job: dict[str, list[documents.Json]] = {}
    for job in report["jobs"]:
        if failure := job.get("error"):
            raise raw.error(
                "fio", f"job {job.get('jobname')} ended with error {failure}"
            )
        by_job.setdefault(str(job.get("jobname", "job")), []).append(job)
    options = {
        name: {**shared, **_rename_options(jobs[0].get("job options") or {})}
        for name, jobs in by_job.items()
    }
    is_single = len(by_job) == 1
    results: list[raw.RawOutput] = []
    for name, jobs in by_job.items():
        sides = [
            side
            for side in ("read", "write")
            if any(job.get(side, {}).get("total_ios") for job in jobs)
        ]
        pattern = options[name].get("rw") or "".join(sides)
        label = pattern if is_single else _clean_name(name)
        for side in sides:
            metric = f"{label}.{side}" if len(sides) > 1 else label
            results.append(
                raw.RawOutput(
                    workload="fio",
                    arguments=_read_fio_arguments(options[name]),
                    repetitions=(
                        _read_fio_side(
                            metric, [job[side] for job in jobs if side in job]
                        ),
                    ),
                )
            )
    if not results:
        raise raw.error("fio", "did not do any I/O")
    return results


def _rename_options(options: documents.Json) -> dict[str, str]:
    """Return the options of fio by their usual names."""
    return {
        _FIO_ALIASES.get(key, key): str(option)
        for key, option in options.items()
    }


def _read_fio_arguments(
    options: collections.abc.Mapping[str, str],
) -> dict[str, t.Any]:
    """Return the arguments in the options of a job of fio."""
    arguments: dict[str, t.Any] = {
        _FIO_OPTIONS[key]: option
        for key, option in options.items()
        if key in _FIO_OPTIONS
    }
    for key in ("depth", "jobs"):
        if arguments.get(key, "").isdecimal():
            arguments[key] = int(arguments[key])
    if "direct" in arguments:
        arguments["direct"] = arguments["direct"] in ("1", "true")
    for key in ("block_size", "size"):
        if key in arguments:
            arguments[key] = _format_size(arguments[key].rstrip("bB"))
    return arguments


def _clean_name(name: str) -> str:
    """Return the name of a job as a part of a metric's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:64] or "job"


def _read_fio_side(label: str, sides: list[documents.Json]) -> raw.Samples:
    """Return the samples of reads or writes, added up over processes."""
    requests = [float(side.get("total_ios") or 0) for side in sides]
    rates = [float(side.get("iops") or 0) for side in sides]
    bandwidths = [
        float(side.get("bw_bytes") or 1024 * float(side.get("bw") or 0))
        for side in sides
    ]
    latencies = [_find_latency(side) for side in sides]
    known = [
        (mean, weight)
        for (mean, _), weight in zip(latencies, requests, strict=True)
        if mean and weight
    ]
    figures: dict[str, float | None] = {
        "iops": sum(rates),
        "bandwidth": sum(bandwidths),
        "latency_mean": statistics.fmean(*zip(*known, strict=True))
        if known
        else None,
    }
    if len(sides) == 1:
        figures |= latencies[0][1]
    units = {"iops": ("ops/s", "higher"), "bandwidth": ("B/s", "higher")}
    metrics = []
    for name in figures:
        unit, better = units.get(name, ("s", "lower"))
        metrics.append(
            sample.Metric(
                f"disk.fio.{label}.{name}", unit, t.cast(sample.Better, better)
            )
        )
    return raw.create_samples(metrics, figures.values())


def _find_latency(
    side: documents.Json,
) -> tuple[float | None, dict[str, float]]:
    """Return the mean latency in seconds, and the percentiles by name."""
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        latency = side.get(key)
        if isinstance(latency, dict) and latency.get("mean"):
            percentiles = latency.get("percentile") or {}
            return float(latency["mean"]) * factor, {
                name: float(percentiles[percent]) * factor
                for percent, name in _FIO_PERCENTILES.items()
                if percentiles.get(percent)
            }
    return None, {}


def load_json(tool: str, text: str) -> dict[str, t.Any]:
    """Return the last JSON object in an output, after lines of text."""
    decoder = json.JSONDecoder()
    position, found = text.find("{"), None
    while position >= 0:
        try:
            found, end = decoder.raw_decode(text, position)
        except ValueError as problem:
            raise raw.error(tool, f"the JSON is damaged: {problem}") from None
        position = text.find("{", end)
    if not isinstance(found, dict):
        raise raw.error(tool, "there is no JSON object in the output")
    return found


_IOZONE_SIZE = re.compile(
    r"^\tEach process writes a ([0-9]{1,15}) kByte file in ([0-9]{1,9}) "
    r"kByte records$",
    re.M,
)
_IOZONE_TITLES = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "random readers": "random_read",
    "random writers": "random_write",
}


def read_iozone(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of the tests in iozone's throughput mode."""
    size = _IOZONE_SIZE.search(text)
    count = re.search(r"^\tMin process = ([0-9]{1,5})", text, re.M)
    if not size or not count:
        raise raw.error(
            "iozone",
            "only the throughput mode is read; run: iozone -t N -s SIZE "
            "-r SIZE -i 0 -i 1",
        )
    processes = int(count[1])
    rates = iozone.parse_rates(text, processes, int(size[1]), int(size[2]))
    named = {
        _IOZONE_TITLES[title]: rate
        for title, rate in rates.items()
        if title in _IOZONE_TITLES
    }
    metrics = [
        sample.Metric(f"disk.iozone.{name}.bandwidth", "B/s", "higher")
        for name in named
    ]
    return [
        raw.RawOutput(
            workload="iozone",
            arguments={
                "processes": processes,
                "size_mib": int(size[1]) / 1024,
                "record_size": f"{size[2]}k",
                "direct": "O_DIRECT feature enabled" in text,
                "flush": "Include fsync in write timing" in text,
            },
            repetitions=(raw.create_samples(metrics, named.values()),),
        )
    ]


READERS = (
    raw.Reader(
        tool="dd",
        signature=re.compile(
            r"^[0-9]{1,15}\+[01]\b.*\n[0-9]{1,15}\+[01]\b"
            r"|^[0-9]{1,20} ?(?:bytes?|字节).*(?:copied|已?复制)"
            r"|records (?:in|out)$|^dd: (?:error|failed)|记录了",
            re.M,
        ),
        read=read_dd,
        given={"direction": "write or read"},
    ),
    raw.Reader(
        tool="fio", signature=re.compile(r'"fio version"'), read=read_fio
    ),
    raw.Reader(
        tool="iozone",
        signature=re.compile(r"Iozone: Performance Test", re.I),
        read=read_iozone,
    ),
)
