"""Memory workload: sysbench memory."""

import re

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import sequence
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


class SysbenchMemory(sequence.CommandSequenceWorkload):
    """Reads or writes of one block, repeated for a fixed time."""

    name = "sysbench_memory"
    title = "Memory: reading and writing with sysbench"
    part = "memory"
    ARGUMENTS = schemas.schema(
        operations=schemas.sequence(OPERATIONS),
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
        threads=schemas.concurrency("threads"),
        time=schemas.duration("Duration of each operation"),
    )
    OPTIONS = "operations"
    METRICS = (
        sample.Metric("memory.sysbench_memory.{}.bandwidth", "B/s", "higher"),
    )
    TOOLS = (sysbench_report.TOOL,)
    SENSITIVE_TO = sensitivities.MEMORY

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject a block size that sysbench does not accept.

        :raises ValueError: If the size is not a power of two.
        """
        size = arguments["block_kib"]
        if size & (size - 1):
            raise ValueError(
                f"block_kib={size}: must be a power of two, such as "
                f"{1 << (size.bit_length() - 1)} or "
                f"{min(1 << size.bit_length(), 1048576)}"
            )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the Command of an operation, limited by time."""
        seconds = arguments["time"]
        argv = base.argv(
            "sysbench memory --threads={threads} --time={time} --events=0 "
            "--memory-block-size={block_kib}K --memory-total-size={endless} "
            "--memory-scope=local --memory-oper={operation} "
            "--memory-access-mode={access} run",
            arguments,
            operation=option,
            endless=_ENDLESS,
        )
        return base.Command(
            name=option, argv=argv, timeout=2 * seconds + 120, seconds=seconds
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the bandwidth."""
        return self.samples(result.name, bandwidth(result, arguments))


def bandwidth(result: base.CommandResult, arguments: base.Arguments) -> float:
    """Parse a result into the bytes per second of all threads.

    :param result: The result of the command for an operation.
    :raises base.WorkloadError: If the run had other arguments, is not
        complete, or contradicts itself.
    """
    operation, text = result.name, result.stdout
    report = sysbench_report.parse(
        result,
        arguments,
        f"  block size: {arguments['block_kib']}KiB",
        f"  operation: {operation}",
        "  scope: local",
    )
    done = sysbench_report.match_line(text, _OPERATIONS, "Total operations:")
    moved = sysbench_report.match_line(text, _MOVED, "MiB transferred")
    count, per_second, total, mib_per_second = outputs.Reader(
        f"sysbench memory: {operation}"
    ).numbers((*done, *moved))
    block = arguments["block_kib"] / 1024
    if (
        count != report.events
        or abs(total - count * block) > 0.0051
        or abs(mib_per_second - per_second * block) > 0.0051 * (1 + block)
        or not report.matches_rate(per_second, 0.0051)
        or not report.matches_rate(mib_per_second / block, 0.0051 / block)
    ):
        raise sysbench_report.OUTPUT.error(
            f"{operation} moved {total:g} MiB by {report.events} operations "
            f"in {report.seconds:g} s of a command that took "
            f"{report.elapsed:g} s, which is not {mib_per_second:g} MiB/s"
        )
    return report.rate * arguments["block_kib"] * 1024
