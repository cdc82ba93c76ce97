"""Outputs of fio: its JSON, with one job or several."""

import collections.abc
import itertools
import re
import statistics
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import disk
from rally_vmperf.runs.raw_outputs import raw

#: Options of fio -> arguments: those of the workload where it has them.
_OPTIONS = {
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
    "rate": "rate",
    "rate_iops": "rate_iops",
    "thinktime": "thinktime",
}
#: The first version whose output has every given option with a value.
_LISTS_OPTIONS = 3
#: The defaults of options that such an output does not have.
_DEFAULTS = {
    "bs": "4k",
    "iodepth": "1",
    "numjobs": "1",
    "direct": "0",
    "fsync": "0",
    "fdatasync": "0",
    "thinktime": "0",
}
#: Other options that change what is measured -> their defaults.
_OTHER_DEFAULTS = {
    "end_fsync": "0",
    "fsync_on_close": "0",
    "invalidate": "1",
    "loops": "1",
    "norandommap": "0",
    "overwrite": "0",
    "ramp_time": "0",
    "randrepeat": "1",
    "refill_buffers": "0",
    "startdelay": "0",
    "thinktime_blocks": "1",
    "zero_buffers": "0",
}
#: Options that name a place, a name, a log or a display, and those without a
#: value, which not every output has.
_UNCOMPARED = re.compile(
    r"(name|description|filename.*|directory|unique_filename|opendir|.*log.*|"
    r"output.*|eta.*|status-interval|group_reporting|time_based|stonewall|"
    r"wait_for.*|new_group|thread|disable_.*|clat_percentiles|"
    r"lat_percentiles|percentile_list|per_job_logs|unlink.*|create_.*|"
    r"exitall.*|ioscheduler|randseed|allrandrepeat|minimal|terse-version)"
)
_NUMBERS = ("depth", "jobs", "read_percent", "runtime")
_SIDES = ("read", "write")
#: The maximum difference between starts of a job, computed from the reports
#: of one run, in ms.
_MAX_DEVIATION = 2000
#: Patterns with the block size of sequential requests.
_SEQUENTIAL = ("read", "write", "rw", "readwrite")
#: Patterns whose reads and writes have metrics of their own.
_MIXED = ("rw", "readwrite", "randrw")
_ALIASES = {"readwrite": "rw", "blocksize": "bs"}
#: Percentiles of fio -> ours.
_PERCENTILES = {
    f"{percent:.6f}": sample.percentile_name("latency", percent)
    for percent in sample.PERCENTILES
}


