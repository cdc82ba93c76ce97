# SPDX-License-Identifier: Apache-2.0
"""Memory workload: mbw."""

import collections.abc
import dataclasses
import itertools
import re
import statistics

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools

_MIB = 1 << 20

#: Labels in a line of the table.
_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]

METHODS = ("memcpy", "dumb", "mcblock")
_MCBLOCK_METRIC = "memory.mbw.mcblock.bandwidth"

#: Before 1.4 the names of these methods are swapped.
_SWAPPED_LABELS = {"memcpy": "DUMB", "dumb": "MEMCPY"}

#: The first line of mbw.bash.
_OLD, _NEW = (
    re.compile(r"^says: Usage: mbw \[options\] array_size_in_MiB\n", re.M),
    re.compile(r"^says: mbw memory benchmark v([0-9.]{3,20})(?:,.*)?\n", re.M),
)
_MINIMUM_VERSION = tools.MinimumVersion(
    version="1.4",
    reason="its mcblock copies only the first block repeatedly",
    remedy="install 1.4 or later, or remove mcblock from methods",
)

#: The line of mbw.bash before the output of each of several processes.
_PROCESS = re.compile(r"^process ([0-9]{1,9})\n", re.M)

#: A row of mcblock.
_MCBLOCK = re.compile(r"^\S{1,9}\s+Method: MCBLOCK\s.*\n?", re.M)

_OUTPUT = outputs.Reader("mbw:")

#: Minimum overlap of the n-th copies of all processes, as a share of their
#: time, for which their rates are added.
_COMMON = 0.5

#: MiB/s of the slowest supported machine.
_SLOWEST = 20
#: MiB/s of a current machine.
_USUAL = 5000

_BUILD = "add it to the image or to a repository of your own"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Copies:
    """The copies of one process with one method.

    :param begin: The duration of its previous copies with other methods, in
        seconds.
    :param seconds: The duration of each copy in seconds.
    """

    size_mib: int
    begin: float = 0.0
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """The bytes per second of all runs."""
        copied = len(self.seconds) * self.size_mib
        return copied / sum(self.seconds) * _MIB

    @property
    def moments(self) -> tuple[float, ...]:
        """The start of the first copy and the end of each, in seconds."""
        return tuple(itertools.accumulate(self.seconds, initial=self.begin))


_OPTIONS = options.OptionTable(
    options=(
        # The output states these: runs, methods and the size of a block.
        *options.name_options("n", "t", "b"),
        *options.name_options("a", "q", has_value=False),
    )
)


