# SPDX-License-Identifier: Apache-2.0
"""Memory workload: sysbench memory."""

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import sysbench_report

OPERATIONS = ("read", "write")

#: More than a machine moves in an hour, so that the time limits a run.
_ENDLESS = "1000000T"


class SysbenchMemory(sequence.CommandSequenceWorkload):
    """Reads or writes of one block, repeated for a fixed time."""

    name = "sysbench_memory"
    title = "Memory: reading and writing with sysbench"
    part = "memory"
    TOOL_OPTIONS = sysbench_report.MEMORY_OPTIONS
    QUICK = schemas.short(time=3)
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
    :raises base.WorkloadError: If the run had other arguments, or is not
        complete.
    """
    report = sysbench_report.parse(
        result,
        arguments,
        f"  block size: {arguments['block_kib']}KiB",
        f"  operation: {result.name}",
        "  scope: local",
    )
    block_kib: int = arguments["block_kib"]
    return report.rate * block_kib * 1024
