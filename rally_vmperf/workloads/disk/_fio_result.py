"""What fio reports of one pattern, in base units."""

import contextlib
import math

from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs

_NANOSECOND = 1e-9

#: Reports while a pattern is measured, so that it can be cut.
_REPORTS = 10
#: Likewise, with those of a ramp time that is longer than it.
_MOST_REPORTS = 20

#: Of these fio tells its own, to check by.
PERCENTILES = "--percentile_list=50:90:95:99:99.9:99.99"

#: Metric -> unit, direction, path below the side's results, factor.
_READINGS: tuple[
    tuple[str, str, sample.Better, tuple[str, ...], float], ...
] = (
    ("iops", "ops/s", "higher", ("iops",), 1),
    ("bandwidth", "B/s", "higher", ("bw_bytes",), 1),
    ("latency_mean", "s", "lower", ("clat_ns", "mean"), _NANOSECOND),
)

#: Bins that fio has at most.
_BINS = 1856

#: Seconds that a report may come late; a ramp time is longer.
_LATE = 0.5

#: Seconds by which a run may seem too short, where fio waits for a processor
#: before it looks at the clock; reports are a second apart at least.
_SHORT = 0.1


def metrics(pattern: str) -> tuple[sample.Metric, ...]:
    """Return the metrics of a pattern, in the order of ``read``."""
    return (*_values(pattern), *sample.percentiles(_latency(pattern)))


def _values(pattern: str) -> tuple[sample.Metric, ...]:
    return tuple(
        sample.Metric(f"disk.fio.{pattern}.{name}", unit, better)
        for name, unit, better, _, _ in _READINGS
    )


def _latency(pattern: str) -> sample.Metric:
    return sample.Metric(f"disk.fio.{pattern}.latency", "s", "lower")


def interval(runtime: int, ramp: int) -> int:
    """Return the seconds between two reports, also of the ramp time."""
    return max(-(-runtime // _REPORTS), -(-(runtime + ramp) // _MOST_REPORTS))


def course(pattern: str, text: str) -> courses.Course | None:
    """Return how much was read or written over time, by fio's reports.

    Reports of the ramp time are left out: fio counts from zero after it.
    The last report comes a little after the end.
    """
    side = _side(pattern)
    done = [(0.0, 0.0)]
    begin = math.inf
    for report in document.Document.each(text, "fio"):
        runtime = report.number("jobs", 0, side, "runtime") / 1000
        ios = report.number("jobs", 0, side, "total_ios")
        since = report.number("timestamp_ms") / 1000 - runtime
        anew = since > begin + _LATE
        if anew or runtime < done[-1][0] or ios < done[-1][1]:
            done = done[:1]
            begin = math.inf
        begin = min(begin, since)
        done.append((runtime, ios))
    points = [(begin + runtime, ios) for runtime, ios in done]
    return courses.course(
        (f"disk.fio.{pattern}.iops", f"disk.fio.{pattern}.bandwidth"), points
    )


def operations(pattern: str, text: str) -> float:
    """Return how many requests were done after the ramp time."""
    result = document.Document.each(text, "fio")[-1]
    return result.number("jobs", 0, _side(pattern), "total_ios")


def check_written(pattern: str, text: str, wanted: int) -> None:
    """Refuse a file that was not written to its end.

    :raises base.WorkloadError: naming how many requests there were
    """
    written = operations(pattern, text)
    if written < wanted:
        raise base.WorkloadError(
            f"fio: {pattern} did {written:g} of {wanted} requests; look at "
            "the raw output, and whether the disk is full"
        )


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
    if lasted < runtime - _SHORT:
        raise base.WorkloadError(
            f"fio: {pattern} ended after {lasted:g} s of {runtime:g} s; look "
            "at the raw output"
        )
    return [
        limits.measured(metric, result.number("jobs", 0, side, *path) * factor)
        for metric, (_, _, _, path, factor) in zip(
            _values(pattern), _READINGS, strict=True
        )
    ]


def latencies(pattern: str, text: str) -> sample.Distribution:
    """Return how often each latency occurred, by the bins of fio's json+.

    A bin is named after its middle, which is within 0.8 % of all values that
    it counts.

    :raises base.WorkloadError: when these are no bins, or not of all requests
    """
    result = document.Document.each(text, "fio")[-1]
    where = ("jobs", 0, _side(pattern), "clat_ns")
    bins = result.find(*where, "bins")
    if not isinstance(bins, dict) or len(bins) > _BINS:
        raise base.WorkloadError(
            f"fio: {pattern} has no latency bins; look whether the raw output "
            "is json+ of fio 3.0 or newer"
        )
    metric = _latency(pattern)
    counted = []
    for name in bins:
        at = outputs.number(name, f"fio: a latency bin of {pattern}")
        found = limits.measured(metric, at * _NANOSECOND or _NANOSECOND)
        counted.append((found.value, int(result.number(*where, "bins", name))))
    of_all = result.number(*where, "N")
    if sum(count for _, count in counted) != of_all:
        raise base.WorkloadError(
            f"fio: the latency bins of {pattern} do not add up to its "
            f"{of_all:g} requests; look at the raw output"
        )
    try:
        return sample.Distribution(
            metric=metric,
            histogram=histogram.Histogram.of(
                (value, count) for value, count in counted if count
            ),
        )
    except ValueError as error:
        raise base.WorkloadError(
            f"fio: latency bins of {pattern}: {error}; look at the raw output"
        ) from None


def series(pattern: str, text: str) -> list[sample.Series]:
    """Return requests per second over time, none where fio reported once."""
    iops, *_ = _values(pattern)
    # Values are worth as much without it.
    with contextlib.suppress(base.WorkloadError, ValueError):
        told = course(pattern, text)
        if told is not None and len(told.points) > 2:
            return [sample.Series(metric=iops, points=told.rates())]
    return []


def _side(pattern: str) -> str:
    """Return the key under which fio has a pattern's results."""
    return "write" if pattern.endswith("write") else "read"
