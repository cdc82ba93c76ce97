# SPDX-License-Identifier: Apache-2.0
"""Memory workload: STREAM."""

import collections.abc
import math
import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import tools

_MIB = 1 << 20
#: Bytes of an element.
_ELEMENT = 8
#: Kernel -> the number of arrays that it reads or writes.
KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_ROW = re.compile(
    r"^(Copy|Scale|Add|Triad):? +([0-9.]{1,20}) +([0-9.]{1,20}) +"
    r"([0-9.]{1,20}) +([0-9.]{1,20})$",
    re.M,
)
#: The complete end of an output.
_VALID = re.compile(
    r"^Solution Validates: avg error less than \S{1,20} on all three arrays\n"
    r"-{61}\s*\Z",
    re.M,
)
#: The maximum relative difference between the rate, and the bytes divided by
#: the time, in addition to the rounding of the time.
_TOLERANCE = 0.001
#: MiB/s of the slowest supported memory, and of a usual one.
_SLOWEST, _USUAL = 100, 5000
_SOURCE = "stream.c"

_OUTPUT = outputs.Reader("stream")

_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("elements",),
            argument="elements",
            parse=options.parse_number,
            pattern=re.compile(r"^Array size = ([0-9]{1,15})\b", re.M),
        ),
        options.Option(
            names=("offset",),
            argument="offset",
            parse=options.parse_number,
            pattern=re.compile(
                r"^Array size = .*Offset = ([0-9]{1,12})\b", re.M
            ),
        ),
        options.Option(
            names=("bytes",),
            argument="element_bytes",
            parse=options.parse_number,
            pattern=re.compile(
                r"^This system uses ([0-9]{1,3}) bytes per", re.M
            ),
        ),
        options.Option(
            names=("runs",),
            argument="runs",
            parse=options.parse_number,
            pattern=re.compile(
                r"^Each (?:kernel|test) (?:will be executed|is run) "
                r"([0-9]{1,6}) times",
                re.M,
            ),
        ),
        options.Option(
            names=("threads",),
            argument="threads",
            parse=options.parse_number,
            pattern=re.compile(
                r"^Number of Threads counted = ([0-9]{1,6})$", re.M
            ),
        ),
    )
)


class Stream(base.Workload):
    """Four kernels that read and write arrays in memory, best of all runs."""

    name = "stream"
    title = "Memory: bandwidth with STREAM"
    part = "memory"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(runs=5)
    ARGUMENTS = schemas.schema(
        size_mib=schemas.integer(
            "Size of each of three arrays in MiB",
            1,
            640,
            default=128,
            note="at least four times the caches of all processors",
        ),
        runs=schemas.integer(
            "Executions of each kernel, of which the best counts",
            2,
            1000,
            default=10,
        ),
        threads=schemas.per_vcpu("Number of threads", 1024),
        source=schemas.path(
            "Source of STREAM on the machine that runs rally-vmperf",
            default="/usr/local/src/stream.c",
        ),
        flags=schemas.choice(
            "Compiler options: -O2, -O3, or -O3 -march=native.",
            ("-O2", "-O3", "-O3 -march=native"),
            default="-O3",
        ),
    )
    METRICS = tuple(
        sample.Metric(f"memory.stream.{kernel}.bandwidth", "B/s", "higher")
        for kernel in KERNELS
    )
    TOOLS = (
        # The package gcc of Debian does not contain the headers of libc.
        tools.define(
            "gcc",
            package="build-essential",
            packages={"dnf": "gcc", "zypper": "gcc"},
        ),
    )
    SENSITIVE_TO = sensitivities.MEMORY

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's source as a File in a tuple."""
        return (base.File(name=_SOURCE, path=arguments["source"]),)

    def check_files(
        self,
        arguments: base.Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Reject a source that is not STREAM 5.10 or later."""
        if b"STREAM_ARRAY_SIZE" not in contents[_SOURCE]:
            raise base.WorkloadError(
                f"source: {arguments['source']} is not STREAM 5.10 or later "
                "(it has no STREAM_ARRAY_SIZE); use stream.c of "
                "www.cs.virginia.edu/stream"
            )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the command that compiles STREAM."""
        argv = (
            *("gcc", *arguments["flags"].split(), "-fopenmp"),
            f"-DSTREAM_ARRAY_SIZE={_count_elements(arguments)}",
            f"-DNTIMES={arguments['runs']}",
            *(_SOURCE, "-o", "stream"),
        )
        return (base.Command(name="build", argv=argv, timeout=300, seconds=2),)

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all kernels."""
        arrays = sum(KERNELS.values()) * arguments["runs"]
        moved = arrays * arguments["size_mib"]
        command = base.Command(
            name="stream",
            argv=base.argv(
                "env OMP_NUM_THREADS={threads} ./stream", arguments
            ),
            timeout=60 + moved / _SLOWEST,
            seconds=1 + moved / _USUAL,
            bound="size",
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of the best rates in bytes per second."""
        text = result.stdout
        _OUTPUT.check_lines(
            text,
            f"Array size = {_count_elements(arguments)} (elements), "
            "Offset = 0 (elements)",
            f"Each kernel will be executed {arguments['runs']} times.",
            f"Number of Threads counted = {arguments['threads']}",
        )
        if not _VALID.search(text):
            raise _OUTPUT.error("did not validate its arrays")
        rates = parse_rates(text, _count_elements(arguments) * _ELEMENT)
        if rates.keys() != KERNELS.keys():
            raise _OUTPUT.error(
                f"ran {len(rates)} kernels instead of {len(KERNELS)}"
            )
        return outputs.create_samples(self.METRICS, rates.values())


def parse_rates(text: str, size: int = 0) -> dict[str, float]:
    """Parse an output into bytes per second by kernel, in their order.

    :param size: The bytes of an array; 0 if unknown.
    :raises base.WorkloadError: If a kernel has several rows, or its rate is
        not that of its time.
    """
    rates: dict[str, float] = {}
    for title, *fields in _ROW.findall(text):
        kernel = title.lower()
        if kernel in rates:
            raise _OUTPUT.error(f"printed {title} twice")
        rate, _, best, longest = _OUTPUT.numbers(fields)
        rates[kernel] = rate * 1e6
        if not (rate > 0 and 0 < best <= longest):
            raise _OUTPUT.error(f"{title} took {best:g} to {longest:g} s")
        moved, expected = rate * 1e6 * best, KERNELS[kernel] * size
        decimals = len(fields[2].partition(".")[2])
        error = _TOLERANCE + 0.5 * 10**-decimals / best
        if expected and not math.isclose(moved, expected, rel_tol=error):
            raise _OUTPUT.error(
                f"{title} moved {moved:.0f} bytes instead of {expected}"
            )
    return {kernel: rates[kernel] for kernel in KERNELS if kernel in rates}


def _count_elements(arguments: base.Arguments) -> int:
    """Return the number of elements of an array."""
    return t.cast(int, arguments["size_mib"] * _MIB // _ELEMENT)
