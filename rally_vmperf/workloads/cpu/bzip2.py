"""Processor workload: compress and decompress generated data with bzip2."""

import collections.abc
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Command -> the metric that its wall time is.
METRICS = {
    "compress": sample.Metric(
        name="cpu.bzip2.compress_time", unit="s", better="lower", adds_up=True
    ),
    "decompress": sample.Metric(
        name="cpu.bzip2.decompress_time",
        unit="s",
        better="lower",
        adds_up=True,
    ),
}

#: Seconds for one MiB, on the slowest machine that is waited for.
_SLOWEST = 10
#: Seconds for one MiB to compress, on a machine of today.
_USUAL = 0.12

_CHECKSUM = re.compile("sha256 ([0-9a-f]{64})")


class Compression(base.Workload):
    """bzip2 on data of a fixed size: the wall time of each direction.

    ``data`` is compressed, ``copy.bz2`` is decompressed, so that neither
    direction needs or spoils what the other one left.
    """

    name = "bzip2"
    title = "Processor: compression and decompression with bzip2"
    part = "cpu"
    ARGUMENTS = rules.schema(
        size_mib=rules.integer(
            "Size of the data in MiB", 1, 16384, default=64
        ),
        seed=rules.integer(
            "Number from which the data are generated",
            0,
            2147483647,
            default=1,
            note="the same seed gives the same data",
        ),
        level=rules.integer("bzip2's block size in 100 kB", 1, 9, default=9),
    )
    TOOLS = (
        tools.Tool(
            command="bzip2", package="bzip2", version=("bzip2", "--help")
        ),
        tools.Tool(
            command="python3",
            package="python3",
            version=("python3", "--version"),
            measures=False,
        ),
    )
    SENSITIVE_TO = frozenset({"microcode", "governor"})

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that generates the data."""
        return (
            base.File(
                name="generate.py",
                package="rally_vmperf.workloads.scripts",
                path="generate.py",
                mode=0o755,
            ),
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return how the data come to be, with their archives.

        Both archives exist before the first repetition, so that it replaces
        a file just as the others do.
        """
        generate = (
            "python3",
            "generate.py",
            f"--size-mib={arguments['size_mib']}",
            f"--seed={arguments['seed']}",
            "data",
        )
        steps = {
            "generate": generate,
            "copy": ("cp", "data", "copy"),
            "pack": (*_compress(arguments), "copy"),
        }
        return _timed(steps, arguments)

    def facts(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> dict[str, str]:
        """Return the SHA-256 of the data, equal wherever they are equal."""
        outcome = outputs.taken(outcomes, "generate")
        if outcome is None:
            return {}
        found = _CHECKSUM.fullmatch(outcome.stdout.strip())
        if not found:
            raise base.WorkloadError(
                "generate.py printed "
                f"{outputs.printable(outcome.stdout, 80)!r} instead of "
                "'sha256 ' and 64 digits; look at the raw output"
            )
        return {"data_sha256": found.group(1)}

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the times of both directions."""
        return tuple(METRICS.values())

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return both directions; each replaces what it wrote before."""
        steps = {
            "compress": _compress(arguments),
            "decompress": ("bzip2", "-d", "-k", "-f", "copy.bz2"),
        }
        return _timed(steps, arguments)

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the wall times, which the machine took and not bzip2."""
        taken = {name: outputs.taken(outcomes, name) for name in METRICS}
        return [
            limits.measured(METRICS[name], outcome.seconds)
            for name, outcome in taken.items()
            if outcome is not None
        ]


def _compress(arguments: base.Arguments) -> tuple[str, ...]:
    return ("bzip2", "-z", "-k", "-f", f"-{arguments['level']}", "data")


def _timed(
    steps: dict[str, tuple[str, ...]], arguments: base.Arguments
) -> tuple[base.Command, ...]:
    timeout = 60 + 2 * _SLOWEST * arguments["size_mib"]
    return tuple(
        base.Command(
            name=name,
            argv=argv,
            timeout=timeout,
            seconds=_USUAL * arguments["size_mib"],
            bound="size",
        )
        for name, argv in steps.items()
    )
