"""Processor workload: sysbench cpu."""

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import sysbench_report

RATE = sample.Metric("cpu.sysbench.rate", "events/s", "higher")
LATENCY_P95 = sample.Metric(
    "cpu.sysbench.latency_p95",
    "s",
    "lower",
    # The histogram has 1024 buckets over eight decades, and the latency is
    # printed in milliseconds with two decimals.
    resolution=0.009,
    step=5e-6,
)


class Sysbench(base.Workload):
    """A search for prime numbers, repeated for a fixed time."""

    name = "sysbench"
    title = "Processor: prime numbers with sysbench"
    part = "cpu"
    TOOL_OPTIONS = sysbench_report.CPU_OPTIONS
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        threads=schemas.per_vcpu("Number of threads", 1024),
        time=schemas.duration("Duration of a run"),
        max_prime=schemas.integer(
            "Largest number that an event tests for primality",
            1000,
            1000000,
            default=10000,
        ),
    )
    METRICS = (RATE, LATENCY_P95)
    TOOLS = (sysbench_report.TOOL,)
    SENSITIVE_TO = sensitivities.PROCESSOR

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command, limited by time."""
        argv = base.argv(
            "sysbench cpu --threads={threads} --time={time} --events=0 "
            "--cpu-max-prime={max_prime} --percentile=95 run",
            arguments,
        )
        seconds = arguments["time"]
        command = base.Command(
            name="sysbench", argv=argv, timeout=seconds + 60, seconds=seconds
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of the event rate and of the latency."""
        limit = f"Prime numbers limit: {arguments['max_prime']}"
        report = sysbench_report.parse(result, arguments, limit)
        return outputs.create_samples(self.METRICS, (report.rate, report.p95))
