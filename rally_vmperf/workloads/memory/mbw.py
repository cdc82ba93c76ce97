"""Memory workload: mbw."""

import dataclasses
import itertools
import re
import statistics
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.memory import _mbw_table

METHODS = ("memcpy", "dumb", "mcblock")

#: Before 1.4 each of the two does what the other one is called.
_SWAPPED = {"memcpy": "DUMB", "dumb": "MEMCPY"}

#: What mbw.bash says first.
_OLD, _NEW = (
    re.compile(r"^says: Usage: mbw \[options\] array_size_in_MiB\n", re.M),
    re.compile(r"^says: mbw memory benchmark v([0-9.]{3,20})(?:,.*)?\n", re.M),
)
_OLDEST = tools.AtLeast(
    version="1.4",
    why="its mcblock copies the same first block again and again",
    remedy="install 1.4 or later, or leave mcblock out of 'methods'",
)

#: What mbw.bash says before the output of each of several processes.
_PROCESS = re.compile(r"^process ([0-9]{1,9})\n", re.M)

_MIB = 1 << 20

#: Share of the time of the n-th copies in which all processes have to be at
#: theirs for their rates to be added up.
_COMMON = 0.5

#: MiB/s of the slowest machine that is waited for.
_SLOWEST = 20
#: MiB/s of a machine of today.
_USUAL = 5000

_BUILD = "build it into the image or into a repository of your own"


