"""Workload of a whole system: UnixBench."""

import collections.abc
import dataclasses
import io
import re
import tarfile
import zlib

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.application import _unixbench_report as report


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of UnixBench.

    :param label: the unit of its score
    :param seconds: how long one pass takes
    :param often: whether it runs as many passes as are asked for, or a third
        of them
    """

    title: str
    label: str
    seconds: int
    often: bool = False

    def passes(self, asked: int) -> int:
        """Return how many passes are made where so many are asked for."""
        return asked if self.often else max(1, (asked + 1) // 3)


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

#: Unit of UnixBench -> base unit, and how many of it.
_UNITS = {
    "lps": ("ops/s", 1.0),
    "lpm": ("ops/s", 1 / 60),
    "MWIPS": ("ops/s", 1e6),
    "KBps": ("B/s", 1024.0),
}

#: Unit of UnixBench -> largest score of one copy that is believed, at least
#: ten times what machines of today reach.
_LARGEST = {"lps": 1e9, "lpm": 1e6, "MWIPS": 1e6, "KBps": 1e9}
#: Smallest and largest index that is believed.
_BOUNDS = (0.0, 1e15)

#: Seconds for which UnixBench pauses before each pass.
_PAUSE = 4

#: How many copies UnixBench's own script runs of these tests; 0 for any.
_CAP = re.compile(
    rb"^ *'system' *=> *\{[^}\n]*'maxCopies' *=> *([0-9]{1,6})", re.M
)
_TARBALL = "unixbench.tar"


class UnixBench(base.Workload):
    """Tests of processor, system calls, processes, pipes and page cache."""

    name = "unixbench"
    title = "System: UnixBench"
    part = "application"
    ARGUMENTS = rules.schema(
        tests=rules.choices(
            f"Measured one after the other: {', '.join(TESTS)}.", TESTS
        ),
        copies=rules.integer(
            "Copies of each test at the same time", 1, 1024, default=1
        ),
        iterations=rules.integer(
            "Passes of the tests of 10 s; of the others a third",
            1,
            100,
            default=1,
        ),
        source=rules.path(
            "Tarball of UnixBench's source on the machine that runs this",
            default="/usr/local/src/unixbench.tar.gz",
        ),
        flags=rules.choice(
            "Optimisation: -O2, -O3 -ffast-math, or that and -march=native.",
            ("-O2", "-O3 -ffast-math", "-O3 -ffast-math -march=native"),
            default="-O3 -ffast-math",
        ),
    )
    TOOLS = (
        tools.of("perl"),
        # Debian's gcc comes without the headers of the C library.
        tools.of(
            "gcc",
            package="build-essential",
            packages={"dnf": "gcc", "zypper": "gcc"},
        ),
        tools.of("make", measures=False),
        tools.of("tar", measures=False),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's tarball; its checksum becomes a fact."""
        return (base.File(name=_TARBALL, path=arguments["source"]),)

    def check_files(
        self,
        arguments: base.Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Refuse another tarball, and one that runs fewer copies than asked.

        UnixBench leaves out tests that it runs in fewer copies, and says so
        only by their absence.
        """
        source, copies = arguments["source"], arguments["copies"]
        found = _CAP.search(_script(source, contents[_TARBALL]))
        cap = int(found[1]) if found else 0
        if 0 < cap < copies:
            raise base.WorkloadError(
                f"copies: UnixBench of {source} runs {cap} at most, not "
                f"{copies}; take UnixBench 6, raise maxCopies of 'system' in "
                f"its UnixBench/Run, or give copies: {cap}"
            )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands that unpack and build it with the same flags."""
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
        """Return what each test gives, and the index of them all."""
        return (
            *(
                metric
                for name in _tests(arguments)
                for metric in (
                    _rate(name, arguments["copies"]),
                    _index(f"{name}.index"),
                    _counted(name),
                )
            ),
            _index("index"),
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all tests."""
        names = _tests(arguments)
        seconds = sum(
            (TESTS[name].seconds + _PAUSE)
            * TESTS[name].passes(arguments["iterations"])
            for name in names
        )
        # It looks for its Makefile where it is started.
        options = "env -C UnixBench perl Run -i {iterations} -c {copies}"
        argv = (*base.argv(options, arguments), *names)
        return (
            base.Command(
                name="unixbench",
                argv=argv,
                timeout=4 * seconds + 600,
                seconds=seconds,
                bound="size",
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return rates in base units; indices and samples as they are told.

        The worst third of the passes is no sample.
        """
        found = report.read(outcome.stdout, arguments["copies"])
        names = _tests(arguments)
        if set(found.scores) != {TESTS[name].title for name in names}:
            raise report.error(
                f"ran {len(found.scores)} tests, which are not those "
                f"{len(names)} that were asked for"
            )
        samples = []
        for name in names:
            title = TESTS[name].title
            score = found.scores[title]
            passes = TESTS[name].passes(arguments["iterations"])
            if score.samples != passes - passes // 3:
                raise report.error(
                    f"{name} has {score.samples} samples instead of "
                    f"{passes - passes // 3} of {passes} passes"
                )
            samples += [
                _measured(name, score, arguments["copies"]),
                limits.measured(_index(f"{name}.index"), found.indices[title]),
                limits.measured(_counted(name), score.samples),
            ]
        return [*samples, limits.measured(_index("index"), found.index)]


def rates(text: str, copies: int) -> dict[str, sample.Sample]:
    """Return the rates of the tests by their names, without any index.

    Reports that were published often end with the scores.

    :raises base.WorkloadError: when the report is not there once, or has a
        test that is not known
    """
    found = report.scores(text, copies)
    names = {test.title: name for name, test in TESTS.items()}
    unknown = sorted(found.keys() - names.keys())
    if unknown or not found:
        shown = sanitize.line(", ".join(unknown), 80)
        raise report.error(f"has {len(found)} scores, unknown ones: {shown!r}")
    return {
        names[title]: _measured(names[title], score, copies)
        for title, score in found.items()
    }


def _measured(name: str, score: report.Score, copies: int) -> sample.Sample:
    wanted = TESTS[name].label
    if score.label != wanted:
        raise report.error(f"{name} is in {score.label} instead of {wanted}")
    rate = score.value * _UNITS[wanted][1]
    return limits.measured(_rate(name, copies), rate)


def _tests(arguments: base.Arguments) -> list[str]:
    return [name for name in TESTS if name in arguments["tests"]]


def _rate(name: str, copies: int) -> sample.Metric:
    label = TESTS[name].label
    unit, factor = _UNITS[label]
    return sample.Metric(
        f"application.unixbench.{name}.rate",
        unit,
        "higher",
        bounds=(0.0, _LARGEST[label] * copies * factor),
    )


def _index(name: str) -> sample.Metric:
    return sample.Metric(
        f"application.unixbench.{name}", "1", "higher", bounds=_BOUNDS
    )


def _counted(name: str) -> sample.Metric:
    return sample.Metric(
        f"application.unixbench.{name}.samples", "1", "higher", scale="count"
    )


def _script(source: str, content: bytes) -> bytes:
    """Return UnixBench's own script out of a tarball.

    :raises base.WorkloadError: for a file that does not have it
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tarball:
            for member in tarball:
                script = re.fullmatch("[^/]+/UnixBench/Run", member.name)
                if script and (found := tarball.extractfile(member)):
                    return found.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise base.WorkloadError(
            f"source: {source} is no tarball ({error}); take that of "
            "byte-unixbench"
        ) from error
    raise base.WorkloadError(
        f"source: {source} has no UnixBench/Run in its first folder; take the "
        "tarball of byte-unixbench"
    )
