# SPDX-License-Identifier: Apache-2.0
"""Disk workload: fio."""

import collections.abc
import itertools
import math
import typing as t

from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _fio_job_file
from rally_vmperf.workloads.disk import _fio_options
from rally_vmperf.workloads.disk import _fio_result
from rally_vmperf.workloads.disk import _target

PATTERNS = ("read", "write", "randread", "randwrite")
#: Patterns of reads and writes, with metrics for each side.
MIXED = ("rw", "randrw")
#: Writes a new file completely; limited by size and not by time.
FIRST_WRITE = "first_write"
#: The file that is written anew.
_NEW_FILE = "vmperf.new"
#: Random reads with increasing depth while the latency is within a limit.
SEARCH = "search"
_ORDER = (*PATTERNS, *MIXED, FIRST_WRITE, SEARCH)

#: Maximum output of a pattern in bytes: its reports, each with at most 1,856
#: bins for reads and for writes (84 kB) and 4 kB of other text.
OUTPUT_LIMIT = 8 << 20

#: Options of runs that are limited by time; fio fails if the file is missing.
_TIMED = (
    "--allow_file_create=0 --time_based --runtime={runtime} "
    "--ramp_time={ramp_time} --norandommap --group_reporting "
    f"{_fio_result.PERCENTILES}"
)

#: Arguments that apply to patterns and not to a job file.
_PATTERN_ARGUMENTS = (
    *("patterns", "read_percent", "block_size", "sequential_block_size"),
    *("depth", "jobs", "flush", "search_latency_us", "arrivals"),
    *("target", "volume_count"),
)

#: The share by which the mean of random arrivals may miss a rate.
_MAX_DEVIATION = 0.02

#: MiB/s of the slowest supported disk.
_SLOWEST = 1
#: MiB/s of a current disk.
_USUAL = 200


