# SPDX-License-Identifier: Apache-2.0
"""Processor workload: sysbench cpu."""

import collections.abc

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

#: Minimum number of events of a run, from which the 95th percentile follows.
_MIN_EVENTS = 20


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
        rate=schemas.optional(
            "Events per second of all threads together, which arrive at "
            "random",
            10**6,
            "as many as possible",
        ),
    )
    METRICS = (RATE, LATENCY_P95)
    TOOLS = (sysbench_report.TOOL,)
    SENSITIVE_TO = sensitivities.PROCESSOR

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject a rate with too few events in a run.

        :raises ValueError: If a run has too few events for a percentile.
        """
        rate, time = arguments["rate"], arguments["time"]
        if 0 < rate * time < _MIN_EVENTS:
            raise ValueError(
                f"rate={rate}: a run of {time} s must have at least "
                f"{_MIN_EVENTS} events; raise rate or time, or reduce "
                "max_prime"
            )

    def offers(self, arguments: base.Arguments) -> tuple[base.Offer, ...]:
        """Return the Offer of the one command.

        The latency includes the time in which an event waits for a thread.
        """
        offer = base.Offer(
            command=self.name,
            metric=RATE.name,
            rate=arguments["rate"] or None,
            is_random=True,
        )
        return (offer,)

    def _drive(
        self,
        arguments: base.Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, int]:
        """Return the rate as an argument; the tool requires an integer."""
        return {"rate": max(1, round(rates[self.name]))}

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command, limited by time."""
        limit = " --rate={rate}" if arguments["rate"] else ""
        argv = base.argv(
            "sysbench cpu --threads={threads} --time={time} --events=0 "
            "--cpu-max-prime={max_prime} --percentile=95" + limit + " run",
            arguments,
        )
        seconds = arguments["time"]
        command = base.Command(
            name="sysbench",
            argv=argv,
            # At the end it waits for an arrival.
            timeout=seconds * (2 if limit else 1) + 60,
            seconds=seconds,
        )
        return (command,)

    def parse_all(
        self, arguments: base.Arguments, results: base.Results
    ) -> list[sample.Reading]:
        """Return the samples in the output of the command as a list.

        :raises base.WorkloadError: If the rate was much too high for the
            machine, or the output is invalid.
        """
        for result in results.values():
            sysbench_report.check_queue(result, arguments["rate"])
        return super().parse_all(arguments, results)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of the event rate and of the latency."""
        limit = f"Prime numbers limit: {arguments['max_prime']}"
        report = sysbench_report.parse(result, arguments, limit)
        return outputs.create_samples(self.METRICS, (report.rate, report.p95))
