# SPDX-License-Identifier: Apache-2.0
"""Workloads of the HEP Benchmark Suite, which the operator provides."""

import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools

_ADVICE = (
    "no distribution has a package: build an image and a bare-metal system "
    "with the HEP Benchmark Suite of gitlab.cern.ch/hep-benchmarks, its "
    "container runtime, and your licence if the benchmark requires one"
)


#: The settings of a score, by their place in its profile.
_OPTIONS = options.OptionTable(
    options=tuple(
        options.Option(names=(path,), argument=argument, parse=parse)
        for path, argument, parse in (
            ("settings.name", "configuration_name", str),
            ("settings.repetitions", "repetitions", options.parse_number),
            ("settings.method", "method", str),
            ("app_info.config_hash", "config_hash", str),
            ("copies", "copies_per_machine", options.parse_number),
            ("bset", "programs", str),
            ("bmk", "program_set", str),
        )
    )
)


def arguments(hours: int, **properties: schemas.Rule) -> schemas.Rule:
    """Return the JSON Schema of the arguments of a benchmark.

    :param hours: The usual duration in hours.
    """
    return schemas.schema(
        configuration=schemas.path(
            "Configuration of the suite on the machine that runs rally-vmperf",
            default="/etc/bmkrun.yml",
        ),
        cores=schemas.optional(
            "Number of loaded cores",
            4096,
            "all cores that the machine may use",
        ),
        expected_hours=schemas.integer(
            "Expected duration, h",
            1,
            72,
            default=hours,
            note="it fails after four times this duration",
        ),
        **properties,
    )


class Benchmark(base.Workload):
    """A benchmark of the suite, which prints one JSON object.

    :cvar BENCHMARK: The name of the benchmark in the suite.
    """

    part = "application"
    TOOL_OPTIONS = _OPTIONS
    OUTPUT_BOUNDS = output_bounds.JSON
    BENCHMARK: t.ClassVar[str]
    TOOLS = (
        tools.Tool(
            command="bmkrun",
            package="",
            version=("bmkrun", "--version"),
            advice=dict.fromkeys(("apt", "dnf", "zypper"), _ADVICE),
        ),
        tools.auxiliary("python3"),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's configuration and the runner as Files."""
        return (
            base.File(name="bmkrun.yml", path=arguments["configuration"]),
            files.script("bmkrun.py"),
        )

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs the benchmark."""
        seconds = arguments["expected_hours"] * 3600
        cores = f"{arguments['cores']}"
        command = base.Command(
            name=self.BENCHMARK,
            argv=("python3", "bmkrun.py", self.BENCHMARK, cores),
            timeout=4 * seconds,
            seconds=seconds,
            bound="size",
        )
        return (command,)

    def check_cores(
        self, report: document.Document, arguments: base.Arguments
    ) -> float:
        """Return the number of loaded cores; reject another number.

        :raises base.WorkloadError: If it is not the requested one.
        """
        cores = report.number("cores")
        if not 0 < cores <= 4096 or arguments["cores"] not in (0, cores):
            raise self.error(
                f"ran on {cores:g} cores instead of "
                f"{arguments['cores'] or '1 to 4096'}"
            )
        return cores

    def error(self, problem: str) -> base.WorkloadError:
        """Return a WorkloadError that describes an invalid result."""
        return outputs.Reader(self.name).error(problem)