class Fio(sequence.CommandSequenceWorkload):
    """Sequential and random reads and writes of a file or of raw volumes."""

    name = "fio"
    title = "Disk: reads and writes with fio"
    part = "disk"
    has_time_series = True
    OUTPUT_BOUNDS = output_bounds.OutputBounds(
        format="json", max_characters=OUTPUT_LIMIT
    )
    OPTIONS = "patterns"
    TOOL_OPTIONS = _fio_options.TABLE
    QUICK = schemas.short(size_mib=256, runtime=5, ramp_time=1)
    ARGUMENTS = schemas.schema(
        patterns=schemas.sequence(_ORDER, default=PATTERNS),
        read_percent=schemas.integer(
            "Share of reads in the requests of rw and randrw, percent",
            1,
            99,
            default=50,
        ),
        block_size=schemas.size("Size of a random request", default="4k"),
        sequential_block_size=schemas.size(
            "Size of a sequential request", default="1M"
        ),
        depth=schemas.integer(
            "Requests in flight",
            1,
            1024,
            default=8,
            note="more than 1 requires direct",
        ),
        size_mib=schemas.integer(
            "Size of the file in MiB",
            16,
            1048576,
            default=256,
            note="with a volume, the measured part of each device",
        ),
        runtime=schemas.duration("Measured time of each pattern"),
        ramp_time=schemas.integer(
            "Time before it that is not measured, s", 0, 600, default=2
        ),
        direct=schemas.flag("Bypass the page cache (O_DIRECT)", default=True),
        jobs=schemas.concurrency(
            "processes",
            256,
            "each has its own share of the file, and depth requests",
        ),
        flush=schemas.choice(
            "Flush of the file: none, fsync (after each write), fdatasync "
            "(after each write, without timestamps).",
            ("none", "fsync", "fdatasync"),
            default="none",
        ),
        search_latency_us=schemas.integer(
            "Limit on the 99th percentile of the latency in search, us",
            1,
            10**7,
            default=2000,
        ),
        rate_iops=schemas.by_name(
            schemas.optional(
                "Maximum requests per second of each process",
                10**7,
                "no limit",
            ),
            _ORDER,
            "limited pattern",
        ),
        arrivals=schemas.choice(
            "Arrivals of requests with rate_iops: regular, poisson (at "
            "random).",
            ("regular", "poisson"),
            default="regular",
        ),
        target=_target.argument(
            "the raw device of the first one",
            "the raw devices of volume_count volumes in one run",
        ),
        volume_count=schemas.integer(
            "Number of volumes", 2, 16, default=2, note="for target volumes"
        ),
        **_fio_job_file.ARGUMENTS,
    )
    TOOLS = (tools.load_generator("fio"),)

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return the Tools: fio, and Python for the search script."""
        if SEARCH not in arguments["patterns"]:
            return self.TOOLS
        return (*self.TOOLS, tools.auxiliary("python3"))

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the search script or the operator's job file as Files."""
        if arguments["job_file"]:
            name, path = _fio_job_file.NAME, arguments["job_file"]
            return (base.File(name=name, path=path),)
        if SEARCH not in arguments["patterns"]:
            return ()
        return (files.script("fio_search.py"),)

    def check_files(
        self,
        arguments: base.Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Reject an invalid job file of the operator."""
        if arguments["job_file"]:
            _fio_job_file.check(arguments, contents[_fio_job_file.NAME])

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of the files, except those of a job file."""
        if arguments["job_file"]:
            return base.DiskSpace()
        size = arguments["size_mib"] << 20
        is_written_anew = FIRST_WRITE in arguments["patterns"]
        return base.DiskSpace(
            kept=size,
            temporary=size if is_written_anew else 0,
            arguments=("size_mib",),
        )

    @staticmethod
    def targets(arguments: base.Arguments) -> tuple[base.Target, ...]:
        """Return the volumes whose devices are measured."""
        size = arguments["size_mib"] << 20
        return _target.list_volumes(arguments, size, "device")

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands that write the files before measurements.

        The blocks of a volume are written as well: reads of blocks that a
        storage has not allocated are not reads of a disk.
        """
        if arguments["job_file"]:
            sections = self.selected(arguments)
            options = (f"--section={section}" for section in sections)
            argv = _fio_job_file.command(
                arguments, *options, "--create_only=1"
            )
        else:
            job = _job_options("layout", "write", "1M", arguments)
            argv = (*job, "--refill_buffers", "--end_fsync=1")
            if self.targets(arguments):
                # Otherwise it would create a file if the link is missing.
                argv = (*argv, "--allow_file_create=0")
        timeout = 120 + _count_mib(arguments) / _SLOWEST
        return (base.Command(name="layout", argv=argv, timeout=timeout),)

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
        """Return the findings on limits of the measurement, as pairs."""
        findings = []
        if not arguments["direct"]:
            detail = "fio runs with direct: false"
            findings.append(("page_cache_measured", detail))
        # The number of processes is in the job file.
        if arguments["job_file"] and arguments["rate_iops"]:
            detail = (
                f"fio makes {arguments['rate_iops']} requests per second with "
                "each process"
            )
            findings.append(("fixed_rate", detail))
        return tuple(findings)

    def file_findings(
        self,
        arguments: base.Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> tuple[base.FileFinding, ...]:
        """Return a finding on each section with a side that has no metrics."""
        if not arguments["job_file"]:
            return ()
        return tuple(
            (
                "other_side_not_measured",
                f"section {section} reads and writes, and sections has "
                f"{side} only",
                tuple(metric.name for metric in _fio_result.metrics(side)),
            )
            for section, side in _fio_job_file.list_single_sides(
                arguments, contents[_fio_job_file.NAME]
            )
        )

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject contradictory arguments.

        :raises ValueError: If arguments contradict one another.
        """
        if bool(arguments["job_file"]) != bool(arguments["sections"]):
            raise ValueError(
                "job_file and sections: either both or none of them must be "
                "set"
            )
        properties = self.ARGUMENTS["properties"]
        for key in _PATTERN_ARGUMENTS if arguments["job_file"] else ():
            if arguments[key] != properties[key]["default"]:
                raise ValueError(
                    f"{key}={arguments[key]!r}: applies to patterns and not "
                    "to job_file; use another workload entry for patterns"
                )
        _check_rates(arguments)
        _check_target(arguments)
        jobs, size_mib = arguments["jobs"], arguments["size_mib"]
        keys = ("block_size", "sequential_block_size")
        block = max(schemas.size_bytes(arguments[key]) for key in keys)
        if jobs > 1 and (size_mib << 20) // jobs < max(block, 1 << 20):
            raise ValueError(
                f"jobs={jobs}: the share of each process in a file of "
                f"{size_mib} MiB must be >= 1 MiB and >= a request; raise "
                "size_mib"
            )
        if jobs > 1 and FIRST_WRITE in arguments["patterns"]:
            raise ValueError(
                f"jobs={jobs}: must be 1 with {FIRST_WRITE}; use another "
                f"workload entry for {FIRST_WRITE}"
            )

    def offers(self, arguments: base.Arguments) -> tuple[base.Offer, ...]:
        """Return an Offer for each selected pattern and its sides.

        With rw and randrw, reads and writes have the rate each.
        """
        if arguments["job_file"]:
            return ()
        return tuple(
            base.Offer(
                command=pattern,
                metric=f"disk.fio.{side}.iops",
                rate=_offered_rate(pattern, arguments),
                late=tuple(
                    metric.name
                    for metric in self.option_metrics(pattern)
                    if metric.unit == "s"
                    and metric.name.startswith(f"disk.fio.{side}.")
                ),
                is_random=arguments["arrivals"] == "poisson",
            )
            for pattern in self.selected(arguments)
            for side in _sides(pattern)
        )

    def check_drivable(self, arguments: base.Arguments) -> None:
        """Reject a job file, and patterns without one rate.

        :raises base.WorkloadError: If there is one.
        """
        if arguments["job_file"]:
            raise base.WorkloadError(
                "workload fio: job_file: cannot be driven at a rate; use "
                "patterns"
            )
        for pattern in arguments["patterns"]:
            if pattern not in PATTERNS:
                raise base.WorkloadError(
                    f"workload fio: pattern {pattern} cannot be driven at a "
                    f"rate; these can: {', '.join(PATTERNS)}"
                )

    def _drive(
        self,
        arguments: base.Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return limits of processes, with random arrivals if possible.

        Flushes require regular ones, and so do rates that intervals of whole
        microseconds miss.
        """
        driven = {
            "rate_iops": {
                pattern: max(1, round(rate / arguments["jobs"]))
                for pattern, rate in rates.items()
            },
            "arrivals": "poisson",
        }
        is_close = all(
            abs((_offered_rate(pattern, {**arguments, **driven}) or 0) - rate)
            <= _MAX_DEVIATION * rate
            for pattern, rate in rates.items()
        )
        if arguments["flush"] != "none" or not is_close:
            driven["arrivals"] = "regular"
        return driven

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each selected pattern."""
        sides = arguments["sections"]
        if not sides:
            return super().metrics(arguments)
        side_metrics = map(_fio_result.metrics, sides)
        return tuple(itertools.chain.from_iterable(side_metrics))

    def option_metrics(self, option: str) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of a pattern."""
        if option == SEARCH:
            return _fio_result.SEARCH_METRICS
        return tuple(
            metric
            for side in _sides(option)
            for metric in _fio_result.metrics(side)
        )

    def selected(self, arguments: base.Arguments) -> list[str]:
        """Return the selected patterns or job file sections as a list."""
        if not arguments["job_file"]:
            return super().selected(arguments)
        sections = (side.partition(".")[0] for side in arguments["sections"])
        return list(dict.fromkeys(sections))

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the Command that measures a pattern or a section."""
        seconds = float(arguments["runtime"] + arguments["ramp_time"])
        timeout = 120 + seconds
        if option == FIRST_WRITE:
            seconds = float(arguments["size_mib"] / _USUAL)
            timeout = 120 + float(arguments["size_mib"] / _SLOWEST)
        elif option == SEARCH:
            seconds *= _fio_result.MAX_SEARCH_STEPS
            timeout *= _fio_result.MAX_SEARCH_STEPS
        return base.Command(
            name=option,
            argv=_command_line(option, arguments),
            timeout=timeout,
            seconds=seconds,
            output_limit=OUTPUT_LIMIT,
            bound="size" if option in (FIRST_WRITE, SEARCH) else "time",
            # fio removes it, unless it fails.
            temporary_files=(_NEW_FILE,) if option == FIRST_WRITE else (),
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return the samples of rates and latencies of one command."""
        if arguments["job_file"]:
            return _fio_job_file.parse(result.name, result.stdout, arguments)
        if result.name == SEARCH:
            return _fio_result.parse_search(
                result.stdout,
                _search_step(arguments),
                arguments["runtime"],
                arguments["search_latency_us"] * 1000,
            )
        text = result.stdout
        argv = _command_line(result.name, arguments)
        readings: list[sample.Reading] = []
        runtime = arguments["runtime"]
        if result.name == FIRST_WRITE:
            runtime = 0
            block = schemas.size_bytes(_block_size(result.name, arguments))
            _fio_result.check_written(
                result.name, text, (arguments["size_mib"] << 20) // block
            )
        for pattern in _sides(result.name):
            _fio_result.check_command(pattern, text, argv)
            readings += _fio_result.parse(pattern, text, runtime)
            readings.append(_fio_result.parse_latencies(pattern, text))
            readings += _fio_result.series(pattern, text)
        return readings

    def progress(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> curves.ProgressCurve | None:
        """Return a curve of completed requests over time, or None."""
        alone = (*MIXED, FIRST_WRITE, SEARCH)  # no metric has both sides
        if arguments["job_file"] or result.name in alone:
            return None
        return _fio_result.progress(result.name, result.stdout)

    def work_done(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> base.Work | None:
        """Return the number of requests of a pattern as Work, or None.

        Requests in the ramp time, which fio does not count, are estimated.
        """
        output = base.check_result(result, self.OUTPUT_BOUNDS).stdout
        # Steps of the search that are beyond the limit give no figure.
        if result.name == SEARCH or result.name not in self.selected(
            arguments
        ):
            return None
        sides = _mixed_sides if arguments["job_file"] else _sides
        counted = sum(
            _fio_result.completed_requests(side, output)
            for side in sides(result.name)
        )
        ramp_factor = 1 + arguments["ramp_time"] / arguments["runtime"]
        if result.name == FIRST_WRITE:
            ramp_factor = 1
        return base.Work(amount=counted * ramp_factor, unit="ops")


def _check_rates(arguments: base.Arguments) -> None:
    """Reject limits on rates that do not apply.

    :raises ValueError: If a limit has no pattern, or arrivals no limit.
    """
    rates = arguments["rate_iops"]
    if isinstance(rates, collections.abc.Mapping):
        if arguments["job_file"]:
            raise ValueError(
                "rate_iops: must be one number with job_file, whose sections "
                "all have it"
            )
        schemas.check_names(
            "rate_iops", rates, "patterns", arguments["patterns"]
        )
    if arguments["arrivals"] == "regular":
        return
    if not rates:
        raise ValueError(
            "arrivals=poisson: requires rate_iops; set it, or remove arrivals"
        )
    if arguments["flush"] != "none":
        raise ValueError(
            "arrivals=poisson: requires flush: none, because fio ends with a "
            "division by zero otherwise; remove arrivals or flush"
        )


def _offered_rate(pattern: str, arguments: base.Arguments) -> float | None:
    """Return the requests per second of all processes; None for no limit.

    The mean interval of random arrivals is whole microseconds, and fio cuts
    each interval to microseconds.
    """
    limit = schemas.number_for(arguments["rate_iops"], pattern)
    if not limit:
        return None
    rate = float(limit)
    if arguments["arrivals"] == "poisson":
        rate = 1e6 * math.expm1(1 / max(1, 10**6 // limit))
    return rate * float(arguments["jobs"])


def _check_target(arguments: base.Arguments) -> None:
    """Reject arguments that the target does not support."""
    target = arguments["target"]
    if target != _target.ROOT and FIRST_WRITE in arguments["patterns"]:
        raise ValueError(
            f"target={target}: {FIRST_WRITE} writes a new file, and a raw "
            "device has none; use target root, or remove the pattern"
        )
    if target == _target.VOLUMES and arguments["jobs"] > 1:
        raise ValueError(
            f"jobs={arguments['jobs']}: must be 1 with target volumes; raise "
            "depth, which is that of all devices together"
        )
    if target != _target.VOLUMES and arguments["volume_count"] != 2:
        raise ValueError(
            f"volume_count={arguments['volume_count']}: requires target "
            "volumes; set it, or remove volume_count"
        )


def _get_filename(arguments: base.Arguments) -> str:
    """Return the file, or the devices, with colons between them."""
    paths = [target.path for target in Fio.targets(arguments)]
    return ":".join(paths) or "vmperf.data"


def _count_mib(arguments: base.Arguments) -> int:
    """Return the size of all files of a job in MiB."""
    files = len(Fio.targets(arguments)) or 1
    return int(arguments["size_mib"]) * files


def _sides(pattern: str) -> list[str]:
    """Return the measured sides of a pattern as a list of names."""
    return [pattern] if pattern not in MIXED else _mixed_sides(pattern)


def _mixed_sides(pattern: str) -> list[str]:
    """Return the names of the read and write sides of a mixed pattern."""
    return [f"{pattern}.{side}" for side in ("read", "write")]


def _block_size(pattern: str, arguments: base.Arguments) -> str:
    """Return the block size of a pattern as text, such as ``4k``."""
    key = "block_size" if "rand" in pattern else "sequential_block_size"
    return str(arguments[key])


def _search_step(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line words of a search step without its depth."""
    job = _job_options(SEARCH, "randread", arguments["block_size"], arguments)
    return (
        *(option for option in job if not option.startswith("--iodepth=")),
        *base.argv(_TIMED, arguments),
        *_optional_options(SEARCH, arguments),
    )


def _command_line(pattern: str, arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line words that measure a pattern."""
    if arguments["job_file"]:
        return _fio_job_file.command(
            arguments, f"--section={pattern}", _fio_result.PERCENTILES
        )
    if pattern == SEARCH:
        limit = arguments["search_latency_us"] * 1000
        program = ("python3", "fio_search.py", str(limit))
        return (*program, *_search_step(arguments))
    block_size = _block_size(pattern, arguments)
    if pattern == FIRST_WRITE:
        job = _job_options(pattern, "write", block_size, arguments)
        # fio allocates the file before it measures, and removes it.
        return (
            *(option.replace("vmperf.data", _NEW_FILE) for option in job),
            *("--fallocate=posix", "--unlink=1", "--group_reporting"),
            _fio_result.PERCENTILES,
            *_optional_options(pattern, arguments),
        )
    interval = _fio_result.report_interval(
        arguments["runtime"], arguments["ramp_time"]
    )
    return (
        *_job_options(pattern, pattern, block_size, arguments),
        *base.argv(_TIMED, arguments),
        f"--status-interval={interval}",
        *_optional_options(pattern, arguments),
    )


def _optional_options(
    pattern: str, arguments: base.Arguments
) -> collections.abc.Iterator[str]:
    """Yield the fio options that only some arguments or patterns require."""
    if arguments["jobs"] > 1:
        share_mib = arguments["size_mib"] // arguments["jobs"]
        yield f"--numjobs={arguments['jobs']}"
        # It overrides the size of the whole file: fio uses the last one.
        yield f"--size={share_mib}M"
        yield f"--offset_increment={share_mib}M"
    if pattern in MIXED:
        yield f"--rwmixread={arguments['read_percent']}"
    writes = pattern in MIXED or pattern.endswith("write")
    if arguments["flush"] != "none" and writes:
        yield f"--{arguments['flush']}=1"
    if limit := schemas.number_for(arguments["rate_iops"], pattern):
        yield f"--rate_iops={limit}"
        if arguments["arrivals"] == "poisson":
            yield "--rate_process=poisson"


def _job_options(
    name: str, pattern: str, block_size: str, arguments: base.Arguments
) -> tuple[str, ...]:
    """Return the command line words of fio that all patterns share."""
    # With one seed, random requests would arrive at the same instants in all
    # guests and repetitions.
    is_random = arguments["arrivals"] == "poisson" and name != "layout"
    return base.argv(
        "fio --name={name} --filename={filename} --size={size}M "
        "--rw={pattern} --bs={block_size} --ioengine=libaio "
        "--iodepth={depth} --direct={direct:d} {seed} --eta=never "
        "--output-format=json+",
        arguments,
        name=name,
        filename=_get_filename(arguments),
        size=_count_mib(arguments),
        pattern=pattern,
        block_size=block_size,
        seed="--randrepeat=0" if is_random else "--randseed=1",
    )