class Mbw(sequence.SequenceWorkload):
    """Copies of an array with three methods."""

    name = "mbw"
    title = "Memory: bandwidth of copying with mbw"
    part = "memory"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(runs=3)
    ARGUMENTS = schemas.schema(
        size_mib=schemas.integer(
            "Size of the array in MiB",
            1,
            65536,
            default=64,
            note="twice this size is allocated",
        ),
        runs=schemas.integer(
            "Copies of the array for each method", 1, 1000, default=10
        ),
        methods=schemas.choices(
            "Methods of copying: memcpy, dumb (element by element), mcblock "
            "(memcpy block by block, with mbw 1.4 or later).",
            METHODS,
            default=("memcpy", "dumb"),
        ),
        block_size=schemas.integer(
            "Block size of mcblock, bytes",
            64,
            1048576,
            default=262144,
            note="the array must be a multiple of it",
        ),
        processes=schemas.per_vcpu(
            "Number of concurrent processes, whose rates are added",
            256,
            note="each has its own arrays",
        ),
    )
    OPTIONS = "methods"
    METRICS = (sample.Metric("memory.mbw.{}.bandwidth", "B/s", "higher"),)
    TOOLS = (
        tools.define(
            "mbw",
            version_argument="",
            comparable_from=(1, 4),
            advice={
                "dnf": f"no known package of mbw for RHEL: {_BUILD}",
                "zypper": f"no known package of mbw for SUSE: {_BUILD}",
            },
        ),
        tools.auxiliary("bash"),
    )
    SENSITIVE_TO = sensitivities.MEMORY

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject an array that is not a multiple of the block.

        :raises ValueError: If the block does not divide the array.
        """
        size, block = arguments["size_mib"] * _MIB, arguments["block_size"]
        if size % block:
            raise ValueError(
                f"block_size={block}: must divide the array of {size} bytes; "
                "use a power of two, such as "
                f"{1 << (block.bit_length() - 1)}"
            )

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return mbw as a Tool; older versions reject or omit mcblock."""
        if "mcblock" not in arguments["methods"]:
            return self.TOOLS
        minimum = _MINIMUM_VERSION
        if len(arguments["methods"]) > 1:
            minimum = dataclasses.replace(minimum, omits=_MCBLOCK_METRIC)
        return tools.require_version(self.TOOLS, "mbw", minimum)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metrics of the methods; mcblock is optional with others.

        Versions before 1.4 do not measure it.
        """
        metrics = super().metrics(arguments)
        return tuple(
            dataclasses.replace(
                metric,
                optional=metric.name == _MCBLOCK_METRIC and len(metrics) > 1,
            )
            for metric in metrics
        )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return a tuple of the script that runs mbw."""
        return (files.script("mbw.bash"),)

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all methods."""
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
        command = base.Command(
            name="mbw",
            argv=argv,
            timeout=60 + copied / _SLOWEST,
            seconds=copied / _USUAL,
            bound="size",
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return the samples and series of the rates in bytes per second.

        The series of a method has the rate of each copy at its end.  The
        rates of the n-th copies of several processes are added; if these
        overlap for less than half of their time, no series is returned.
        """
        text = result.stdout
        old = is_old(text)
        if old:
            methods = [*filter("mcblock".__ne__, arguments["methods"])]
            arguments = {**arguments, "methods": methods}
        if not arguments["methods"]:
            raise outputs.Reader("mbw: mcblock").error(
                f"requires mbw 1.4 or later: {_MINIMUM_VERSION.reason}"
            )
        processes = [
            _parse_process(output, arguments)
            for output in _split_processes(text, arguments["processes"])
        ]
        means: list[sample.Reading] = []
        single: list[sample.Reading] = []
        for method in self.selected(arguments):
            (metric,) = self.option_metrics(method)
            label = _SWAPPED_LABELS[method] if old else method.upper()
            copies = [process[label] for process in processes]
            rate = sum(process.rate for process in copies)
            means.append(outputs.create_sample(metric, rate))
            single += _series(metric, copies)
        return means + single


def _options(arguments: base.Arguments) -> dict[str, str]:
    """Return the option of mbw for each label in the output, as a dict.

    memcpy and dumb always run together, because old versions swap them.
    """
    methods = set(arguments["methods"])
    options = {"MEMCPY": "-t0", "DUMB": "-t1"} if methods - {"mcblock"} else {}
    return options | ({"MCBLOCK": "-t2"} if "mcblock" in methods else {})


def version_line(version: str) -> str:
    """Return the line with which mbw.bash reports a version."""
    if tools.parse_version(version) < (1, 4):
        return "says: Usage: mbw [options] array_size_in_MiB\n"
    return f"says: mbw memory benchmark v{version}\n"


def is_old(text: str) -> bool:
    """Return whether an output of mbw is from a version before 1.4.

    :raises base.WorkloadError: If the output does not begin with a version.
    """
    old, new = _OLD.findall(text), _NEW.findall(text)
    if len(old) + len(new) != 1 or text.count("says: ") != 1:
        raise base.WorkloadError(
            "mbw: the output must contain its version exactly once, because "
            "the meaning of its figures depends on it; to a published "
            "output, prepend 'says: mbw memory benchmark v1.4'"
        )
    if new and tools.parse_version(new[0]) < (1, 4):
        raise _OUTPUT.error(
            f"reported version {new[0]}, but versions before 1.4 do not "
            "report it"
        )
    return bool(old)


def omit_mcblock(text: str) -> str:
    """Return an output without the rows of mcblock."""
    return _MCBLOCK.sub("", text)


def _split_processes(text: str, processes: int) -> list[str]:
    """Split an output into a list of one text per process.

    :raises base.WorkloadError: If their number is not the requested one.
    """
    fields = _PROCESS.split(text)
    numbers = [str(number) for number in range(1, processes + 1)]
    if fields[1::2] != (numbers if processes > 1 else []):
        raise _OUTPUT.error(
            f"printed outputs of {len(fields) // 2} processes instead of "
            f"{processes}"
        )
    return fields[2::2] if processes > 1 else fields


def _header(arguments: base.Arguments) -> list[str]:
    """Return the lines before the table, which repeat the arguments."""
    size = 2 * arguments["size_mib"] * _MIB
    lines = [
        f"Long uses 8 bytes. Allocating 2*{size // 16} elements = {size} "
        "bytes of memory.",
        "Getting down to business... Doing "
        f"{arguments['runs']} runs per test.",
    ]
    if "mcblock" in arguments["methods"]:
        lines.append(
            f"Using {arguments['block_size']} bytes as blocks for memcpy "
            "block copy test."
        )
    return lines


