"""Disk workload: iozone."""

import math
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Test -> what iozone calls those who do it.
_SEQUENTIAL = {
    "write": "initial writers",
    "rewrite": "rewriters",
    "read": "readers",
    "reread": "re-readers",
}
_RANDOM = {"random_read": "random readers", "random_write": "random writers"}

#: Bytes per second of the slowest disk that is waited for, and of a usual one.
_SLOWEST, _USUAL = 2 * 10**6, 200 * 10**6

_RATE = r"=\s{1,20}([0-9.]{1,30}) kB/sec\s*?$"
#: What is said of a test: the sum, and of the processes least, most and mean.
_TEST = re.compile(
    r"^\tChildren see throughput for {1,2}([0-9]{1,5}) "
    rf"([a-z -]{{1,30}}?)\s+{_RATE}\n"
    r"\tParent sees .{1,100}\n"
    rf"\tMin throughput per process\s+{_RATE}\n"
    rf"\tMax throughput per process\s+{_RATE}\n"
    rf"\tAvg throughput per process\s+{_RATE}\n",
    re.M,
)
_SIZE = re.compile(
    r"^\tEach process writes a ([0-9]{1,15}) kByte file in ([0-9]{1,9}) "
    r"kByte records$",
    re.M,
)
_END = "\niozone test complete.\n"

_ADVICE = "iozone is not free software: "


class Files(base.Workload):
    """Processes that each write and read a file, all at the same time."""

    name = "iozone"
    title = "Disk: files of several processes with iozone"
    part = "disk"
    ARGUMENTS = rules.schema(
        processes=rules.integer(
            "Processes at the same time, each with its file", 1, 64, default=1
        ),
        size_mib=rules.integer(
            "Size of each file in MiB", 1, 1048576, default=512
        ),
        record_size=rules.size("Size of a request", default="64k"),
        random=rules.flag("Read and write at random as well", default=False),
        flush=rules.flag(
            "A write ends when all data are on the disk", default=True
        ),
        direct=rules.flag("Bypass the page cache (O_DIRECT)", default=True),
    )
    TOOLS = (
        tools.of(
            "iozone",
            asks="",
            package="iozone3",
            packages={"dnf": "iozone", "zypper": "iozone"},
            advice={
                "apt": f"{_ADVICE}enable Debian's section non-free (Ubuntu: "
                "multiverse)",
                "dnf": f"{_ADVICE}build it from iozone.org's source",
                "zypper": f"{_ADVICE}build it from iozone.org's source",
            },
        ),
    )

    def complete(self, arguments: base.Arguments) -> dict[str, object]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for a request larger than the file
        """
        complete = super().complete(arguments)
        if (
            rules.size_bytes(complete["record_size"])
            > complete["size_mib"] << 20
        ):
            raise base.WorkloadError(
                f"workload iozone: record_size: {complete['record_size']} is "
                f"more than the file of {complete['size_mib']} MiB; give a "
                "larger file"
            )
        return complete

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a caution when the page cache is read or written."""
        if arguments["direct"]:
            return ()
        what = "reads" if arguments["flush"] else "reads and writes"
        return (("page_cache_measured", f"iozone {what}, with direct: false"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each test, of all processes."""
        return tuple(map(_metric, _tests(arguments)))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all tests; iozone removes its files."""
        many = f"{arguments['processes']}"
        record = rules.size_bytes(arguments["record_size"]) // 1024
        moved = (
            len(_tests(arguments))
            * arguments["processes"]
            * (arguments["size_mib"] << 20)
        )
        argv = (
            *("iozone", "-l", many, "-u", many),
            *("-s", f"{arguments['size_mib']}m", "-r", f"{record}k"),
            *("-i", "0", "-i", "1"),
            *(("-i", "2") if arguments["random"] else ()),
            *(("-e",) if arguments["flush"] else ()),
            *(("-I",) if arguments["direct"] else ()),
            "-F",
            *(f"{n}.data" for n in range(1, arguments["processes"] + 1)),
        )
        return (
            base.Command(
                name="iozone",
                argv=argv,
                timeout=120 + moved / _SLOWEST,
                seconds=moved / _USUAL,
                bound="size",
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the sums over the processes, in bytes and not in KiB."""
        found = rates(
            outcome.stdout,
            arguments["processes"],
            arguments["size_mib"] * 1024,
            rules.size_bytes(arguments["record_size"]) // 1024,
        )
        wanted = _tests(arguments)
        if sorted(found) != sorted(wanted.values()):
            raise _error(
                f"ran {len(found)} tests, which are not those {len(wanted)} "
                "that were asked for"
            )
        return [
            limits.measured(_metric(test), found[title])
            for test, title in wanted.items()
        ]


def rates(
    text: str, processes: int, size_kib: int, record_kib: int
) -> dict[str, float]:
    """Return the bytes per second of each test, by iozone's name of it.

    The sum is checked against minimum, maximum and mean of the processes.

    :raises base.WorkloadError: when the output is of other arguments, is not
        whole, or contradicts itself
    """
    sizes = _SIZE.findall(text)
    if sizes != [(str(size_kib), str(record_kib))] or _END not in text:
        raise _error(
            f"printed {sanitize.line(text[-400:], 80)!r} at its end, which is "
            f"not that of files of {size_kib} KiB in records of {record_kib}"
        )
    found = {}
    for many, title, *words in _TEST.findall(text):
        total, least, most, mean = (
            outputs.number(word, f"iozone: {title}") for word in words
        )
        if int(many) != processes:
            raise _error(f"has {many} {title} instead of {processes}")
        coherent = math.isclose(
            total, mean * processes, rel_tol=1e-5, abs_tol=0.02 * processes
        )
        if title in found or not (coherent and least <= mean <= most):
            raise _error(
                f"has {title} of {total:g} kB/s in all and {mean:g} in the "
                f"mean, from {least:g} to {most:g}"
            )
        found[title] = total * 1024
    return found


def _tests(arguments: base.Arguments) -> dict[str, str]:
    return {**_SEQUENTIAL, **(_RANDOM if arguments["random"] else {})}


def _metric(test: str) -> sample.Metric:
    return sample.Metric(f"disk.iozone.{test}.bandwidth", "B/s", "higher")


def _error(what: str) -> base.WorkloadError:
    return base.WorkloadError(f"iozone {what}; look at the raw output")
