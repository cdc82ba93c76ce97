"""Disk workload: fio."""

import collections.abc

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _fio_result

PATTERNS = ("read", "write", "randread", "randwrite")

#: Reports while a pattern is measured, so that it can be cut.
REPORTS = 10

#: MiB/s of the slowest disk that is waited for.
_SLOWEST = 1


class Disk(base.Workload):
    """One file, read and written in sequence and at random."""

    name = "fio"
    title = "Disk: reads and writes with fio"
    part = "disk"
    ARGUMENTS = rules.schema(
        patterns=rules.choices(
            f"Measured one after the other: {', '.join(PATTERNS)}.", PATTERNS
        ),
        block_size=rules.size("Size of a random request", default="4k"),
        sequential_block_size=rules.size(
            "Size of a sequential request", default="1M"
        ),
        depth=rules.integer(
            "Requests in flight",
            1,
            1024,
            default=8,
            note="more than one needs direct",
        ),
        size_mib=rules.integer(
            "Size of the file in MiB", 16, 1048576, default=256
        ),
        runtime=rules.integer(
            "Seconds that are measured for each pattern", 1, 3600, default=10
        ),
        ramp=rules.integer(
            "Seconds before them that are not measured", 0, 600, default=2
        ),
        direct=rules.flag("Go past the page cache (O_DIRECT)", default=True),
    )
    TOOLS = (
        tools.Tool(command="fio", package="fio", version=("fio", "--version")),
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
            for metric in _fio_result.metrics(pattern)
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each pattern, named after it."""
        seconds = arguments["runtime"] + arguments["ramp"]
        return tuple(
            base.Command(
                name=pattern,
                argv=_measured(pattern, arguments),
                timeout=seconds + 120,
                seconds=seconds,
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
                samples += _fio_result.read(
                    pattern, outcome.stdout, arguments["runtime"]
                )
        return samples

    def course(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> courses.Course | None:
        """Return when a pattern's requests were done."""
        return _fio_result.course(outcome.name, outcome.stdout)

    def work(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> base.Work | None:
        """Return how many requests a pattern did.

        fio does not count those of the ramp time, which are taken to be done
        at the same pace.
        """
        taken = outputs.taken({outcome.name: outcome}, outcome.name)
        if taken is None or outcome.name not in _patterns(arguments):
            return None
        counted = _fio_result.operations(outcome.name, taken.stdout)
        whole = 1 + arguments["ramp"] / arguments["runtime"]
        return base.Work(amount=counted * whole, unit="ops")


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
