"""Checks of fio's JSON against its command line and for consistency."""

import collections.abc
import fractions
import itertools
import math
import re

from rally_vmperf import sanitize
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs

#: Maximum relative difference of a latency and the name of its bin.
_BIN = 0.0079
#: Nanoseconds of each request that fio before 3.33 may count in the total
#: latency only: 3.25 counts about 50, and more where it is emulated.
_UNCOUNTED_NS = 1000
_OLD_VERSION = re.compile(r"fio-3\.([12]?[0-9]|3[0-2])\b")
#: Options of the command line that fio does not repeat in its output.
_NOT_REPEATED = ("eta", "output-format", "section", "status-interval")


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
    :param argv: The command line with the options of a job file, all of which
        fio repeats; the last value of an option counts.
    :param block: The size of a request in bytes; None for several sizes.
    :raises base.WorkloadError: For the first disagreement.
    """
    output = outputs.Reader(f"fio: {pattern}")
    reports = document.Document.parse_all(text, "fio")
    if text[reports[-1].end :].strip():
        raise output.error("printed text after its last report")
    options, flags = _parse_options(argv)
    side = "write" if pattern.endswith("write") else "read"
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
        _check_rates(output, job.at(side))
    flight = int(options.get("iodepth", 1)) * int(options.get("numjobs", 1))
    version = str(reports[-1].find("fio version"))
    uncounted = _UNCOUNTED_NS if _OLD_VERSION.match(version) else 0
    _check_totals(
        output, reports[-1].at("jobs", 0, side), block, flight, uncounted
    )


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


def _check_rates(output: outputs.Reader, side: document.Document) -> None:
    """Reject rates that contradict the counts and times."""
    size, kib, bandwidth, kib_per_second = side.numbers(
        "io_bytes", "io_kbytes", "bw_bytes", "bw"
    )
    iops, ios, milliseconds = side.numbers("iops", "total_ios", "runtime")
    if not milliseconds > 0:
        return
    if not math.isclose(
        iops, ios * 1000 / milliseconds, rel_tol=1e-8, abs_tol=1e-6
    ):
        raise output.error(
            f"did {ios:g} requests in {milliseconds:g} ms, which is not "
            f"{iops:g} per second"
        )
    if not (
        math.isclose(bandwidth, size * 1000 / milliseconds, abs_tol=1)
        and abs(kib - size / 1024) <= 1
        and abs(kib_per_second - bandwidth / 1024) <= 1
    ):
        raise output.error(
            f"moved {size:g} B in {milliseconds:g} ms, which is not "
            f"{bandwidth:g} B/s"
        )


def _check_totals(
    output: outputs.Reader,
    side: document.Document,
    block: int | None,
    depth: int,
    uncounted: float,
) -> None:
    """Reject inconsistent latencies, and bytes unlike the requests.

    Only some of the counts include requests in flight at the end of the ramp
    time or at the end of the run.

    :param uncounted: The maximum nanoseconds of a request that only the total
        latency includes.
    """
    ios, size = side.numbers("total_ios", "io_bytes")
    least, mean, most, counted = side.at("clat_ns").numbers(
        "min", "mean", "max", "N"
    )
    flight = 2 * depth + 2
    moved = size / block if block else ios
    if abs(moved - ios) > flight or abs(counted - ios) > flight:
        raise output.error(
            f"moved {size:g} B with {ios:g} requests of {block} B, and "
            f"reported latencies of {counted:g} requests"
        )
    submit, most_submit = side.at("slat_ns").numbers("mean", "max")
    all_of_it = side.number("lat_ns", "mean")
    slack = flight / max(counted, 1) * most_submit + 1e-6 * all_of_it + 1e-3
    slack += uncounted
    if not (least <= mean <= most and abs(submit + mean - all_of_it) <= slack):
        raise output.error(
            f"reported latencies from {least:g} to {most:g} ns with means of "
            f"{submit:g} and {mean:g} ns, which are not {all_of_it:g} ns"
        )
    _check_bins(output, side.at("clat_ns"))


def _check_bins(output: outputs.Reader, latency: document.Document) -> None:
    """Reject bins unlike the extremes, the mean and the percentiles."""
    bins = latency.mapping("bins")
    if not bins:
        return
    # A bin without width counts one latency, such as 0.
    names = [output.number(name, "bin") for name in bins]
    counts = latency.at("bins").numbers(*bins)
    least, mean, most, counted = latency.numbers("min", "mean", "max", "N")
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
        raise output.error(
            f"reported latency bins that do not agree with latencies from "
            f"{least:g} to {most:g} ns and a mean of {mean:g} ns"
        )
    sums = list(itertools.accumulate(counts))
    for share in latency.mapping("percentile"):
        reported = latency.number("percentile", share)
        percent = output.number(share, "percentile")
        rank = rank_of(percent, counted)
        middles = (
            middle
            for middle, cumulative in zip(names, sums, strict=True)
            if cumulative >= rank
        )
        expected = next(middles, -1)
        if reported != expected:
            raise output.error(
                f"reported {reported:g} ns as percentile {percent:g}, but its "
                f"bins give {expected:g} ns"
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
