# SPDX-License-Identifier: Apache-2.0
"""Workload of a whole system: UnixBench."""

import collections.abc
import dataclasses
import io
import re
import tarfile
import typing as t
import zlib

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools

_OUTPUT = outputs.Reader("unixbench")
_FIGURES = outputs.Reader("unixbench: a figure")

_SECTION = re.compile(
    r"^Benchmark Run: .*\n[0-9]+ CPUs? in system; running ([0-9]{1,9}) "
    r"parallel cop(?:y|ies) of tests\n",
    re.M,
)
_SCORE = re.compile(
    r"^(\S.{1,60}?) +([0-9.]{1,30}) (lps|lpm|MWIPS|KBps)"
    r"(?: +\([0-9.]{1,20} s, ([0-9]{1,6}) samples\))?$",
    re.M,
)
_INDEX = re.compile(
    r"^(\S.{1,60}?) +[0-9.]{1,30} +[0-9.]{1,30} +([0-9.]{1,30})$", re.M
)
#: The row of a test without a baseline.
_UNRATED = re.compile(r"^(\S.{1,60}?) +--- +[0-9.]{1,30} +---$")
#: The complete last line.
_TOTAL = re.compile(
    r"^System Benchmarks Index Score(?: \(Partial Only\))? +"
    r"([0-9.]{1,30})\n",
    re.M,
)
#: A row of one of the tables, whatever its format.
_ROW = re.compile(
    r"^(?!System Benchmarks)\S.*"
    r"(?:  [0-9]| (?:lps|lpm|MWIPS|KBps)\b|\bsamples\b)"
)


class Score(t.NamedTuple):
    """The score of a test in the unit of UnixBench.

    :param samples: The number of passes that it is the mean of; None if a
        published report lacks it.
    """

    value: float
    label: str
    samples: int | None


@dataclasses.dataclass(frozen=True)
class UnixBenchReport:
    """The results of UnixBench for one number of copies.

    :param scores: The scores by the titles of the tests.
    :param indices: The indices by the titles of the tests.
    :param index: The mean of all indices.
    """

    scores: dict[str, Score]
    indices: dict[str, float]
    index: float


def parse_report(text: str, copies: int) -> UnixBenchReport:
    """Parse the output for one number of copies into a Report.

    :raises base.WorkloadError: If the output does not contain exactly one
        such report, or the report is not complete.
    """
    section = _find_section(text, copies)
    scores = _parse_section(section)
    indices = _parse_indices(section)
    totals = _TOTAL.findall(section)
    end = _TOTAL.search(section)
    if end and section[end.end() :].strip("-\n \t"):
        raise _OUTPUT.error("printed text after its index score")
    if set(scores) != set(indices) or not scores or len(totals) != 1:
        raise _OUTPUT.error(
            f"printed {len(scores)} scores, {len(indices)} indices and "
            f"{len(totals)} index scores"
        )
    return UnixBenchReport(scores, indices, _FIGURES.number(totals[0]))


def parse_scores(text: str, copies: int) -> dict[str, Score]:
    """Return the scores by test for one number of copies, as a dict.

    The table of indices may be missing.

    :raises base.WorkloadError: If the output does not contain the scores
        exactly once.
    """
    return _parse_section(_find_section(text, copies))


def _find_section(text: str, copies: int) -> str:
    """Return the text of the only run with this number of copies."""
    headers = list(_SECTION.finditer(text))
    matching = [header for header in headers if int(header[1]) == copies]
    if len(matching) != 1:
        raise _OUTPUT.error(
            f"reports {len(matching)} runs with copies: {copies}, not one"
        )
    begin = matching[0].end()
    starts = [header.start() for header in headers]
    later_starts = [start for start in starts if start >= begin]
    return text[begin : min(later_starts, default=len(text))]


def _parse_section(section: str) -> dict[str, Score]:
    """Return the scores in the text of a run as a dict by test title."""
    rows = _SCORE.findall(section)
    for line in section.splitlines():
        if _ROW.match(line) and not any(
            pattern.match(line) for pattern in (_SCORE, _INDEX, _UNRATED)
        ):
            raise _OUTPUT.error(
                f"printed {sanitize.line(line, 80)!r}, which is not a row of "
                "its tables"
            )
    scores = {
        title: Score(
            _FIGURES.number(score), label, int(samples) if samples else None
        )
        for title, score, label, samples in rows
        if samples != "0"
    }
    if len(rows) != len(scores):
        raise _OUTPUT.error("printed a test twice, or a test without samples")
    return scores