def complete_header(text: str, arguments: base.Arguments) -> str:
    """Return an output with the lines before the table that it lacks.

    Posts often have the table alone. A line with other arguments remains.

    :param text: The output, which begins with the version.
    """
    begin, _, rest = text.partition("\n")
    missing = [
        line
        for line in _header(arguments)
        if line.partition(" ")[0]
        not in {other.partition(" ")[0] for other in rest.splitlines()}
    ]
    return "\n".join((begin, *missing, rest))


def _check_run(text: str, arguments: base.Arguments) -> None:
    """Reject an output of mbw whose header contradicts the arguments.

    :raises base.WorkloadError: If the run had other arguments.
    """
    _OUTPUT.check_lines(text, *_header(arguments))
    labels = {row[2] for row in table_rows(text)}
    if labels != set(_options(arguments)):
        raise _OUTPUT.error(
            f"ran {sanitize.line(', '.join(sorted(labels)), 80)} instead of "
            f"{', '.join(_options(arguments))}"
        )


def _parse_process(text: str, arguments: base.Arguments) -> dict[str, Copies]:
    """Parse the output of one process into a dict of Copies by label."""
    _check_run(text, arguments)
    copies: dict[str, Copies] = {}
    begin = 0.0
    for label in _options(arguments):
        method_copies = parse_copies(
            text, label, arguments["runs"], arguments["size_mib"]
        )
        copies[label] = dataclasses.replace(method_copies, begin=begin)
        begin = copies[label].moments[-1]
    return copies


def _series(
    metric: sample.Metric, processes: list[Copies]
) -> list[sample.Series]:
    """Return a list with the series of rates; empty for a single copy."""
    moments = list(zip(*(copies.moments for copies in processes), strict=True))
    points = []
    for run, (begins, ends) in enumerate(itertools.pairwise(moments)):
        common = min(ends) - max(begins)
        if common < _COMMON * (max(ends) - min(begins)):
            return []
        rate = sum(
            copies.size_mib * _MIB / copies.seconds[run]
            for copies in processes
        )
        since = statistics.fmean(ends) - statistics.fmean(moments[0])
        points.append((since, outputs.create_sample(metric, rate).value))
    if len(points) < 2:
        return []
    return [sample.Series(metric=metric, points=tuple(points))]


def table_rows(text: str) -> collections.abc.Iterator[list[str]]:
    """Yield the words of each line of mbw's table as a list."""
    for fields in map(str.split, text.splitlines()):
        if fields[1:9:2] == _LABELS:
            yield fields


def parse_copies(text: str, label: str, runs: int, size_mib: int) -> Copies:
    """Parse mbw's output into the Copies with one method.

    :param label: The name of the method in the table.
    :raises base.WorkloadError: If the table is not complete, or is that of
        other arguments.
    """
    output = outputs.Reader(f"mbw: {label.lower()}")
    lines = [
        (fields[0], *_parse_line(fields, output))
        for fields in table_rows(text)
        if fields[2] == label
    ]
    counted = [line for line in lines if line[0] != "AVG"]
    if [run for run, _, _ in counted] != [str(n) for n in range(runs)]:
        raise output.error(f"has {len(counted)} runs instead of {runs}")
    # Without the average, the last lines are missing.
    if len(lines) != runs + 1:
        raise output.error(f"has {len(lines) - runs} averages instead of one")
    if any(mib != size_mib for _, mib, _ in lines):
        raise output.error(f"was not run with {size_mib} MiB")
    # The size and the rate give more exact seconds than mbw prints.
    return Copies(
        size_mib=size_mib,
        seconds=tuple(round(mib / rate, 6) for _, mib, rate in counted),
    )


def _parse_line(
    fields: list[str], output: outputs.Reader
) -> tuple[float, float]:
    """Check the words of a line of mbw; return its MiB and its MiB/s."""
    if len(fields) != 10 or fields[9] != "MiB/s":
        raise output.error("has a line with another format")
    mib, rate = output.numbers((fields[6], fields[8]))
    # A run takes between a microsecond and a day.
    if not (mib > 0 and rate > 0 and 1e-6 <= mib / rate < 86400):
        raise output.error(f"copied {mib:g} MiB at {rate:g} MiB/s")
    return mib, rate
