# SPDX-License-Identifier: Apache-2.0
"""The results of fio, checked against its command line, in base units."""

import collections.abc
import contextlib
import itertools
import math

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads.scripts import fio_search

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
#: Options of the command line that fio does not repeat in its output.
_NOT_REPEATED = ("eta", "output-format", "section", "status-interval")
#: Maximum number of steps: the powers of two, and the steps between two.
MAX_SEARCH_STEPS = fio_search.DEEPEST.bit_length() + fio_search.REFINED
_SEARCH_IOPS = sample.Metric("disk.fio.search.iops", "ops/s", "higher")
SEARCH_METRICS = (_SEARCH_IOPS,)
_SEARCH_OUTPUT = outputs.Reader("fio: search")
#: The job of a step and its side.
_SEARCH_JOB = "search.read"


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


def check_command(
    pattern: str, text: str, argv: collections.abc.Sequence[str]
) -> None:
    """Reject an output of fio that contradicts its command line.

    :param pattern: The access pattern, with the direction after a dot if it
        reads and writes.
    :param text: The output of fio.
    :param argv: The command line with the options of a job file, all of which
        fio repeats; the last value of an option counts.
    :raises base.WorkloadError: For the first disagreement.
    """
    output = outputs.Reader(f"fio: {pattern}")
    reports = document.Document.parse_all(text, "fio")
    if text[reports[-1].end :].strip():
        raise output.error("printed text after its last report")
    options, flags = _parse_options(argv)
    for report in reports:
        if len(report.array("jobs")) != 1:
            raise output.error("did not report exactly one job")
        job = report.at("jobs", 0)
        if job.find("jobname") != pattern.partition(".")[0]:
            raise output.error("reported a job with another name")
        reported = {
            **report.mapping("global options"),
            **job.mapping("job options"),
        }
        _compare_options(output, options, flags, reported)


def _parse_options(
    argv: collections.abc.Iterable[str],
) -> tuple[dict[str, str], set[str]]:
    """Return the options with a value as a dict, and the names of flags."""
    arguments = [word[2:] for word in argv if word.startswith("--")]
    options = dict(
        argument.split("=", 1) for argument in arguments if "=" in argument
    )
    flags = {argument for argument in arguments if "=" not in argument}
    return (
        {key: options[key] for key in options if key not in _NOT_REPEATED},
        flags - options.keys(),
    )


def _compare_options(
    output: outputs.Reader,
    options: collections.abc.Mapping[str, str],
    flags: collections.abc.Container[str],
    reported: collections.abc.Mapping[str, str],
) -> None:
    """Reject options that are missing, added or have another value.

    Not every version of fio repeats flags.
    """
    for key in {**options, **reported}:
        setting, expected = reported.get(key), options.get(key)
        is_flag = key in flags and setting in ("", "1")
        if is_flag or setting == expected:
            continue
        if setting is None:
            raise output.error(f"ran without {key}={expected}")
        option = sanitize.line(f"{key}={setting}", 60)
        if expected is None:
            raise output.error(f"ran with {option}, which was not requested")
        raise output.error(f"ran with {option} instead of {key}={expected}")


def parse_search(
    text: str,
    argv: collections.abc.Sequence[str],
    runtime: float,
    limit: float,
) -> list[sample.Reading]:
    """Return the sample of the best rate, and the series of all steps.

    :param argv: The command line of a step without its depth.
    :param runtime: The duration of a step in seconds.
    :param limit: The limit on the 99th percentile in nanoseconds.
    :raises base.WorkloadError: If the steps are not those of the search, or
        no step is within the limit.
    """
    steps: list[tuple[int, bool]] = []
    rates: list[float] = []
    begin = 0
    for report in document.Document.parse_all(text, "fio"):
        depth = fio_search.next_depth(steps)
        if depth is None:
            raise _SEARCH_OUTPUT.error("has more steps than expected")
        step_output = text[begin : report.end]
        begin = report.end
        check_command(_SEARCH_JOB, step_output, [*argv, f"--iodepth={depth}"])
        iops, *_ = parse(_SEARCH_JOB, step_output, runtime)
        percentiles = report.at("jobs", 0, "read", "clat_ns", "percentile")
        latency = percentiles.number(fio_search.PERCENTILE)
        steps.append((depth, latency <= limit))
        rates.append(iops.value)
    if fio_search.next_depth(steps) is not None:
        raise _SEARCH_OUTPUT.error(f"ended after {len(steps)} steps")
    if text[begin:].strip():
        raise _SEARCH_OUTPUT.error("printed text after its last step")
    is_within = (within for _, within in steps)
    accepted_rates = list(itertools.compress(rates, is_within))
    if not accepted_rates:
        raise _SEARCH_OUTPUT.error(
            f"exceeds {limit / 1000:g} us with one request in flight; "
            "raise search_latency_us"
        )
    readings: list[sample.Reading] = [
        sample.Sample(_SEARCH_IOPS, max(accepted_rates))
    ]
    if len(rates) > 1:
        points = ((runtime * step, rate) for step, rate in enumerate(rates, 1))
        readings.append(
            sample.Series(metric=_SEARCH_IOPS, points=tuple(points))
        )
    return readings
