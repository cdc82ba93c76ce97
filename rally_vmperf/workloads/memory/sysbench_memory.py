"""Memory workload: sysbench memory."""

import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sysbench_report

OPERATIONS = ("read", "write")

#: More than any machine moves in an hour, so that time is what ends a run.
_ENDLESS = "1000000T"

_OPERATIONS = re.compile(
    r"^Total operations: ([0-9]{1,20}) "
    r"\( *([0-9]{1,20}\.[0-9]{2}) per second\)$",
    re.M,
)
_MOVED = re.compile(
    r"^([0-9]{1,20}\.[0-9]{2}) MiB transferred "
    r"\(([0-9]{1,20}\.[0-9]{2}) MiB/sec\)$",
    re.M,
)


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
    TOOLS = (sysbench_report.TOOL,)
    SENSITIVE_TO = base.MEMORY

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
                argv=base.argv(
                    "sysbench memory --threads={threads} --time={time} "
                    "--events=0 --memory-block-size={block_kib}K "
                    "--memory-total-size={endless} --memory-scope=local "
                    "--memory-oper={operation} "
                    "--memory-access-mode={access} run",
                    arguments,
                    operation=one,
                    endless=_ENDLESS,
                ),
                timeout=2 * arguments["time"] + 120,
                seconds=arguments["time"],
            )
            for one in _operations(arguments)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the bandwidth, in bytes and not in MiB."""
        value = bandwidth(outcome, arguments)
        return [limits.measured(_metric(outcome.name), value)]


def bandwidth(outcome: base.Outcome, arguments: base.Arguments) -> float:
    """Return the bytes per second of all threads.

    :param outcome: named after its operation

    :raises base.WorkloadError: when the run was another one, did not come to
        its end, or contradicts itself
    """
    operation, text = outcome.name, outcome.stdout
    report = sysbench_report.read(
        outcome,
        arguments,
        f"  block size: {arguments['block_kib']}KiB",
        f"  operation: {operation}",
        "  scope: local",
    )
    done = sysbench_report.figure(text, _OPERATIONS, "Total operations:")
    moved = sysbench_report.figure(text, _MOVED, "MiB transferred")
    count, per_second, total, mib_per_second = (
        outputs.number(word, f"sysbench memory: {operation}")
        for word in (*done, *moved)
    )
    block = arguments["block_kib"] / 1024
    if (
        count != report.events
        or abs(total - count * block) > 0.0051
        or abs(mib_per_second - per_second * block) > 0.0051 * (1 + block)
        or not report.fits(per_second, 0.0051)
        or not report.fits(mib_per_second / block, 0.0051 / block)
    ):
        raise sysbench_report.error(
            f"{operation} moved {total:g} MiB by {report.events} operations "
            f"in {report.seconds:g} s of a command that took "
            f"{report.elapsed:g} s, which is not {mib_per_second:g} MiB/s"
        )
    return report.rate * arguments["block_kib"] * 1024


def _operations(arguments: base.Arguments) -> list[str]:
    return [one for one in OPERATIONS if one in arguments["operations"]]


def _metric(operation: str) -> sample.Metric:
    return sample.Metric(
        f"memory.sysbench_memory.{operation}.bandwidth", "B/s", "higher"
    )
