"""Memory workload: sysbench memory."""

import collections.abc
import math
import re
import typing as t

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

OPERATIONS = ("read", "write")

#: More than any machine moves in an hour, so that time is what ends a run.
_ENDLESS = "1000000T"

_OPERATIONS = re.compile(
    r"^Total operations: ([0-9]{1,20}) \( *(\S{1,40}) per second\)$", re.M
)
_MOVED = re.compile(
    r"^(\S{1,40}) MiB transferred \((\S{1,40}) MiB/sec\)$", re.M
)
_TIME = re.compile(r"^ +total time: +(\S{1,40})s$", re.M)
#: The last line, of which nothing may be missing.
_END = re.compile(r"^ +execution time \(avg/stddev\): +\S{1,40}\n", re.M)


class Memory(base.Workload):
    """Read or write one block over and over, for a fixed time."""

    name = "sysbench_memory"
    title = "Memory: reading and writing with sysbench"
    part = "memory"
    ARGUMENTS = rules.schema(
        operations=rules.choices(
            "Measured one after the other: read, write.", OPERATIONS
        ),
        access=rules.choice(
            "Order in which words of the block are touched: seq, rnd.",
            ("seq", "rnd"),
            default="seq",
        ),
        block_kib=rules.integer(
            "Size of the block in KiB",
            1,
            1048576,
            default=65536,
            note="a power of two; each thread has its own",
        ),
        threads=rules.integer(
            "Threads that work at the same time", 1, 1024, default=1
        ),
        time=rules.integer(
            "Seconds of a run of each operation", 1, 3600, default=10
        ),
    )
    TOOLS = (
        tools.Tool(
            command="sysbench",
            package="sysbench",
            version=("sysbench", "--version"),
            advice={
                "dnf": "on RHEL and its clones sysbench is in EPEL: enable it",
                "zypper": "on SLES sysbench is in SUSE Package Hub: enable it",
            },
        ),
    )
    SENSITIVE_TO = frozenset({"microcode", "kernel", "governor"})

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for a size that sysbench refuses
        """
        complete = super().complete(arguments)
        size = complete["block_kib"]
        if size & (size - 1):
            raise base.WorkloadError(
                f"workload sysbench_memory: block_kib: {size} is no power of "
                f"two; take {1 << (size.bit_length() - 1)} or "
                f"{min(1 << size.bit_length(), 1048576)}"
            )
        return complete

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the bandwidth of each operation that is asked for."""
        return tuple(_metric(one) for one in _operations(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each operation, named after it."""
        return tuple(
            base.Command(
                name=one,
                argv=(
                    "sysbench",
                    "memory",
                    f"--threads={arguments['threads']}",
                    f"--time={arguments['time']}",
                    "--events=0",
                    f"--memory-block-size={arguments['block_kib']}K",
                    f"--memory-total-size={_ENDLESS}",
                    "--memory-scope=local",
                    f"--memory-oper={one}",
                    f"--memory-access-mode={arguments['access']}",
                    "run",
                ),
                timeout=2 * arguments["time"] + 120,
                seconds=arguments["time"],
            )
            for one in _operations(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the bandwidths, in bytes and not in MiB."""
        samples = []
        for operation in _operations(arguments):
            outcome = outputs.taken(outcomes, operation)
            if outcome is not None:
                value = rate(outcome.stdout, operation, arguments)
                samples.append(limits.measured(_metric(operation), value))
        return samples


def rate(text: str, operation: str, arguments: base.Arguments) -> float:
    """Return the bytes per second of all threads.

    :raises base.WorkloadError: when the run was another one, did not come to
        its end, or contradicts itself
    """
    lines = text.splitlines()
    for line in (
        f"Number of threads: {arguments['threads']}",
        f"  block size: {arguments['block_kib']}KiB",
        f"  operation: {operation}",
        "  scope: local",
    ):
        if lines.count(line) != 1:
            raise _error(operation, f"did not say {line.strip()!r} once")
    if len(_END.findall(text)) != 1:
        raise _error(operation, "did not come to its last line, or twice")
    count, per_second = _only(_OPERATIONS, "Total operations", text)
    moved, per_second_mib = _only(_MOVED, "MiB transferred", text)
    (seconds,) = _only(_TIME, "total time", text)
    if seconds < 0.95 * arguments["time"]:
        raise _error(
            operation,
            f"took {seconds:g} s instead of {arguments['time']} s",
        )
    block = arguments["block_kib"] / 1024
    # What is printed has two decimals.
    if not (
        math.isclose(moved, count * block, rel_tol=1e-6, abs_tol=0.01)
        and math.isclose(
            per_second_mib,
            per_second * block,
            rel_tol=1e-4,
            abs_tol=0.01 * (1 + block),
        )
        and math.isclose(count / seconds, per_second, rel_tol=0.1)
    ):
        raise _error(
            operation,
            f"moved {moved:g} MiB by {count:g} operations in {seconds:g} s, "
            f"which is not {per_second_mib:g} MiB/s",
        )
    return per_second_mib * 1024 * 1024


def _only(
    pattern: re.Pattern[str], label: str, text: str
) -> tuple[float, ...]:
    found = list(pattern.finditer(text))
    if len(found) != 1:
        raise _error(label, f"stands in {len(found)} lines instead of one")
    return tuple(
        outputs.number(word, f"sysbench memory: {label}")
        for word in found[0].groups()
    )


def _operations(arguments: base.Arguments) -> list[str]:
    return [one for one in OPERATIONS if one in arguments["operations"]]


def _metric(operation: str) -> sample.Metric:
    return sample.Metric(
        name=f"memory.sysbench_memory.{operation}.bandwidth",
        unit="B/s",
        better="higher",
    )


def _error(operation: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"sysbench memory: {operation} {what}; look at the raw output"
    )
