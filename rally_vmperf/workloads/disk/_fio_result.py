# SPDX-License-Identifier: Apache-2.0
"""The results of fio for one pattern, in base units."""

import contextlib
import itertools
import math

from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sequence

_NANOSECOND = 1e-9

#: Number of reports during a pattern, by which it can be restricted.
_REPORTS = 10
#: Maximum number of reports including those in a long ramp time.
_MAX_REPORTS = 20
#: The same numbers for patterns of this duration in seconds, whose rates over
#: time are of interest.
_DENSE, _DENSE_REPORTS, _DENSE_MAX_REPORTS = range(31, 301), 60, 80

#: Percentiles that fio reports, used for checks.
PERCENTILES = "--percentile_list=50:90:95:99:99.9:99.99"

_METRICS = (
    sample.Metric("disk.fio.{}.iops", "ops/s", "higher"),
    sample.Metric("disk.fio.{}.bandwidth", "B/s", "higher"),
    sample.Metric("disk.fio.{}.latency_mean", "s", "lower"),
    sample.Metric("disk.fio.{}.latency", "s", "lower"),
)

#: Maximum number of bins of fio.
_BINS = 1856

#: Maximum delay of a report in seconds, but of the last one, which fio writes
#: when it has ended; a ramp time is longer.
_MAX_DELAY = 0.5

#: Seconds by which a run may seem too short if fio waits for a processor
#: before it reads the clock; the interval of reports is at least a second.
_MAX_SHORTFALL = 0.1


