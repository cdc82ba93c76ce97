"""Workloads of the HEP Benchmark Suite, which the operator provides."""

import typing as t

from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import tools

_ADVICE = (
    "it is in no registry of packages: build an image and a bare-metal system "
    "with the HEP Benchmark Suite of gitlab.cern.ch/hep-benchmarks, its "
    "containers' runtime, and your licence where the benchmark wants one"
)


def arguments(hours: int, **further: rules.Rule) -> rules.Rule:
    """Return the schema of a benchmark's arguments.

    :param hours: that it usually takes
    """
    return rules.schema(
        configuration=rules.path(
            "The suite's configuration on the machine that runs this",
            default="/etc/bmkrun.yml",
        ),
        cores=rules.integer(
            "Cores that are loaded",
            0,
            4096,
            default=0,
            note="0 for as many as the machine may use",
        ),
        expected_hours=rules.integer(
            "About how long it takes, h",
            1,
            72,
            default=hours,
            note="it fails after four times as long",
        ),
        **further,
    )


class Benchmark(base.Workload):
    """One benchmark of the suite; what it prints is one JSON object.

    :cvar BENCHMARK: what the suite calls it
    """

    part = "application"
    BENCHMARK: t.ClassVar[str]
    TOOLS = (
        tools.Tool(
            command="bmkrun",
            package="",
            version=("bmkrun", "--version"),
            advice=dict.fromkeys(("apt", "dnf", "zypper"), _ADVICE),
        ),
        tools.of("python3", measures=False),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's configuration and the runner of the suite."""
        return (
            base.File(name="bmkrun.yml", path=arguments["configuration"]),
            files.script("bmkrun.py"),
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run."""
        seconds = arguments["expected_hours"] * 3600
        return (
            base.Command(
                name=self.BENCHMARK,
                argv=(
                    *("python3", "bmkrun.py", self.BENCHMARK),
                    f"{arguments['cores']}",
                ),
                timeout=4 * seconds,
                seconds=seconds,
                bound="size",
            ),
        )

    def error(self, what: str) -> base.WorkloadError:
        """Return the error of a result that cannot be believed."""
        return base.WorkloadError(
            f"{self.name} {what}; look at the raw output"
        )