class MemoryBandwidth(base.Workload):
    """Copy one array into another, in three ways."""

    name = "mbw"
    title = "Memory: bandwidth of copying with mbw"
    part = "memory"
    ARGUMENTS = rules.schema(
        size_mib=rules.integer(
            "Size of the array in MiB",
            1,
            65536,
            default=64,
            note="twice that is allocated",
        ),
        runs=rules.integer(
            "Copies of the array for each method", 1, 1000, default=10
        ),
        methods=rules.choices(
            "Ways of copying: memcpy, dumb (element by element), mcblock "
            "(memcpy block by block, with mbw 1.4 or later).",
            METHODS,
            default=("memcpy", "dumb"),
        ),
        block_size=rules.integer(
            "Bytes of a block of mcblock",
            64,
            1048576,
            default=262144,
            note="the array is a whole number of them",
        ),
        processes=rules.integer(
            "Processes at the same time, whose rates are added up",
            1,
            256,
            default=1,
            note="each has arrays of its own",
        ),
    )
    TOOLS = (
        tools.of(
            "mbw",
            asks="",
            advice={
                "dnf": f"we know of no package of mbw for RHEL: {_BUILD}",
                "zypper": f"we know of no package of mbw for SUSE: {_BUILD}",
            },
        ),
        tools.of("bash", measures=False),
    )

    SENSITIVE_TO = base.MEMORY

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for blocks that do not fill the array
        """
        complete = super().complete(arguments)
        size, block = complete["size_mib"] * _MIB, complete["block_size"]
        if size % block:
            raise base.WorkloadError(
                f"workload mbw: block_size: {block} does not divide the array "
                f"of {size} bytes; take a power of two, such as "
                f"{1 << (block.bit_length() - 1)}"
            )
        return complete

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return mbw; mcblock needs a version that copies all of the array."""
        if "mcblock" not in arguments["methods"]:
            return self.TOOLS
        return tools.newer(self.TOOLS, "mbw", _OLDEST)

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that runs mbw and prints its version."""
        return (files.script("mbw.bash"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each method that is asked for."""
        return tuple(_metric(method) for method in _methods(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all methods."""
        options = _options(arguments)
        processes = arguments["processes"]
        argv = (
            *("bash", "mbw.bash"),
            *(("-k", f"{processes}") if processes > 1 else ()),
            *base.argv("-n {runs} -b {block_size}", arguments),
            *options.values(),
            f"{arguments['size_mib']}",
        )
        copied = (arguments["runs"] * len(options) + 2) * arguments["size_mib"]
        copied *= processes
        timeout = 60 + copied / _SLOWEST
        return (
            base.Command(
                name="mbw",
                argv=argv,
                timeout=timeout,
                seconds=copied / _USUAL,
                bound="size",
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return the mean rates, in bytes and not in MiB, and single ones.

        The series of a method has the rate of each copy, by the seconds that
        it and those before it took.  Of several processes the n-th copies are
        added up; where these did not overlap for half of their time, there is
        no series.
        """
        text = outcome.stdout
        old = _is_old(text)
        if old and "mcblock" in arguments["methods"]:
            raise _mbw_table.error(
                "mcblock", f"is of an mbw before 1.4: {_OLDEST.why}"
            )
        processes = [
            _of_process(part, arguments)
            for part in _parts(text, arguments["processes"])
        ]
        means: list[sample.Reading] = []
        single: list[sample.Reading] = []
        for method in _methods(arguments):
            label = _SWAPPED[method] if old else method.upper()
            each = [one[label] for one in processes]
            rate = sum(one.rate for one in each)
            means.append(limits.measured(_metric(method), rate))
            single += _series(_metric(method), each)
        return means + single


def _methods(arguments: base.Arguments) -> list[str]:
    return [m for m in METHODS if m in arguments["methods"]]


def _options(arguments: base.Arguments) -> dict[str, str]:
    """Return label in the output -> option of mbw, for each method.

    memcpy and dumb are always run both, for old versions swap them.
    """
    asked = set(arguments["methods"])
    both = {"MEMCPY": "-t0", "DUMB": "-t1"} if asked - {"mcblock"} else {}
    return both | ({"MCBLOCK": "-t2"} if "mcblock" in asked else {})


def says(version: str) -> str:
    """Return the lines with which mbw.bash reports a version."""
    if tools.upstream(version) < (1, 4):
        return "says: Usage: mbw [options] array_size_in_MiB\n"
    return f"says: mbw memory benchmark v{version}\n"


def _is_old(text: str) -> bool:
    """Whether mbw is older than 1.4.

    :raises base.WorkloadError: when that is not said once, at the beginning
    """
    old, new = _OLD.findall(text), _NEW.findall(text)
    if len(old) + len(new) != 1 or text.count("says: ") != 1:
        raise base.WorkloadError(
            "mbw: the output does not name its version once, and the "
            "meaning of its figures depends on it; a published output may "
            "begin "
            "with 'says: mbw memory benchmark v1.4'"
        )
    if new and tools.upstream(new[0]) < (1, 4):
        raise base.WorkloadError(
            f"mbw: it says that it is {new[0]}, and none before 1.4 does; "
            "look at the raw output"
        )
    return bool(old)


def _parts(text: str, processes: int) -> list[str]:
    """Return what each process printed.

    :raises base.WorkloadError: when they are not as many as were asked for
    """
    found = _PROCESS.split(text)
    numbers = [str(number) for number in range(1, processes + 1)]
    if found[1::2] != (numbers if processes > 1 else []):
        raise base.WorkloadError(
            f"mbw: it has outputs of {len(found) // 2} processes instead of "
            f"{processes}; look at the raw output"
        )
    return found[2::2] if processes > 1 else found


def _check_run(text: str, arguments: base.Arguments) -> None:
    """Check what mbw prints about its run against the arguments.

    :raises base.WorkloadError: when it was another run
    """
    lines = text.splitlines()
    size = 2 * arguments["size_mib"] * _MIB
    wanted = [
        f"Long uses 8 bytes. Allocating 2*{size // 16} elements = {size} "
        "bytes of memory.",
        "Getting down to business... Doing "
        f"{arguments['runs']} runs per test.",
    ]
    if "mcblock" in arguments["methods"]:
        wanted.append(
            f"Using {arguments['block_size']} bytes as blocks for memcpy "
            "block copy test."
        )
    for line in wanted:
        if lines.count(line) != 1:
            raise base.WorkloadError(
                f"mbw: it did not say {line!r} once; look at the raw output"
            )
    labels = {one[2] for one in _mbw_table.rows(text)}
    if labels != set(_options(arguments)):
        raise base.WorkloadError(
            f"mbw: it ran {sanitize.line(', '.join(sorted(labels)), 80)} "
            f"instead of {', '.join(_options(arguments))}; look at the raw "
            "output"
        )


def _metric(method: str) -> sample.Metric:
    return sample.Metric(f"memory.mbw.{method}.bandwidth", "B/s", "higher")


def _of_process(
    text: str, arguments: base.Arguments
) -> dict[str, _mbw_table.Copies]:
    """Return what one process copied, by label in the order of its work."""
    _check_run(text, arguments)
    found: dict[str, _mbw_table.Copies] = {}
    begin = 0.0
    for label in _options(arguments):
        one = _mbw_table.copies(
            text, label, arguments["runs"], arguments["size_mib"]
        )
        found[label] = dataclasses.replace(one, begin=begin)
        begin = found[label].moments[-1]
    return found


def _series(
    metric: sample.Metric, processes: list[_mbw_table.Copies]
) -> list[sample.Series]:
    """Return the rate of each copy, as ``read`` says; none of one copy."""
    moments = list(zip(*(one.moments for one in processes), strict=True))
    points = []
    for at, (begins, ends) in enumerate(itertools.pairwise(moments)):
        common = min(ends) - max(begins)
        if common < _COMMON * (max(ends) - min(begins)):
            return []
        rate = sum(one.size_mib * _MIB / one.seconds[at] for one in processes)
        since = statistics.fmean(ends) - statistics.fmean(moments[0])
        points.append((since, limits.measured(metric, rate).value))
    if len(points) < 2:
        return []
    return [sample.Series(metric=metric, points=tuple(points))]
