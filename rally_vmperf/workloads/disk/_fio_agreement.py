"""Whether fio's JSON agrees with its command and with itself."""

import collections.abc
import fractions
import itertools
import math

from rally_vmperf import sanitize
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs

#: By how much a latency may differ from the name of its bin, relatively.
_BIN = 0.0079


def check(
    pattern: str,
    text: str,
    argv: collections.abc.Sequence[str],
    block: int | None,
) -> None:
    """Check what fio printed against its command line and against itself.

    Reports before the last one need only describe the same job, with counts
    that give their rates.

    :param pattern: The access pattern, with the direction after a dot if it
        reads and writes.
    :param text: The output of fio.
    :param argv: The command line, whose options fio repeats.
    :param block: The size of a request in bytes; None for several sizes.
    :raises base.WorkloadError: For the first disagreement.
    """
    reports = document.Document.each(text, "fio")
    if text[reports[-1].end :].strip():
        raise _error(pattern, "printed something after its last report")
    options = dict(word[2:].split("=", 1) for word in argv if "=" in word)
    side = "write" if pattern.endswith("write") else "read"
    for report in reports:
        jobs = report.find("jobs")
        if not isinstance(jobs, list) or len(jobs) != 1:
            raise _error(pattern, "reports other than one job")
        if report.find("jobs", 0, "jobname") != pattern.partition(".")[0]:
            raise _error(pattern, "reports a job of another name")
        told = report.find("jobs", 0, "job options")
        for key, value in told.items() if isinstance(told, dict) else ():
            if options.get(key, value) != value:
                raise _error(
                    pattern,
                    f"ran with {sanitize.line(f'{key}={value}', 60)} "
                    f"instead of {key}={options[key]}",
                )
        _check_rates(pattern, report, ("jobs", 0, side))
    flight = int(options["iodepth"]) * int(options.get("numjobs", 1))
    _check_totals(pattern, reports[-1], ("jobs", 0, side), block, flight)


def _check_rates(
    pattern: str, report: document.Document, side: tuple[str | int, ...]
) -> None:
    """Check rates against the counts and times that fio divides."""
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
    """Check latencies against each other, and bytes against requests.

    Requests in flight at the end of the ramp time, or at the end of the run,
    are in some of the counts and not in others.
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
            f"moved {size:g} B by {ios:g} requests of {block} B, and timed "
            f"{counted:g}",
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
            f"has latencies from {least:g} to {most:g} ns, in the mean "
            f"{submit:g} and {mean:g}, which are not {all_of_it:g} ns",
        )
    _check_bins(pattern, report, (*side, "clat_ns"))


def _check_bins(
    pattern: str, report: document.Document, where: tuple[str | int, ...]
) -> None:
    """Check bins against the extremes, the mean and the percentiles."""
    found = report.find(*where, "bins")
    if not isinstance(found, dict) or not found:
        return
    # A bin of no width counts one value; a latency of 0 is one.
    names = [outputs.number(name, f"fio: {pattern}: bin") for name in found]
    counts = [report.number(*where, "bins", name) for name in found]
    least, mean, most, counted = (
        report.number(*where, key) for key in ("min", "mean", "max", "N")
    )
    total = math.fsum(
        n * count for n, count in zip(names, counts, strict=True)
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
            f"has latency bins that are not those of {least:g} to {most:g} "
            f"ns with a mean of {mean:g} ns",
        )
    percentiles = report.find(*where, "percentile")
    sums = list(itertools.accumulate(counts))
    for share in percentiles if isinstance(percentiles, dict) else ():
        told = report.number(*where, "percentile", share)
        percent = outputs.number(share, f"fio: {pattern}: percentile")
        rank = rank_of(percent, counted)
        at = next(
            (n for n, s in zip(names, sums, strict=True) if s >= rank), -1
        )
        if told != at:
            raise _error(
                pattern,
                f"has {told:g} ns for {percent:g} % of its requests, and "
                f"{at:g} ns by its bins",
            )


def rank_of(percent: float, counted: float) -> int:
    """Return how many of the latencies a percentile has below it, or at it.

    fio computes this with more digits than a float has: of 1000 latencies
    99.9 %, which is a little more than that as a float, are all of them.
    """
    return math.ceil(fractions.Fraction(percent) * int(counted) / 100)


def _is_bin(name: float) -> bool:
    """Return whether a bin can have this name: the middle of its range.

    The middle has 8 significant bits, the last of them set, if it has more
    than 7.
    """
    shift = max(int(name).bit_length() - 8, 0)
    return name == int(name) and (
        name < 128
        or ((int(name) >> shift) % 2 == 1 and not int(name) % (1 << shift))
    )


def _error(pattern: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(f"fio: {pattern} {what}; look at the raw output")
