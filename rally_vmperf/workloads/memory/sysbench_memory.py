"""Memory workload: sysbench memory."""

import re
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sysbench_report

OPERATIONS = ("read", "write")

#: More than a machine moves in an hour, so that the time limits a run.
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


class SysbenchMemory(base.Workload):
    """Reads or writes of one block, repeated for a fixed time."""

    name = "sysbench_memory"
    title = "Memory: reading and writing with sysbench"
    part = "memory"
    ARGUMENTS = schemas.schema(
        operations=schemas.choices(
            "Measured one after the other: read, write.", OPERATIONS
        ),
        access=schemas.choice(
            "Order of access to the words of the block: seq, rnd.",
            ("seq", "rnd"),
            default="seq",
        ),
        block_kib=schemas.integer(
            "Size of the block in KiB",
            1,
            1048576,
            default=65536,
            note="a power of two; each thread has its own",
        ),
        threads=schemas.integer(
            "Number of concurrent threads", 1, 1024, default=1
        ),
        time=schemas.integer(
            "Duration of each operation, s", 1, 3600, default=10
        ),
    )
    TOOLS = (sysbench_report.TOOL,)
    SENSITIVE_TO = base.MEMORY

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with all defaults as a dict.

        :raises base.WorkloadError: If an argument is not valid, or sysbench
            does not accept the size.
        """
        completed = super().complete(arguments)
        size = completed["block_kib"]
        if size & (size - 1):
            raise base.WorkloadError(
                f"workload sysbench_memory: block_kib={size}: must be a power "
                f"of two, such as {1 << (size.bit_length() - 1)} or "
                f"{min(1 << size.bit_length(), 1048576)}"
            )
        return completed

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the bandwidth metric definition of each operation."""
        return tuple(
            _metric(operation) for operation in _selected_operations(arguments)
        )

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return one command per selected operation, with its name."""
        return tuple(
            base.Command(
                name=operation,
                argv=base.argv(
                    "sysbench memory --threads={threads} --time={time} "
                    "--events=0 --memory-block-size={block_kib}K "
                    "--memory-total-size={endless} --memory-scope=local "
                    "--memory-oper={operation} "
                    "--memory-access-mode={access} run",
                    arguments,
                    operation=operation,
                    endless=_ENDLESS,
                ),
                timeout=2 * arguments["time"] + 120,
                seconds=arguments["time"],
            )
            for operation in _selected_operations(arguments)
        )

    def parse(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return a list with the sample of the bandwidth."""
        rate = bandwidth(outcome, arguments)
        return [limits.create_sample(_metric(outcome.name), rate)]


def bandwidth(outcome: base.Outcome, arguments: base.Arguments) -> float:
    """Parse an outcome into the bytes per second of all threads.

    :param outcome: The outcome of the command for an operation.
    :raises base.WorkloadError: If the run had other arguments, is not
        complete, or contradicts itself.
    """
    operation, text = outcome.name, outcome.stdout
    report = sysbench_report.parse(
        outcome,
        arguments,
        f"  block size: {arguments['block_kib']}KiB",
        f"  operation: {operation}",
        "  scope: local",
    )
    done = sysbench_report.match_line(text, _OPERATIONS, "Total operations:")
    moved = sysbench_report.match_line(text, _MOVED, "MiB transferred")
    count, per_second, total, mib_per_second = (
        outputs.parse_number(column, f"sysbench memory: {operation}")
        for column in (*done, *moved)
    )
    block = arguments["block_kib"] / 1024
    if (
        count != report.events
        or abs(total - count * block) > 0.0051
        or abs(mib_per_second - per_second * block) > 0.0051 * (1 + block)
        or not report.matches_rate(per_second, 0.0051)
        or not report.matches_rate(mib_per_second / block, 0.0051 / block)
    ):
        raise sysbench_report.error(
            f"{operation} moved {total:g} MiB by {report.events} operations "
            f"in {report.seconds:g} s of a command that took "
            f"{report.elapsed:g} s, which is not {mib_per_second:g} MiB/s"
        )
    return report.rate * arguments["block_kib"] * 1024


def _selected_operations(arguments: base.Arguments) -> list[str]:
    """Return the selected operations as an ordered list of names."""
    return [
        operation
        for operation in OPERATIONS
        if operation in arguments["operations"]
    ]


def _metric(operation: str) -> sample.Metric:
    """Return the Metric of the bandwidth of an operation."""
    return sample.Metric(
        f"memory.sysbench_memory.{operation}.bandwidth", "B/s", "higher"
    )
