"""Memory workload: mbw."""

import collections.abc

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import mbw_table
from rally_vmperf.workloads import outputs

#: Method -> the option that asks for it.
METHODS = {"memcpy": "-t0", "dumb": "-t1", "mcblock": "-t2"}

#: MiB/s of the slowest machine that is waited for.
_SLOWEST = 20

_BUILD = "build it into the image or into a repository of your own"


class MemoryBandwidth(base.Workload):
    """Copy one array into another, in three ways."""

    name = "mbw"
    title = "Memory: bandwidth of copying with mbw"
    ARGUMENTS = rules.schema(
        size_mib=rules.integer(
            "Size of the array in MiB",
            1,
            65536,
            default=64,
            note="twice that is allocated",
        ),
        runs=rules.integer(
            "Copies of the array for each method", 1, 1000, default=10
        ),
        methods=rules.choices(
            "Ways of copying: memcpy, dumb (element by element), mcblock "
            "(memcpy block by block).",
            METHODS,
        ),
        block_size=rules.integer(
            "Bytes of a block of mcblock", 64, 1048576, default=262144
        ),
    )
    TOOLS = (
        base.Tool(
            command="mbw",
            package="mbw",
            version=(),
            advice={
                "dnf": f"we know of no package of mbw for RHEL: {_BUILD}",
                "zypper": f"we know of no package of mbw for SUSE: {_BUILD}",
            },
        ),
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each method that is asked for."""
        return tuple(_metric(method) for method in _methods(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all methods."""
        methods = _methods(arguments)
        argv = (
            "mbw",
            "-n",
            f"{arguments['runs']}",
            "-b",
            f"{arguments['block_size']}",
            *(METHODS[method] for method in methods),
            f"{arguments['size_mib']}",
        )
        copied = (arguments["runs"] * len(methods) + 2) * arguments["size_mib"]
        timeout = 60 + copied / _SLOWEST
        return (
            base.Command(name="mbw", argv=argv, timeout=timeout, bound="size"),
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the mean rates, in bytes and not in MiB."""
        outcome = outputs.taken(outcomes, "mbw")
        if outcome is None:
            return []
        return [
            limits.measured(
                _metric(method),
                mbw_table.rate(
                    outcome.stdout,
                    method,
                    arguments["runs"],
                    arguments["size_mib"],
                ),
            )
            for method in _methods(arguments)
        ]


def _methods(arguments: base.Arguments) -> list[str]:
    return [m for m in METHODS if m in arguments["methods"]]


def _metric(method: str) -> sample.Metric:
    return sample.Metric(name=f"memory.{method}", unit="B/s", better="higher")
