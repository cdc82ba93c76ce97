"""Disk workload: fio."""

import collections.abc
import typing as t

from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import _fio_job_file
from rally_vmperf.workloads.disk import _fio_result
from rally_vmperf.workloads.disk import _fio_search

PATTERNS = ("read", "write", "randread", "randwrite")
#: Patterns of both, of which each side has metrics of its own.
MIXED = ("rw", "randrw")
#: Writes a fresh file to its end; work of a size, not of a time.
FIRST_WRITE = "first_write"
#: Reads at random, deeper and deeper, while their latency is within a limit.
SEARCH = "search"
_ORDER = (*PATTERNS, *MIXED, FIRST_WRITE, SEARCH)

#: Bytes that a pattern may print: that many reports and the last, of at most
#: 1,856 bins for reads and for writes, which take 84 kB, and 4 kB beside them.
OUTPUT_LIMIT = 4 << 20

#: MiB/s of the slowest disk that is waited for.
_SLOWEST = 1
#: MiB/s of a disk of today.
_USUAL = 200


class Disk(base.Workload):
    """One file, read and written in sequence and at random."""

    name = "fio"
    title = "Disk: reads and writes with fio"
    part = "disk"
    LONGEST = OUTPUT_LIMIT
    ARGUMENTS = rules.schema(
        patterns=rules.choices(
            f"Measured one after the other: {', '.join(_ORDER)}.",
            _ORDER,
            default=PATTERNS,
        ),
        read_percent=rules.integer(
            "Reads among the requests of rw and randrw, percent",
            1,
            99,
            default=50,
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
        ramp_time=rules.integer(
            "Seconds before them that are not measured", 0, 600, default=2
        ),
        direct=rules.flag("Bypass the page cache (O_DIRECT)", default=True),
        jobs=rules.integer(
            "Processes at the same time",
            1,
            256,
            default=1,
            note="each has its own part of the file, and depth requests",
        ),
        flush=rules.choice(
            "After how many writes the file is flushed: none, fsync (after "
            "each), fdatasync (after each, without times and the like).",
            ("none", "fsync", "fdatasync"),
            default="none",
        ),
        search_latency_us=rules.integer(
            "Largest 99th percentile of the latency that search may reach, us",
            1,
            10**7,
            default=2000,
        ),
        rate_iops=rules.integer(
            "Requests per second of each process at most",
            0,
            10**7,
            default=0,
            note="0 for no limit",
        ),
        **_fio_job_file.ARGUMENTS,
    )
    TOOLS = (tools.of("fio"),)

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return fio, and what the search is written in."""
        if SEARCH not in arguments["patterns"]:
            return self.TOOLS
        return (*self.TOOLS, tools.of("python3", measures=False))

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that searches, or the operator's job file."""
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
        """Refuse a job file with more in it than reads and writes."""
        if arguments["job_file"]:
            _fio_job_file.check(arguments, contents[_fio_job_file.NAME])

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the command that lays out the file with random data."""
        if arguments["job_file"]:
            return (_fio_job_file.prepare(arguments),)
        job = _job("layout", "write", "1M", arguments)
        argv = (*job, "--refill_buffers", "--end_fsync=1")
        timeout = 120 + arguments["size_mib"] / _SLOWEST
        return (base.Command(name="layout", argv=argv, timeout=timeout),)

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return findings on what the figures do not show."""
        found = []
        if not arguments["direct"]:
            found.append(
                ("page_cache_measured", "fio runs with direct: false")
            )
        limit = arguments["rate_iops"] * arguments["jobs"]
        if limit:
            words = f"fio makes {limit} requests per second"
            if arguments["job_file"]:
                words += " with each process"
            if set(MIXED) & set(arguments["patterns"]):
                words += ", as many reads as writes in rw and randrw"
            found.append(("fixed_rate", words))
        return tuple(found)

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for a part of the file of less than
            one request
        """
        complete = super().complete(arguments)
        _fio_job_file.refuse_others(self.ARGUMENTS["properties"], complete)
        part = (complete["size_mib"] << 20) // complete["jobs"]
        block = max(
            rules.size_bytes(complete[key])
            for key in ("block_size", "sequential_block_size")
        )
        if complete["jobs"] > 1 and part < max(block, 1 << 20):
            raise base.WorkloadError(
                f"workload fio: jobs: {complete['jobs']} parts of a file of "
                f"{complete['size_mib']} MiB are smaller than a request or "
                "1 MiB; raise size_mib"
            )
        if complete["jobs"] > 1 and FIRST_WRITE in complete["patterns"]:
            raise base.WorkloadError(
                f"workload fio: jobs: {complete['jobs']} processes have no "
                f"fresh file in common; give {FIRST_WRITE} an entry of its own"
            )
        return complete

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return rates and latencies of each pattern that is asked for."""
        if arguments["job_file"]:
            return _fio_job_file.metrics(arguments)
        return tuple(
            metric
            for pattern in _patterns(arguments)
            for metric in (
                _fio_search.METRICS
                if pattern == SEARCH
                else (
                    one
                    for side in _sides(pattern)
                    for one in _fio_result.metrics(side)
                )
            )
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each pattern, named after it."""
        return tuple(
            base.Command(
                name=pattern,
                argv=_measured(pattern, arguments),
                timeout=_timeout(pattern, arguments),
                seconds=_seconds(pattern, arguments),
                output_limit=OUTPUT_LIMIT,
                bound="size" if pattern in (FIRST_WRITE, SEARCH) else "time",
            )
            for pattern in _patterns(arguments)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return rates and latencies of a pattern, or of a section."""
        if arguments["job_file"]:
            return _fio_job_file.read(outcome.name, outcome.stdout, arguments)
        if outcome.name == SEARCH:
            return _fio_search.read(
                outcome.stdout,
                _step(arguments),
                rules.size_bytes(arguments["block_size"]),
                arguments["runtime"],
                arguments["search_latency_us"] * 1000,
            )
        text = outcome.stdout
        argv = _measured(outcome.name, arguments)
        block = rules.size_bytes(_block_size(outcome.name, arguments))
        found: list[sample.Reading] = []
        runtime = arguments["runtime"]
        if outcome.name == FIRST_WRITE:
            runtime = 0
            _fio_result.check_written(
                outcome.name, text, (arguments["size_mib"] << 20) // block
            )
        for pattern in _sides(outcome.name):
            _fio_agreement.check(pattern, text, argv, block)
            found += _fio_result.read(pattern, text, runtime)
            found.append(_fio_result.latencies(pattern, text))
            found += _fio_result.series(pattern, text)
        return found

    def course(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> courses.Course | None:
        """Return the progress of a pattern's requests over time."""
        # Of both sides together there are no metrics to be cut.
        alone = (*MIXED, FIRST_WRITE, SEARCH)
        if arguments["job_file"] or outcome.name in alone:
            return None
        return _fio_result.course(outcome.name, outcome.stdout)

    def work(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> base.Work | None:
        """Return how many requests a pattern made.

        fio does not count those of the ramp time, which are taken to be done
        at the same pace.
        """
        told = outcome.checked(self.LONGEST).stdout
        # Steps that are beyond the limit are no work of the figure.
        if outcome.name not in _patterns(arguments) or outcome.name == SEARCH:
            return None
        sides = _both if arguments["job_file"] else _sides
        counted = sum(
            _fio_result.operations(side, told) for side in sides(outcome.name)
        )
        whole = 1 + arguments["ramp_time"] / arguments["runtime"]
        if outcome.name == FIRST_WRITE:
            whole = 1
        return base.Work(amount=counted * whole, unit="ops")


def _patterns(arguments: base.Arguments) -> list[str]:
    """Return what is measured by a command each."""
    if arguments["job_file"]:
        return _fio_job_file.names(arguments)
    return [p for p in _ORDER if p in arguments["patterns"]]


def _seconds(pattern: str, arguments: base.Arguments) -> float:
    """Return about how many seconds a pattern takes."""
    if pattern == FIRST_WRITE:
        return float(arguments["size_mib"] / _USUAL)
    once = float(arguments["runtime"] + arguments["ramp_time"])
    return once * _fio_search.MOST if pattern == SEARCH else once


def _timeout(pattern: str, arguments: base.Arguments) -> float:
    if pattern == FIRST_WRITE:
        return 120 + float(arguments["size_mib"] / _SLOWEST)
    steps = _fio_search.MOST if pattern == SEARCH else 1
    return 120 * steps + _seconds(pattern, arguments)


def _sides(pattern: str) -> list[str]:
    """Return what the metrics of a pattern are of."""
    return [pattern] if pattern not in MIXED else _both(pattern)


def _both(pattern: str) -> list[str]:
    return [f"{pattern}.{side}" for side in ("read", "write")]


def _block_size(pattern: str, arguments: base.Arguments) -> str:
    key = "block_size" if "rand" in pattern else "sequential_block_size"
    return str(arguments[key])


def _step(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line of a step of the search, without its depth."""
    size = str(arguments["block_size"])
    job = _job(SEARCH, "randread", size, arguments)
    return (
        *(word for word in job if not word.startswith("--iodepth=")),
        *base.argv(
            "--allow_file_create=0 --time_based --runtime={runtime} "
            "--ramp_time={ramp_time} --norandommap --group_reporting",
            arguments,
        ),
        _fio_result.PERCENTILES,
        *_further(SEARCH, arguments),
    )


def _measured(pattern: str, arguments: base.Arguments) -> tuple[str, ...]:
    if arguments["job_file"]:
        return _fio_job_file.command(pattern, arguments)
    if pattern == SEARCH:
        limit = arguments["search_latency_us"] * 1000
        words = ("python3", "fio_search.py", str(limit))
        return (*words, *_step(arguments))
    block_size = _block_size(pattern, arguments)
    if pattern == FIRST_WRITE:
        job = _job(pattern, "write", block_size, arguments)
        # fio lays it out before it measures; and nothing is left.
        return (
            *(word.replace("vmperf.data", "vmperf.new") for word in job),
            *("--fallocate=posix", "--unlink=1", "--group_reporting"),
            _fio_result.PERCENTILES,
            *_further(pattern, arguments),
        )
    return (
        *_job(pattern, pattern, block_size, arguments),
        # A file that is not there is an error and not a sparse new one; the
        # percentiles are only to check by: they come from the bins of json+.
        *base.argv(
            "--allow_file_create=0 --time_based --runtime={runtime} "
            "--ramp_time={ramp_time} --norandommap --group_reporting "
            f"{_fio_result.PERCENTILES} --status-interval={{interval}}",
            arguments,
            interval=_fio_result.interval(
                arguments["runtime"], arguments["ramp_time"]
            ),
        ),
        *_further(pattern, arguments),
    )


def _further(
    pattern: str, arguments: base.Arguments
) -> collections.abc.Iterator[str]:
    """Yield options that are given where they are asked for."""
    if arguments["jobs"] > 1:
        part = arguments["size_mib"] // arguments["jobs"]
        yield f"--numjobs={arguments['jobs']}"
        # In place of the whole: fio takes the last.
        yield f"--size={part}M"
        yield f"--offset_increment={part}M"
    if pattern in MIXED:
        yield f"--rwmixread={arguments['read_percent']}"
    writes = pattern in MIXED or pattern.endswith("write")
    if arguments["flush"] != "none" and writes:
        yield f"--{arguments['flush']}=1"
    if arguments["rate_iops"]:
        yield f"--rate_iops={arguments['rate_iops']}"


def _job(
    name: str, pattern: str, block_size: str, arguments: base.Arguments
) -> tuple[str, ...]:
    return base.argv(
        "fio --name={name} --filename=vmperf.data --size={size_mib}M "
        "--rw={pattern} --bs={block_size} --ioengine=libaio "
        "--iodepth={depth} --direct={direct:d} --randseed=1 --eta=never "
        "--output-format=json+",
        arguments,
        name=name,
        pattern=pattern,
        block_size=block_size,
    )