def _parse_indices(section: str) -> dict[str, float]:
    """Return the indices in the text of a run as a dict by test title.

    :raises base.WorkloadError: If an index is printed twice.
    """
    rows = _INDEX.findall(section)
    indices = {title: _FIGURES.number(index) for title, index in rows}
    if len(rows) != len(indices):
        raise _OUTPUT.error("printed the index of a test twice")
    return indices


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of UnixBench.

    :param label: The unit of its score.
    :param seconds: The duration of one pass in seconds.
    :param runs_all_passes: True if it runs all requested passes, False if it
        runs a third of them.
    """

    title: str
    label: str
    seconds: int
    runs_all_passes: bool = False

    def passes(self, iterations: int) -> int:
        """Return the number of passes for an argument ``iterations``."""
        third = max(1, (iterations + 1) // 3)
        return iterations if self.runs_all_passes else third


TESTS = {
    "dhry2reg": Test("Dhrystone 2 using register variables", "lps", 10, True),
    "whetstone-double": Test("Double-Precision Whetstone", "MWIPS", 10, True),
    "execl": Test("Execl Throughput", "lps", 30),
    "fstime": Test("File Copy 1024 bufsize 2000 maxblocks", "KBps", 30),
    "fsbuffer": Test("File Copy 256 bufsize 500 maxblocks", "KBps", 30),
    "fsdisk": Test("File Copy 4096 bufsize 8000 maxblocks", "KBps", 30),
    "pipe": Test("Pipe Throughput", "lps", 10, True),
    "context1": Test("Pipe-based Context Switching", "lps", 10, True),
    "spawn": Test("Process Creation", "lps", 30),
    "shell1": Test("Shell Scripts (1 concurrent)", "lpm", 60),
    "shell8": Test("Shell Scripts (8 concurrent)", "lpm", 60),
    "syscall": Test("System Call Overhead", "lps", 10, True),
}

#: Unit of UnixBench -> base unit, factor, and the largest plausible score of
#: one copy, at least ten times that of current machines.
_UNITS = {
    "lps": ("ops/s", 1.0, 1e9),
    "lpm": ("ops/s", 1 / 60, 1e6),
    "MWIPS": ("ops/s", 1e6, 1e6),
    "KBps": ("B/s", 1024.0, 1e9),
}

#: Size of the file that a copy of a test copies, in bytes.
_FILE_BYTES = {
    "fstime": 1024 * 2000,
    "fsbuffer": 256 * 500,
    "fsdisk": 4096 * 8000,
}
#: Size of the unpacked source and the programs in bytes.
_BUILD_BYTES = 16 << 20

#: Smallest and largest plausible index.
_BOUNDS = (0.0, 1e15)

#: Pause of UnixBench before each pass in seconds.
_PAUSE = 4

#: Maximum number of copies in the script of UnixBench; 0 for no limit.
_COPY_LIMIT = re.compile(
    rb"^ *'system' *=> *\{[^}\n]*'maxCopies' *=> *([0-9]{1,6})", re.M
)
_TARBALL = "unixbench.tar"


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("version",),
            argument="version",
            pattern=re.compile(
                r"BYTE UNIX Benchmarks \(Version ([\w.]{1,20})\)"
            ),
        ),
    )
)


class UnixBench(sequence.SequenceWorkload):
    """Tests of processor, system calls, processes, pipes and page cache."""

    name = "unixbench"
    title = "System: UnixBench"
    part = "application"
    TOOL_OPTIONS = _OPTIONS
    ARGUMENTS = schemas.schema(
        tests=schemas.sequence(TESTS),
        copies=schemas.integer(
            "Concurrent copies of each test", 1, 1024, default=1
        ),
        iterations=schemas.integer(
            "Passes of tests of 10 s; other tests run a third of them",
            1,
            100,
            default=1,
        ),
        source=schemas.path(
            "Source tarball of UnixBench on the machine that runs "
            "rally-vmperf",
            default="/usr/local/src/unixbench.tar.gz",
        ),
        flags=schemas.choice(
            "Compiler options: -O2, -O3 -ffast-math, or -O3 -ffast-math "
            "-march=native.",
            ("-O2", "-O3 -ffast-math", "-O3 -ffast-math -march=native"),
            default="-O3 -ffast-math",
        ),
    )
    OPTIONS = "tests"
    TOOLS = (
        tools.define("perl"),
        # The package gcc of Debian does not contain the headers of libc.
        tools.define(
            "gcc",
            package="build-essential",
            packages={"dnf": "gcc", "zypper": "gcc"},
        ),
        tools.auxiliary("make"),
        tools.auxiliary("tar"),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's tarball as a File in a tuple."""
        return (base.File(name=_TARBALL, path=arguments["source"]),)

    def check_files(
        self,
        arguments: base.Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Reject an invalid tarball, or one with a lower limit on copies.

        UnixBench skips tests with a lower limit without a message.
        """
        source, copies = arguments["source"], arguments["copies"]
        match = _COPY_LIMIT.search(_read_script(source, contents[_TARBALL]))
        max_copies = int(match[1]) if match else 0
        if 0 < max_copies < copies:
            raise base.WorkloadError(
                f"copies={copies}: must be at most {max_copies} with the "
                f"UnixBench in {source}; use UnixBench 6, raise maxCopies of "
                f"'system' in its UnixBench/Run, or set copies: {max_copies}"
            )

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of UnixBench, and of the files that it copies."""
        copied = max(
            (_FILE_BYTES.get(name, 0) for name in self.selected(arguments)),
            default=0,
        )
        return base.DiskSpace(
            kept=_BUILD_BYTES,
            temporary=2 * copied * arguments["copies"],
            arguments=("copies",),
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands that unpack and build UnixBench."""
        unpack = (
            *("tar", "-xf", _TARBALL, "--strip-components=1"),
            *("--wildcards", "*/UnixBench/*"),
        )
        build = (
            *("make", "-C", "UnixBench", "all"),
            f"UB_GCC_OPTIONS={arguments['flags']}",
        )
        return (
            base.Command(name="unpack", argv=unpack, timeout=300, seconds=2),
            base.Command(name="build", argv=build, timeout=1800, seconds=30),
        )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of each test and of the index."""
        metrics: list[sample.Metric] = []
        for name in self.selected(arguments):
            count = f"application.unixbench.{name}.samples"
            metrics += (
                _rate_metric(name, arguments["copies"]),
                _index_metric(f"{name}.index"),
                sample.Metric(count, "1", "higher", scale="count"),
            )
        return (*metrics, _index_metric("index"))

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all tests."""
        names = self.selected(arguments)
        seconds = sum(
            (TESTS[name].seconds + _PAUSE)
            * TESTS[name].passes(arguments["iterations"])
            for name in names
        )
        # UnixBench searches its Makefile in the working directory.
        options = "env -C UnixBench perl Run -i {iterations} -c {copies}"
        argv = (*base.argv(options, arguments), *names)
        command = base.Command(
            name="unixbench",
            argv=argv,
            timeout=4 * seconds + 600,
            seconds=seconds,
            bound="size",
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of rates, indices and numbers of samples.

        UnixBench does not count the worst third of the passes as samples.
        """
        results = parse_report(result.stdout, arguments["copies"])
        names = self.selected(arguments)
        if set(results.scores) != {TESTS[name].title for name in names}:
            raise _OUTPUT.error(
                f"ran {len(results.scores)} tests, which are not the "
                f"{len(names)} requested tests"
            )
        figures: list[float] = []
        for name in names:
            test = TESTS[name]
            score = results.scores[test.title]
            passes = test.passes(arguments["iterations"])
            if score.samples != passes - passes // 3:
                raise _OUTPUT.error(
                    f"{name} has {score.samples} samples instead of "
                    f"{passes - passes // 3} from {passes} passes"
                )
            index = results.indices[test.title]
            figures += [_convert_score(name, score), index, score.samples]
        return outputs.create_samples(
            self.metrics(arguments), (*figures, results.index)
        )


def parse_rates(
    text: str, copies: int
) -> tuple[dict[str, sample.Sample], list[str]]:
    """Parse an output; return the rate sample of each test by its name.

    Published reports may end with the scores, without indices.

    :returns: The samples, and the titles of tests without a metric, such as
        those that UnixBench does not run by default.
    :raises base.WorkloadError: If the text does not contain exactly one
        report, or the report has no known test.
    """
    scores = parse_scores(text, copies)
    names = {test.title: name for name, test in TESTS.items()}
    unknown = sorted(scores.keys() - names.keys())
    if len(unknown) == len(scores):
        unknown_titles = sanitize.line(", ".join(unknown), 80)
        raise _OUTPUT.error(
            f"has {len(scores)} scores, unknown ones: {unknown_titles!r}"
        )
    rates = {
        names[title]: outputs.create_sample(
            _rate_metric(names[title], copies),
            _convert_score(names[title], score),
        )
        for title, score in scores.items()
        if title in names
    }
    return rates, unknown


def _convert_score(name: str, score: Score) -> float:
    """Convert the score of a test into a rate in base units."""
    expected_label = TESTS[name].label
    if score.label != expected_label:
        raise _OUTPUT.error(
            f"{name} is in {score.label} instead of {expected_label}"
        )
    return score.value * _UNITS[expected_label][1]


def _rate_metric(name: str, copies: int) -> sample.Metric:
    """Return the Metric of the rate of a test."""
    unit, factor, largest = _UNITS[TESTS[name].label]
    return sample.Metric(
        f"application.unixbench.{name}.rate",
        unit,
        "higher",
        bounds=(0.0, largest * copies * factor),
    )


def _index_metric(name: str) -> sample.Metric:
    """Return the Metric of an index of UnixBench."""
    return sample.Metric(
        f"application.unixbench.{name}", "1", "higher", bounds=_BOUNDS
    )


def _read_script(source: str, content: bytes) -> bytes:
    """Return the content of UnixBench's script in a tarball as bytes.

    :raises base.WorkloadError: If the file does not contain it.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tarball:
            for member in tarball:
                script = re.fullmatch("[^/]+/UnixBench/Run", member.name)
                if script and (stream := tarball.extractfile(member)):
                    return stream.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise base.WorkloadError(
            f"source: {source} is not a valid tarball ({error}); use the "
            "tarball of byte-unixbench"
        ) from error
    raise base.WorkloadError(
        f"source: {source} has no UnixBench/Run in its first directory; use "
        "the tarball of byte-unixbench"
    )
