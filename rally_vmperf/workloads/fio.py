"""Disk workload: fio."""

import collections.abc
import typing as t

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import fio_result
from rally_vmperf.workloads import outputs

PATTERNS = ("read", "write", "randread", "randwrite")

_BLOCK_SIZE = "^([1-9][0-9]{0,3}k|(1|2|4|8|16)M)$"

#: Reports while a pattern is measured, so that it can be cut.
REPORTS = 10

#: MiB/s of the slowest disk that is waited for.
_SLOWEST = 1


class Disk(base.Workload):
    """One file, read and written in sequence and at random."""

    name = "fio"
    title = "Disk: reads and writes with fio"
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "properties": {
            "patterns": {
                "type": "array",
                "description": "Measured one after the other: "
                f"{', '.join(PATTERNS)}.",
                "items": {"enum": list(PATTERNS)},
                "minItems": 1,
                "uniqueItems": True,
                "default": list(PATTERNS),
            },
            "block_size": {
                "type": "string",
                "description": "Size of a random request: 1k to 9999k, or "
                "1M, 2M, 4M, 8M, 16M.",
                "pattern": _BLOCK_SIZE,
                "default": "4k",
            },
            "sequential_block_size": {
                "type": "string",
                "description": "Size of a sequential request: 1k to 9999k, "
                "or 1M, 2M, 4M, 8M, 16M.",
                "pattern": _BLOCK_SIZE,
                "default": "1M",
            },
            "depth": {
                "type": "integer",
                "description": "Requests in flight, 1 to 1024; more than one "
                "needs direct.",
                "minimum": 1,
                "maximum": 1024,
                "default": 8,
            },
            "size_mib": {
                "type": "integer",
                "description": "Size of the file in MiB, 16 to 1048576.",
                "minimum": 16,
                "maximum": 1048576,
                "default": 256,
            },
            "runtime": {
                "type": "integer",
                "description": "Seconds that are measured for each pattern, "
                "1 to 3600.",
                "minimum": 1,
                "maximum": 3600,
                "default": 10,
            },
            "ramp": {
                "type": "integer",
                "description": "Seconds before them that are not measured, "
                "0 to 600.",
                "minimum": 0,
                "maximum": 600,
                "default": 2,
            },
            "direct": {
                "type": "boolean",
                "description": "Go past the page cache (O_DIRECT), true or "
                "false.",
                "default": True,
            },
        },
        "additionalProperties": False,
    }
    TOOLS = (
        base.Tool(command="fio", package="fio", version=("fio", "--version")),
    )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return how the file is laid out: random data, on the disk."""
        argv = (
            *_job("layout", "write", "1M", arguments),
            "--refill_buffers",
            "--end_fsync=1",
        )
        timeout = 120 + arguments["size_mib"] / _SLOWEST
        return (base.Command(name="layout", argv=argv, timeout=timeout),)

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a caution when the page cache is not passed by."""
        if arguments["direct"]:
            return ()
        return (("cache_not_direct", "fio runs with direct: false"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return rates and latencies of each pattern that is asked for."""
        return tuple(
            metric
            for pattern in _patterns(arguments)
            for metric in fio_result.metrics(pattern)
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each pattern, named after it."""
        timeout = arguments["runtime"] + arguments["ramp"] + 120
        return tuple(
            base.Command(
                name=pattern,
                argv=_measured(pattern, arguments),
                timeout=timeout,
            )
            for pattern in _patterns(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return rates and latencies of each pattern that has an outcome."""
        samples = []
        for pattern in _patterns(arguments):
            outcome = outputs.taken(outcomes, pattern)
            if outcome is not None:
                samples += fio_result.read(
                    pattern, outcome.stdout, arguments["runtime"]
                )
        return samples

    def course(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> courses.Course | None:
        """Return when a pattern's requests were done."""
        return fio_result.course(outcome.name, outcome.stdout)


def _patterns(arguments: base.Arguments) -> list[str]:
    return [p for p in PATTERNS if p in arguments["patterns"]]


def _measured(pattern: str, arguments: base.Arguments) -> tuple[str, ...]:
    key = "block_size" if "rand" in pattern else "sequential_block_size"
    return (
        *_job(pattern, pattern, arguments[key], arguments),
        # A file that is not there is an error and not a sparse new one.
        "--allow_file_create=0",
        "--time_based",
        f"--runtime={arguments['runtime']}",
        f"--ramp_time={arguments['ramp']}",
        "--norandommap",
        "--group_reporting",
        "--percentile_list=50:99",
        f"--status-interval={-(-arguments['runtime'] // REPORTS)}",
    )


def _job(
    name: str, pattern: str, block_size: str, arguments: base.Arguments
) -> tuple[str, ...]:
    return (
        "fio",
        f"--name={name}",
        "--filename=vmperf.data",
        f"--size={arguments['size_mib']}M",
        f"--rw={pattern}",
        f"--bs={block_size}",
        "--ioengine=libaio",
        f"--iodepth={arguments['depth']}",
        f"--direct={int(arguments['direct'])}",
        "--randseed=1",
        "--eta=never",
        "--output-format=json",
    )
