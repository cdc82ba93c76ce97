"""What fio says of one pattern, in base units."""

import math

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits

_NANOSECOND = 1e-9

#: Metric -> unit, direction, path below the side's results, factor.
_READINGS: tuple[
    tuple[str, str, sample.Better, tuple[str, ...], float], ...
] = (
    ("iops", "ops/s", "higher", ("iops",), 1),
    ("bandwidth", "B/s", "higher", ("bw_bytes",), 1),
    ("latency_mean", "s", "lower", ("clat_ns", "mean"), _NANOSECOND),
    (
        "latency_p50",
        "s",
        "lower",
        ("clat_ns", "percentile", "50.000000"),
        _NANOSECOND,
    ),
    (
        "latency_p99",
        "s",
        "lower",
        ("clat_ns", "percentile", "99.000000"),
        _NANOSECOND,
    ),
)

#: Share of the runtime below which a run has ended early.
_LEAST = 0.9


def metrics(pattern: str) -> tuple[sample.Metric, ...]:
    """Return the metrics of a pattern, in the order of ``read``."""
    return tuple(
        sample.Metric(
            name=f"disk.fio.{pattern}.{name}", unit=unit, better=better
        )
        for name, unit, better, _, _ in _READINGS
    )


def course(pattern: str, text: str) -> courses.Course | None:
    """Return how much was read or written when, by fio's reports.

    Those of the ramp time are left out: fio counts anew after it.  The last
    one comes when all is over, a little late.
    """
    side = _side(pattern)
    done = [(0.0, 0.0)]
    begin = math.inf
    for report in document.Document.each(text, "fio"):
        runtime = report.number("jobs", 0, side, "runtime") / 1000
        if runtime < done[-1][0]:
            done = done[:1]
            begin = math.inf
        begin = min(begin, report.number("timestamp_ms") / 1000 - runtime)
        done.append((runtime, report.number("jobs", 0, side, "total_ios")))
    points = [(begin + runtime, ios) for runtime, ios in done]
    return courses.course(
        (f"disk.fio.{pattern}.iops", f"disk.fio.{pattern}.bandwidth"), points
    )


def operations(pattern: str, text: str) -> float:
    """Return how many requests were done after the ramp time."""
    result = document.Document.each(text, "fio")[-1]
    return result.number("jobs", 0, _side(pattern), "total_ios")


def read(pattern: str, text: str, runtime: float) -> list[sample.Sample]:
    """Return the samples in the last of fio's JSON.

    :param runtime: seconds that were asked for
    :raises base.WorkloadError: when fio reports an error, no I/O, or a run
        that ended early
    """
    result = document.Document.each(text, "fio")[-1]
    side = _side(pattern)
    error = result.number("jobs", 0, "error")
    if error:
        raise base.WorkloadError(
            f"fio: {pattern} ended with error {error:g}; look at its standard "
            "error, and at 'direct' if the file system has no O_DIRECT"
        )
    if not result.number("jobs", 0, side, "total_ios") > 0:
        raise base.WorkloadError(
            f"fio: {pattern} did no I/O; raise 'runtime' above {runtime:g} s "
            "or look at the raw output"
        )
    lasted = result.number("jobs", 0, side, "runtime") / 1000
    if lasted < _LEAST * runtime:
        raise base.WorkloadError(
            f"fio: {pattern} ended after {lasted:g} s of {runtime:g} s; look "
            "at the raw output"
        )
    return [
        limits.measured(metric, result.number("jobs", 0, side, *path) * factor)
        for metric, (_, _, _, path, factor) in zip(
            metrics(pattern), _READINGS, strict=True
        )
    ]


def _side(pattern: str) -> str:
    """Return under which heading fio has a pattern's results."""
    return "write" if pattern.endswith("write") else "read"
