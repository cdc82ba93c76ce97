# SPDX-License-Identifier: Apache-2.0
"""Outputs of fio: its JSON, with one job or several."""

import collections.abc
import itertools
import re
import statistics
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import fio_text
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry

_SIDES = ("read", "write", "trim", "mixed")
#: The maximum difference between the time of two reports of a run, and the
#: time of a job between them, in ms.
_MAX_DEVIATION = 2000
#: Patterns whose reads and writes have metrics of their own.
_MIXED = ("rw", "readwrite", "randrw", "trimwrite", "randtrimwrite")
#: Patterns with the block size of sequential requests.
_SEQUENTIAL = ("read", "write", "rw")
_OPTIONS = registry.get_workload("fio").TOOL_OPTIONS
#: Percentiles of fio -> ours.
_PERCENTILES = {
    f"{percent:.6f}": sample.percentile_name("latency", percent)
    for percent in sample.PERCENTILES
}


def read_fio(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the figures of the jobs in fio's JSON, as one repetition."""
    if fio_text.SIGNATURE.search(text) and '"jobs"' not in text:
        stated = _read_command(text)
        outputs = _read_jobs(
            {"global options": stated or {}, **fio_text.read_report(text)},
            is_complete=stated is not None,
        )
        return [raw.round_rates(output) for output in outputs]
    reports = [
        _select_jobs(report) for report in raw.load_objects("fio", text)
    ]
    _check_single_run(reports)
    return _read_jobs(reports[-1], is_complete=_lists_options(reports[-1]))


def _read_command(text: str) -> dict[str, str] | None:
    """Return the options of the only command line in a text.

    :returns: The options by name; None without a command line, or if it has
        several jobs or a job file.
    """
    commands = options.find_commands(text, "fio")
    if len(commands) != 1:
        return None
    (argv,) = commands
    stated, operands = _OPTIONS.read_argv(argv)
    jobs = sum(part.lstrip("-").startswith("name") for part in argv)
    return None if operands or jobs > 1 else stated


def _read_jobs(
    report: documents.Json, is_complete: bool
) -> list[raw.RawOutput]:
    """Return the figures of the jobs in a report of fio.

    :param is_complete: Whether the report has every option with a value.
    """
    shared = report.get("global options") or {}
    by_job = _group_processes(report)
    names = [name for name, _ in by_job]
    labels: set[str] = set()
    results: list[raw.RawOutput] = []
    for (name, group), jobs in by_job.items():
        stated = {**shared, **(jobs[0].get("job options") or {})}
        arguments = _OPTIONS.read(
            {key: str(option) for key, option in stated.items()},
            is_complete=is_complete,
        )
        sides = _list_sides(jobs)
        arguments = {**_infer_arguments(jobs, sides), **arguments}
        pattern = arguments.get("pattern") or "".join(sides)
        label = _clean_name(pattern if len(by_job) == 1 else name)
        if names.count(name) > 1:
            label = f"{label}-{group}"
        if label in labels:
            raise raw.error(
                "fio", f"two jobs have the name {label}; rename one of them"
            )
        labels.add(label)
        is_mixed = len(sides) > 1 or pattern in _MIXED
        is_sequential = arguments.get("pattern") in _SEQUENTIAL
        if is_sequential and "block_size" in arguments:
            arguments["sequential_block_size"] = arguments.pop("block_size")
        results += [
            raw.create_output(
                "fio",
                arguments,
                _read_side(
                    f"{label}.{side}" if is_mixed else label,
                    [job[side] for job in jobs if side in job],
                ),
            )
            for side in sides
        ]
    if not results:
        raise raw.error("fio", "did not do any I/O")
    return results


def _group_processes(
    report: documents.Json,
) -> dict[tuple[str, int], list[documents.Json]]:
    """Return the processes of each job, by its name and its group.

    :raises WorkloadError: If a job failed, or jobs of one name have different
        options.
    """
    by_job: dict[tuple[str, int], list[documents.Json]] = {}
    for job in report["jobs"]:
        name = str(job.get("jobname", "job"))
        if failure := job.get("error"):
            raise raw.error("fio", f"job {name} ended with error {failure}")
        processes = by_job.setdefault((name, job.get("groupid", 0)), [])
        processes.append(job)
        first, other = (
            _OPTIONS.read(process.get("job options") or {}, is_complete=True)
            for process in (processes[0], job)
        )
        if first != other:
            raise raw.error(
                "fio",
                f"two jobs have the name {_clean_name(name)} and different "
                "options; rename one of them",
            )
    return by_job


def _list_sides(jobs: collections.abc.Iterable[documents.Json]) -> list[str]:
    """Return the sides of a job that did I/O.

    Both together are one side if fio does not report each of them.
    """
    sides = [
        side
        for side in _SIDES
        if any(_count_requests(job.get(side, {})) for job in jobs)
    ]
    return (
        sides
        if sides == ["mixed"]
        else [side for side in sides if side != "mixed"]
    )


#: The step of shares that users set, and the deviation from it, in percent.
_STEP, _MAX_SHARE_ERROR = 5, 1


def _infer_arguments(
    jobs: collections.abc.Sequence[documents.Json],
    sides: collections.abc.Collection[str],
) -> dict[str, t.Any]:
    """Return the arguments that the results of a job tell.

    The share of reads is a random number, so that it is known only if it is
    close to a usual one.
    """
    arguments: dict[str, t.Any] = {}
    if synced := [job["has_syncs"] for job in jobs if "has_syncs" in job]:
        arguments["has_syncs"] = any(synced)
    if {*sides} == {"read", "write"}:
        reads, writes = (
            sum(_count_requests(job.get(side, {})) for job in jobs)
            for side in ("read", "write")
        )
        percent = 100 * reads / (reads + writes)
        usual = _STEP * round(percent / _STEP)
        if abs(percent - usual) <= _MAX_SHARE_ERROR:
            arguments["read_percent"] = usual
    return arguments


def _select_jobs(report: documents.Json) -> documents.Json:
    """Return a report whose jobs are those of the only client, or its own.

    :raises WorkloadError: If several machines did the jobs (``--client``).
    """
    if "client_stats" not in report:
        return report
    jobs = [job for job in report["client_stats"] if "hostname" in job]
    hosts = {job["hostname"] for job in jobs}
    if len(hosts) != 1:
        raise raw.error(
            "fio",
            f"the output is of {len(hosts)} machines (--client); give an "
            "output of each machine",
        )
    return {**report, "jobs": jobs}


def _check_single_run(reports: list[documents.Json]) -> None:
    """Reject reports of several runs; those of one run only grow."""
    for former, later in itertools.pairwise(reports):
        if len(former["jobs"]) != len(later["jobs"]):
            raise raw.several_runs("fio")
        interval = later.get("timestamp_ms", 0) - former.get("timestamp_ms", 0)
        deviations: list[float] = []
        for earlier, other in zip(former["jobs"], later["jobs"], strict=True):
            begin, end = (
                sum(_count_requests(job.get(side, {})) for side in _SIDES)
                for job in (earlier, other)
            )
            if begin > end:
                raise raw.several_runs("fio")
            # Another job has not begun, or it has ended and keeps its time.
            if begin < end:
                grown = _find_runtime(other) - _find_runtime(earlier)
                deviations.append(abs(interval - grown) if begin else 0)
        if min(deviations, default=abs(interval)) > _MAX_DEVIATION:
            raise raw.several_runs("fio")


def _find_runtime(job: documents.Json) -> float:
    """Return the time of a job in ms, which of several processes is one."""
    return max(
        (
            raw.number(job[side].get("runtime") or 0)
            for side in _SIDES
            if side in job
        ),
        default=0,
    )


def _lists_options(report: documents.Json) -> bool:
    """Return whether an output has every given option with a value."""
    has_options = any("job options" in job for job in report["jobs"])
    return has_options and _OPTIONS.lists_all(str(report.get("fio version")))


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
        # The sum of a group in text has the bandwidth only.
        "iops": sum(rates) or None,
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
    raw.RawReader(
        tool="fio",
        json_texts=('"fio version"',),
        signature=fio_text.SIGNATURE,
        searches_lines=False,
        read=read_fio,
        version=re.compile(
            r'(?:^|"fio version" ?: ?"|^[2-5];)(fio-[0-9][\w.-]{0,40})', re.M
        ),
    ),
)
