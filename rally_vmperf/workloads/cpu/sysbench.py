"""Processor workload: sysbench cpu."""

import re

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sysbench_report

RATE = sample.Metric("cpu.sysbench.rate", "events/s", "higher")
LATENCY_P95 = sample.Metric(
    "cpu.sysbench.latency_p95",
    "s",
    "lower",
    # Its histogram has 1024 buckets over eight decades of milliseconds, and
    # it writes two decimals of them.
    resolution=0.009,
    step=5e-6,
)

_RATE = re.compile(r"^ +events per second: +([0-9]{1,20}\.[0-9]{2})$", re.M)


class Processor(base.Workload):
    """Search for prime numbers, over and over, for a fixed time."""

    name = "sysbench"
    title = "Processor: prime numbers with sysbench"
    part = "cpu"
    ARGUMENTS = rules.schema(
        threads=rules.integer("Threads that search", 1, 1024, default=1),
        time=rules.integer("Seconds of a run", 1, 3600, default=10),
        max_prime=rules.integer(
            "Largest number that one event tests for being prime",
            1000,
            1000000,
            default=10000,
        ),
    )
    TOOLS = (sysbench_report.TOOL,)

    SENSITIVE_TO = frozenset({"microcode", "governor", "turbo"})

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of events and the latency of one."""
        return (RATE, LATENCY_P95)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run, bounded by time and not by events."""
        argv = base.argv(
            "sysbench cpu --threads={threads} --time={time} --events=0 "
            "--cpu-max-prime={max_prime} --percentile=95 run",
            arguments,
        )
        return (
            base.Command(
                name="sysbench",
                argv=argv,
                timeout=arguments["time"] + 60,
                seconds=arguments["time"],
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the rate and the latency; sysbench prints milliseconds."""
        text = outcome.stdout
        report = sysbench_report.read(
            outcome,
            arguments,
            f"Prime numbers limit: {arguments['max_prime']}",
        )
        (told,) = sysbench_report.figure(text, _RATE, "events per second:")
        rate = outputs.number(told, "sysbench: events per second")
        if not report.fits(rate, outputs.slack(told)):
            raise sysbench_report.error(
                f"did {report.events} events in {report.seconds:g} s of a "
                f"command that took {report.elapsed:g} s, which are not "
                f"{told} per second"
            )
        return [
            limits.measured(RATE, report.rate),
            limits.measured(LATENCY_P95, report.p95),
        ]
