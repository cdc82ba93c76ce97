"""Checks of fio's JSON against its command line and for consistency."""

import collections.abc
import fractions
import itertools
import math

from rally_vmperf import sanitize
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs

#: Maximum relative difference of a latency and the name of its bin.
_BIN = 0.0079


def check(
    pattern: str,
    text: str,
    argv: collections.abc.Sequence[str],
    block: int | None,
) -> None:
    """Reject an output of fio that contradicts its command line or itself.

    Reports before the last one need only describe the same job, with counts
    that give their rates.

    :param pattern: The access pattern, with the direction after a dot if it
        reads and writes.
    :param text: The output of fio.
    :param argv: The command line, whose options fio repeats.
    :param block: The size of a request in bytes; None for several sizes.
    :raises base.WorkloadError: For the first disagreement.
    """
    reports = document.Document.parse_all(text, "fio")
    if text[reports[-1].end :].strip():
        raise _error(pattern, "printed text after its last report")
    options = dict(word[2:].split("=", 1) for word in argv if "=" in word)
    side = "write" if pattern.endswith("write") else "read"
    for report in reports:
        jobs = report.find("jobs")
        if not isinstance(jobs, list) or len(jobs) != 1:
            raise _error(pattern, "did not report exactly one job")
        if report.find("jobs", 0, "jobname") != pattern.partition(".")[0]:
            raise _error(pattern, "reported a job with another name")
        job_options = report.find("jobs", 0, "job options")
        for key, setting in (
            job_options.items() if isinstance(job_options, dict) else ()
        ):
            if options.get(key, setting) != setting:
                raise _error(
                    pattern,
                    f"ran with {sanitize.line(f'{key}={setting}', 60)} "
                    f"instead of {key}={options[key]}",
                )
        _check_rates(pattern, report, ("jobs", 0, side))
    flight = int(options["iodepth"]) * int(options.get("numjobs", 1))
    _check_totals(pattern, reports[-1], ("jobs", 0, side), block, flight)


def _check_rates(
    pattern: str, report: document.Document, side: tuple[str | int, ...]
) -> None:
    """Reject rates that contradict the counts and times."""
    size, kib, bandwidth, kib_per_second, iops, ios, milliseconds = (
        report.number(*side, key)
        for key in (
            *("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops"),
            *("total_ios", "runtime"),
        )
    )
    if not milliseconds > 0:
        return
    if not math.isclose(
        iops, ios * 1000 / milliseconds, rel_tol=1e-8, abs_tol=1e-6
    ):
        raise _error(
            pattern,
            f"did {ios:g} requests in {milliseconds:g} ms, which is not "
            f"{iops:g} per second",
        )
    if not (
        math.isclose(bandwidth, size * 1000 / milliseconds, abs_tol=1)
        and abs(kib - size / 1024) <= 1
        and abs(kib_per_second - bandwidth / 1024) <= 1
    ):
        raise _error(
            pattern,
            f"moved {size:g} B in {milliseconds:g} ms, which is not "
            f"{bandwidth:g} B/s",
        )


def _check_totals(
    pattern: str,
    report: document.Document,
    side: tuple[str | int, ...],
    block: int | None,
    depth: int,
) -> None:
    """Reject inconsistent latencies, and bytes unlike the requests.

    Only some of the counts include requests in flight at the end of the ramp
    time or at the end of the run.
    """
    ios, size = (
        report.number(*side, key) for key in ("total_ios", "io_bytes")
    )
    least, mean, most, counted = (
        report.number(*side, "clat_ns", key)
        for key in ("min", "mean", "max", "N")
    )
    flight = 2 * depth + 2
    moved = size / block if block else ios
    if abs(moved - ios) > flight or abs(counted - ios) > flight:
        raise _error(
            pattern,
            f"moved {size:g} B with {ios:g} requests of {block} B, and "
            f"reported latencies of {counted:g} requests",
        )
    submit, most_submit, all_of_it = (
        report.number(*side, *path)
        for path in (
            ("slat_ns", "mean"),
            ("slat_ns", "max"),
            ("lat_ns", "mean"),
        )
    )
    slack = flight / max(counted, 1) * most_submit + 1e-6 * all_of_it + 1e-3
    if not (least <= mean <= most and abs(submit + mean - all_of_it) <= slack):
        raise _error(
            pattern,
            f"reported latencies from {least:g} to {most:g} ns with means of "
            f"{submit:g} and {mean:g} ns, which are not {all_of_it:g} ns",
        )
    _check_bins(pattern, report, (*side, "clat_ns"))


def _check_bins(
    pattern: str, report: document.Document, path: tuple[str | int, ...]
) -> None:
    """Reject bins unlike the extremes, the mean and the percentiles."""
    bins = report.find(*path, "bins")
    if not isinstance(bins, dict) or not bins:
        return
    # A bin without width counts one latency, such as 0.
    names = [
        outputs.parse_number(name, f"fio: {pattern}: bin") for name in bins
    ]
    counts = [report.number(*path, "bins", name) for name in bins]
    least, mean, most, counted = (
        report.number(*path, key) for key in ("min", "mean", "max", "N")
    )
    total = math.fsum(
        middle * count for middle, count in zip(names, counts, strict=True)
    )
    if (
        names != sorted(set(names))
        or not all(map(_is_bin, names))
        or abs(names[0] - least) > _BIN * least + 0.5
        or abs(names[-1] - most) > _BIN * most + 0.5
        or abs(total / max(counted, 1) - mean) > _BIN * mean + 0.5
    ):
        raise _error(
            pattern,
            f"reported latency bins that do not agree with latencies from "
            f"{least:g} to {most:g} ns and a mean of {mean:g} ns",
        )
    percentiles = report.find(*path, "percentile")
    sums = list(itertools.accumulate(counts))
    for share in percentiles if isinstance(percentiles, dict) else ():
        reported = report.number(*path, "percentile", share)
        percent = outputs.parse_number(share, f"fio: {pattern}: percentile")
        rank = rank_of(percent, counted)
        expected = next(
            (
                middle
                for middle, cumulative in zip(names, sums, strict=True)
                if cumulative >= rank
            ),
            -1,
        )
        if reported != expected:
            raise _error(
                pattern,
                f"reported {reported:g} ns as percentile {percent:g}, but its "
                f"bins give {expected:g} ns",
            )


def rank_of(percent: float, counted: float) -> int:
    """Return the number of latencies that are <= a percentile.

    fio computes it with more digits than a float: 99.9 % of 1000 latencies
    are 1000, because 99.9 as a float is slightly larger.
    """
    return math.ceil(fractions.Fraction(percent) * int(counted) / 100)


def _is_bin(name: float) -> bool:
    """Return whether a text can be the middle of the range of a fio bin.

    A middle with more than 7 bits has 8 significant bits, with the last one
    set.
    """
    shift = max(int(name).bit_length() - 8, 0)
    return name == int(name) and (
        name < 128
        or ((int(name) >> shift) % 2 == 1 and not int(name) % (1 << shift))
    )


def _error(pattern: str, problem: str) -> base.WorkloadError:
    """Return a WorkloadError that describes a problem of a pattern."""
    return base.WorkloadError(
        f"fio: {pattern} {problem}; look at the raw output"
    )
