# SPDX-License-Identifier: Apache-2.0
"""Processor load of guests that are not measured: CPU methods of stress-ng.

It has no metrics, because its operations are not comparable between versions.
"""

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools

#: Methods of different kinds, which all versions of ten years have.
METHODS = (
    *("matrixprod", "fft", "int64", "double", "sieve", "queens"),
    *("ackermann", "crc16"),
)


class StressNg(sequence.CommandSequenceWorkload):
    """Kinds of work in sequence, each repeated for a fixed time."""

    name = "stress_ng"
    title = "Processor: load with stress-ng"
    part = "cpu"
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        methods=schemas.sequence(METHODS, default=("matrixprod",)),
        threads=schemas.concurrency("processes"),
        time=schemas.duration("Duration of each method"),
    )
    OPTIONS = "methods"
    METRICS = ()
    TOOLS = (
        tools.load_generator(
            "stress-ng",
            advice={
                "dnf": "before RHEL 8 stress-ng is in EPEL: enable it",
                "zypper": "on SLES stress-ng is in Package Hub: enable it",
            },
        ),
    )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the Command that runs a method for the requested time."""
        seconds = arguments["time"]
        argv = base.argv(
            "stress-ng --timeout {time}s --cpu {threads} --cpu-method "
            "{method}",
            arguments,
            method=option,
        )
        return base.Command(
            name=option, argv=argv, timeout=2 * seconds + 60, seconds=seconds
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return no samples."""
        return []
