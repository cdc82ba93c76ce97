# SPDX-License-Identifier: Apache-2.0
"""Processor workload: compress and decompress generated data with bzip2."""

import dataclasses

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import tools

#: Command -> metric of its wall time.
TIMES = {
    name: sample.Metric(f"cpu.bzip2.{name}_time", "s", "lower", additive=True)
    for name in ("compress", "decompress")
}

#: The block size of bzip2 without an option, in 100 kB.
_DEFAULT_LEVEL = 9
#: The long options of some levels.
_LEVEL_NAMES = {1: ("fast",), 9: ("best",)}
#: Largest size of the archive, relative to that of the data.
_MAX_COMPRESSED = 0.95
#: Seconds per MiB on the slowest supported machine.
_SLOWEST = 10
#: Seconds per MiB of compression on a current machine.
_USUAL = 0.12


_OPTIONS = options.OptionTable(
    options=(
        *(
            options.Option(
                names=(str(level), *_LEVEL_NAMES.get(level, ())),
                argument="level",
                default="" if level == _DEFAULT_LEVEL else None,
                has_value=False,
                parse=options.ignore_text(level),
            )
            for level in range(1, 10)
        ),
        options.Option(
            names=("s", "small"),
            argument="small",
            default="0",
            has_value=False,
            parse=lambda text: text != "0",
        ),
        # The direction is in the metric.
        *options.name_options(
            "z", "compress", "d", "decompress", has_value=False
        ),
        *options.name_options("k", "keep", "f", "force", has_value=False),
        *options.name_options("v", "verbose", "q", "quiet", has_value=False),
    )
)


class Bzip2(base.Workload):
    """The wall time of bzip2 on data of a fixed size in each direction.

    ``data`` is compressed and ``copy.bz2`` is decompressed, so that the
    directions do not share files.  Every repetition writes new files, which
    are removed after it.
    """

    name = "bzip2"
    title = "Processor: compression and decompression with bzip2"
    part = "cpu"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(size_mib=16)
    ARGUMENTS = schemas.schema(
        size_mib=schemas.integer(
            "Size of the data in MiB", 1, 16384, default=64
        ),
        seed=schemas.seed("data"),
        level=schemas.integer("Block size of bzip2, 100 kB", 1, 9, default=9),
    )
    METRICS = tuple(TIMES.values())
    TOOLS = (tools.define("bzip2", "--help"), tools.auxiliary("python3"))
    SENSITIVE_TO = sensitivities.PROCESSOR

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return a tuple of the script that generates the data."""
        return (files.GENERATE,)

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of data and archive, and of another copy."""
        size = arguments["size_mib"] << 20
        return base.DiskSpace(
            kept=size + int(size * _MAX_COMPRESSED),
            temporary=size,
            arguments=("size_mib",),
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands that generate the data and the archive.

        The copy allocates storage that is thin-provisioned, and the archive
        replaces it.
        """
        steps = {
            "generate": files.generate_argv(arguments),
            "copy": ("cp", "data", "copy"),
            "pack": base.argv("bzip2 -z -f -{level} copy", arguments),
        }
        return _timed_commands(steps, arguments)

    def facts(
        self, arguments: base.Arguments, results: base.Results
    ) -> dict[str, str]:
        """Return the SHA-256 of the data in a dict."""
        return outputs.parse_checksum(results, "generate.py", "data_sha256")

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return the commands that compress and decompress the data."""
        steps = {
            "compress": base.argv("bzip2 -z -k -f -{level} data", arguments),
            "decompress": ("bzip2", "-d", "-k", "-f", "copy.bz2"),
        }
        results = {"compress": "data.bz2", "decompress": "copy"}
        return tuple(
            dataclasses.replace(
                command, temporary_files=(results[command.name],)
            )
            for command in _timed_commands(steps, arguments)
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the measured wall time.

        :raises base.WorkloadError: If bzip2 printed a message.
        """
        output = result.stdout or result.stderr
        if output:
            raise outputs.Reader("bzip2").error(
                f"printed an unexpected message: {sanitize.line(output, 80)!r}"
            )
        return [outputs.create_sample(TIMES[result.name], result.seconds)]


def _timed_commands(
    steps: dict[str, tuple[str, ...]], arguments: base.Arguments
) -> tuple[base.Command, ...]:
    """Return a Command, with its timeout, for each command line."""
    size = arguments["size_mib"]
    times = {"timeout": 60 + 2 * _SLOWEST * size, "seconds": _USUAL * size}
    return tuple(
        base.Command(name=name, argv=argv, bound="size", **times)
        for name, argv in steps.items()
    )
