"""Processor workload: sysbench cpu."""

import collections.abc

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
LATENCY_P95 = sample.Metric(
    name="cpu.sysbench.latency_p95", unit="s", better="lower"
)


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

    SENSITIVE_TO = frozenset({"microcode", "governor"})

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of events and the latency of one."""
        return (RATE, LATENCY_P95)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run, bounded by time and not by events."""
        argv = (
            "sysbench",
            "cpu",
            f"--threads={arguments['threads']}",
            f"--time={arguments['time']}",
            "--events=0",
            f"--cpu-max-prime={arguments['max_prime']}",
            "--percentile=95",
            "run",
        )
        return (
            base.Command(
                name="sysbench",
                argv=argv,
                timeout=arguments["time"] + 60,
                seconds=arguments["time"],
            ),
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the rate and the latency; sysbench prints milliseconds."""
        outcome = outputs.taken(outcomes, "sysbench")
        if outcome is None:
            return []
        rate = _figure(outcome.stdout, "events per second")
        latency = _figure(outcome.stdout, "95th percentile") / 1000
        return [
            limits.measured(RATE, rate),
            limits.measured(LATENCY_P95, latency),
        ]


def _figure(text: str, label: str) -> float:
    found = [
        value
        for key, colon, value in (
            line.partition(":") for line in text.splitlines()
        )
        if colon and key.strip() == label
    ]
    if len(found) != 1:
        raise base.WorkloadError(
            f"sysbench printed {len(found)} lines '{label}:' instead of one; "
            "version 1.0 or later is needed"
        )
    return outputs.number(found[0].strip(), f"sysbench: {label}")
