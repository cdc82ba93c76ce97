"""Memory workload: mbw."""

import collections.abc
import dataclasses
import math

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Method -> the option that asks for it.
METHODS = {"memcpy": "-t0", "dumb": "-t1", "mcblock": "-t2"}

#: MiB/s of the slowest machine that is waited for.
_SLOWEST = 20
#: MiB/s of a machine of today.
_USUAL = 5000

#: Words of a line of the table that mbw prints: one for each run, and their
#: average.
_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]

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
            "(memcpy block by block).",
            METHODS,
        ),
        block_size=rules.integer(
            "Bytes of a block of mcblock", 64, 1048576, default=262144
        ),
    )
    TOOLS = (
        tools.Tool(
            command="mbw",
            package="mbw",
            version=(),
            advice={
                "dnf": f"we know of no package of mbw for RHEL: {_BUILD}",
                "zypper": f"we know of no package of mbw for SUSE: {_BUILD}",
            },
        ),
    )

    SENSITIVE_TO = frozenset({"microcode", "kernel", "governor"})

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each method that is asked for."""
        return tuple(_metric(method) for method in _methods(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all methods."""
        methods = _methods(arguments)
        argv = (
            "mbw",
            "-n",
            f"{arguments['runs']}",
            "-b",
            f"{arguments['block_size']}",
            *(METHODS[method] for method in methods),
            f"{arguments['size_mib']}",
        )
        copied = (arguments["runs"] * len(methods) + 2) * arguments["size_mib"]
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

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the mean rates, in bytes and not in MiB."""
        outcome = outputs.taken(outcomes, "mbw")
        if outcome is None:
            return []
        return [
            limits.measured(
                _metric(method),
                rate(
                    outcome.stdout,
                    method,
                    arguments["runs"],
                    arguments["size_mib"],
                ),
            )
            for method in _methods(arguments)
        ]


def _methods(arguments: base.Arguments) -> list[str]:
    return [m for m in METHODS if m in arguments["methods"]]


def _metric(method: str) -> sample.Metric:
    return sample.Metric(
        name=f"memory.mbw.{method}", unit="B/s", better="higher"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Line:
    run: str
    elapsed: float
    mib: float
    copy: float

    @property
    def seconds(self) -> float:
        """What mbw measured; finer than the five decimals of Elapsed."""
        return self.mib / self.copy


def rate(text: str, method: str, runs: int, size_mib: int) -> float:
    """Return the bytes copied in all runs by the seconds of all runs.

    That is what mbw's own average means; it is computed from the runs and
    held against the average that is printed, so that no line is missed.

    :raises base.WorkloadError: when the table is not complete and coherent
    """
    lines = [
        _line(words, method)
        for words in map(str.split, text.splitlines())
        if words[1:9:2] == _LABELS and words[2] == method.upper()
    ]
    counted = [line for line in lines if line.run != "AVG"]
    averages = [line for line in lines if line.run == "AVG"]
    if [line.run for line in counted] != [str(n) for n in range(runs)]:
        raise _error(method, f"has {len(counted)} runs instead of {runs}")
    if len(averages) != 1:
        raise _error(method, f"has {len(averages)} averages instead of one")
    if any(line.mib != size_mib for line in lines):
        raise _error(method, f"was not run with {size_mib} MiB")
    mean = runs * size_mib / sum(line.seconds for line in counted)
    if not math.isclose(mean, averages[0].copy, rel_tol=1e-4, abs_tol=2e-3):
        raise _error(
            method,
            f"has runs of {mean:.3f} MiB/s in the mean, but an average of "
            f"{averages[0].copy:.3f} MiB/s",
        )
    return mean * 1024 * 1024


def _line(words: list[str], method: str) -> _Line:
    if len(words) != 10 or words[9] != "MiB/s":
        raise _error(method, "has a line of another form")
    elapsed, mib, copy = (
        outputs.number(words[at], f"mbw: {method}: {words[at - 1][:-1]}")
        for at in (4, 6, 8)
    )
    if not (mib > 0 and copy > 0 and math.isfinite(mib / copy)):
        raise _error(method, f"copied {mib:g} MiB at {copy:g} MiB/s")
    line = _Line(run=words[0], elapsed=elapsed, mib=mib, copy=copy)
    if not math.isclose(line.seconds, elapsed, rel_tol=1e-3, abs_tol=1e-5):
        raise _error(
            method, f"took {elapsed:g} s, which is not {copy:g} MiB/s"
        )
    return line


def _error(method: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(f"mbw: {method} {what}; look at the raw output")