def metrics(pattern: str) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of a pattern, in ``parse`` order."""
    *value_metrics, latency = sequence.name_metrics(_METRICS, pattern)
    return (*value_metrics, *sample.percentiles(latency))


def report_interval(runtime: int, ramp: int) -> int:
    """Return the seconds between the reports of fio as an integer."""
    is_dense = runtime in _DENSE
    reports = _DENSE_REPORTS if is_dense else _REPORTS
    most = _DENSE_MAX_REPORTS if is_dense else _MAX_REPORTS
    return max(-(-runtime // reports), -(-(runtime + ramp) // most))


def progress(pattern: str, text: str) -> curves.ProgressCurve | None:
    """Return a curve of completed requests over time, or None.

    Reports in the ramp time are skipped, because fio resets its counters
    after it.  The last report arrives shortly after the end.
    """
    points = [(end, ios) for end, ios, _ in _list_progress(pattern, text)]
    return curves.build_curve(
        (f"disk.fio.{pattern}.iops", f"disk.fio.{pattern}.bandwidth"), points
    )


def _list_progress(
    pattern: str, text: str
) -> list[tuple[float, float, float]]:
    """Return the time, the requests and their latencies until each report.

    The first is the start after the ramp time. The latencies are a sum in
    seconds; not a number if their mean is missing.
    """
    done = [(0.0, 0.0, 0.0)]
    begin = math.inf
    *reports, last = document.Document.parse_all(text, "fio")
    for report in (*reports, last):
        side = _side(pattern, report)
        milliseconds, ios = side.numbers("runtime", "total_ios")
        latency = math.nan
        with contextlib.suppress(base.WorkloadError):
            latency = side.number("clat_ns", "mean") * _NANOSECOND
        runtime = milliseconds / 1000
        start = report.number("timestamp_ms") / 1000 - runtime
        has_restarted = report is not last and start > begin + _MAX_DELAY
        if has_restarted or runtime < done[-1][0] or ios < done[-1][1]:
            done = done[:1]
            begin = math.inf
        begin = min(begin, start)
        done.append((runtime, ios, ios * latency))
    return [(begin + runtime, ios, total) for runtime, ios, total in done]


def completed_requests(pattern: str, text: str) -> float:
    """Return the number of requests after the ramp time."""
    return _last_side(pattern, text).number("total_ios")


def check_written(pattern: str, text: str, expected: int) -> None:
    """Raise an error if fio did not write the expected bytes.

    :param expected: The expected number of requests.
    :raises base.WorkloadError: If fio did fewer requests.
    """
    written = completed_requests(pattern, text)
    if written < expected:
        raise base.WorkloadError(
            f"fio: {pattern} did {written:g} of {expected} requests; look at "
            "the raw output, and whether the disk is full"
        )


def parse(pattern: str, text: str, runtime: float) -> list[sample.Sample]:
    """Return the samples in the last report of fio as a list.

    :param runtime: The requested duration in seconds.
    :raises base.WorkloadError: If fio reports an error, no I/O, or a run
        that ended early.
    """
    report = document.Document.parse_all(text, "fio")[-1]
    side = _side(pattern, report)
    error = report.number("jobs", 0, "error")
    if error:
        raise base.WorkloadError(
            f"fio: {pattern} ended with error {error:g}; look at its standard "
            "error; if the file system does not support O_DIRECT, set "
            "direct: false"
        )
    if not side.number("total_ios") > 0:
        raise base.WorkloadError(
            f"fio: {pattern} did not do any I/O; raise runtime above "
            f"{runtime:g} s, or look at the raw output"
        )
    duration = side.number("runtime") / 1000
    if duration < runtime - _MAX_SHORTFALL:
        raise outputs.Reader(f"fio: {pattern}").error(
            f"ended after {duration:g} s of {runtime:g} s"
        )
    latency = side.number("clat_ns", "mean") * _NANOSECOND
    *value_metrics, _ = sequence.name_metrics(_METRICS, pattern)
    return outputs.create_samples(
        value_metrics, (*side.numbers("iops", "bw_bytes"), latency)
    )


def parse_latencies(pattern: str, text: str) -> sample.Distribution:
    """Return the latencies in the bins of fio as a Distribution.

    The name of a bin is its middle, which differs by at most 0.8 % from the
    values that it counts.

    :raises base.WorkloadError: If the bins are missing or not valid.
    """
    latencies = _last_side(pattern, text).at("clat_ns")
    bins = latencies.find("bins")
    if not isinstance(bins, dict) or len(bins) > _BINS:
        raise base.WorkloadError(
            f"fio: {pattern} has no latency bins; check that the raw output "
            "is json+ of fio 3.0 or newer"
        )
    *_, metric = sequence.name_metrics(_METRICS, pattern)
    counts = []
    for name in bins:
        middle = outputs.Reader("fio").number(
            name, f"a latency bin of {pattern}"
        )
        latency = middle * _NANOSECOND or _NANOSECOND
        outputs.create_sample(metric, latency)
        counts.append((latency, int(latencies.number("bins", name))))
    try:
        nonempty = ((latency, count) for latency, count in counts if count)
        return sample.Distribution(
            metric=metric, histogram=histogram.Histogram.of(nonempty)
        )
    except ValueError as error:
        reader = outputs.Reader(f"fio: latency bins of {pattern}:")
        raise reader.error(f"{error}") from None


def series(pattern: str, text: str) -> list[sample.Series]:
    """Return the series of request rates and of latencies, as far as known.

    The latency of an interval is the mean of the requests that ended in it.
    """
    iops, _, latency, *_ = metrics(pattern)
    found: list[sample.Series] = []
    # The samples are valid without the series.
    with contextlib.suppress(base.WorkloadError, ValueError):
        curve = progress(pattern, text)
        if curve is None or len(curve.points) <= 2:
            return found
        found.append(sample.Series(metric=iops, points=curve.rates()))
        (begin, *_), *_ = done = _list_progress(pattern, text)
        points = tuple(
            (end - begin, (later - total) / (more - ios))
            for (_, ios, total), (end, more, later) in itertools.pairwise(done)
            if more > ios and later > total
        )
        if len(points) > 2:
            found.append(sample.Series(metric=latency, points=points))
    return found


def _side(pattern: str, report: document.Document) -> document.Document:
    """Return a view of the reads or writes of a pattern in a report."""
    side = "write" if pattern.endswith("write") else "read"
    return report.at("jobs", 0, side)


def _last_side(pattern: str, text: str) -> document.Document:
    """Return a view of the reads or writes in the last report."""
    return _side(pattern, document.Document.parse_all(text, "fio")[-1])