def read_fio(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the figures of the jobs in fio's JSON, as one repetition."""
    reports = raw.load_objects("fio", text)
    _check_single_run(reports)
    report = reports[-1]
    shared = _rename_options(report.get("global options") or {})
    is_complete = _lists_options(report)
    if is_complete:
        shared = {**_DEFAULTS, **shared}
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
    labels: set[str] = set()
    results: list[raw.RawOutput] = []
    for name, jobs in by_job.items():
        sides = [
            side
            for side in _SIDES
            if any(_count_requests(job.get(side, {})) for job in jobs)
        ]
        pattern = options[name].get("rw") or "".join(sides)
        label = _clean_name(pattern if is_single else name)
        if label in labels:
            raise raw.error(
                "fio", f"two jobs have the name {label}; rename one of them"
            )
        labels.add(label)
        is_mixed = len(sides) > 1 or pattern in _MIXED
        for side in sides:
            metric = f"{label}.{side}" if is_mixed else label
            results.append(
                raw.create_output(
                    "fio",
                    _read_arguments(options[name], is_complete),
                    _read_side(
                        metric, [job[side] for job in jobs if side in job]
                    ),
                )
            )
    if not results:
        raise raw.error("fio", "did not do any I/O")
    return results


def _check_single_run(reports: list[dict[str, t.Any]]) -> None:
    """Reject reports of several runs; those of one run only grow."""
    requests = [
        [
            sum(_count_requests(job.get(side, {})) for side in _SIDES)
            for job in report["jobs"]
        ]
        for report in reports
    ]
    begun = [
        report["timestamp_ms"] - report["jobs"][0]["job_runtime"]
        for report in reports
        if "timestamp_ms" in report and "job_runtime" in report["jobs"][0]
    ]
    is_growing = all(
        len(former) == len(later)
        and all(
            earlier <= other
            for earlier, other in zip(former, later, strict=True)
        )
        for former, later in itertools.pairwise(requests)
    )
    if not is_growing or (begun and max(begun) - min(begun) > _MAX_DEVIATION):
        raise raw.several_runs("fio")


def _lists_options(report: documents.Json) -> bool:
    """Return whether an output has every given option with a value."""
    version = re.match(r"fio-([0-9]{1,4})\.", str(report.get("fio version")))
    has_options = any("job options" in job for job in report["jobs"])
    return bool(version and has_options and int(version[1]) >= _LISTS_OPTIONS)


def _rename_options(options: documents.Json) -> dict[str, str]:
    """Return the options of fio by their usual names."""
    renamed = {
        _ALIASES.get(key, key): str(option) for key, option in options.items()
    }
    buffered = renamed.pop("buffered", None)
    if buffered is not None:
        renamed["direct"] = "0" if buffered in ("1", "true") else "1"
    writes = renamed.pop("rwmixwrite", "")
    if writes.isdecimal():
        renamed["rwmixread"] = str(100 - int(writes))
    return renamed


def _describe_others(options: collections.abc.Mapping[str, str]) -> str:
    """Return the options that are no arguments of the workload, as text."""
    return " ".join(
        f"{key}={option}"
        for key, option in sorted(options.items())
        if key not in _OPTIONS
        and option != _OTHER_DEFAULTS.get(key)
        and not _UNCOMPARED.fullmatch(key)
    )


def _read_arguments(
    options: collections.abc.Mapping[str, str], is_complete: bool
) -> dict[str, t.Any]:
    """Return the arguments in the options of a job of fio.

    :param is_complete: Whether they are all options with a value.
    """
    arguments: dict[str, t.Any] = {
        _OPTIONS[key]: option
        for key, option in options.items()
        if key in _OPTIONS
    }
    if is_complete:
        arguments["other_options"] = _describe_others(options)
    for key in _NUMBERS:
        if arguments.get(key, "").isdecimal():
            arguments[key] = int(arguments[key])
    if "direct" in arguments:
        arguments["direct"] = arguments["direct"] in ("1", "true")
    for key in ("block_size", "size"):
        if key in arguments:
            arguments[key] = disk.format_size(arguments[key].rstrip("bB"))
    if arguments.get("size", "").endswith("M"):
        arguments["size_mib"] = int(arguments.pop("size")[:-1])
    is_sequential = arguments.pop("pattern", "") in _SEQUENTIAL
    if is_sequential and "block_size" in arguments:
        arguments["sequential_block_size"] = arguments.pop("block_size")
    return arguments


def _clean_name(name: str) -> str:
    """Return the name of a job as a part of a metric's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:64] or "job"


def _read_side(label: str, sides: list[documents.Json]) -> raw.Figures:
    """Return the figures of reads or writes, added up over processes."""
    requests = [_count_requests(side) for side in sides]
    rates = [raw.number(side.get("iops") or 0) for side in sides]
    bandwidths = [
        raw.number(
            side.get("bw_bytes") or 1024 * raw.number(side.get("bw") or 0)
        )
        for side in sides
    ]
    latencies = [_find_latency(side) for side in sides]
    weighted = [
        (mean, weight)
        for (mean, _), weight in zip(latencies, requests, strict=True)
        if mean and weight
    ]
    figures: dict[str, float | None] = {
        "iops": sum(rates),
        "bandwidth": sum(bandwidths),
        "latency_mean": statistics.fmean(*zip(*weighted, strict=True))
        if weighted
        else None,
    }
    if len(sides) == 1:
        figures |= latencies[0][1]
    units = {"iops": "ops/s", "bandwidth": "B/s"}
    return {
        sample.Metric(
            f"disk.fio.{label}.{name}",
            units.get(name, "s"),
            "higher" if name in units else "lower",
        ): figure
        for name, figure in figures.items()
    }


def _count_requests(side: documents.Json) -> float:
    """Return a number in proportion to the requests; before 2.2, the bytes."""
    return raw.number(side.get("total_ios") or side.get("io_bytes") or 0)


def _find_latency(
    side: documents.Json,
) -> tuple[float | None, dict[str, float]]:
    """Return the mean latency in seconds, and the percentiles by name."""
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        latency = side.get(key)
        if isinstance(latency, dict) and latency.get("mean"):
            percentiles = latency.get("percentile") or {}
            return raw.number(latency["mean"]) * factor, {
                name: raw.number(percentiles[percent]) * factor
                for percent, name in _PERCENTILES.items()
                if percentiles.get(percent)
            }
    return None, {}


READERS = (
    raw.Reader(
        tool="fio",
        json_texts=('"fio version"',),
        searches_lines=False,
        read=read_fio,
    ),
)
