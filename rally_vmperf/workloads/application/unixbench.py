"""Workload of a whole system: UnixBench."""

import collections.abc
import dataclasses
import math
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of UnixBench.

    :param label: the unit of its score
    :param seconds: how long one pass takes
    :param often: whether it is passed as often as is asked for, or a third of
        that
    """

    title: str
    label: str
    seconds: int
    often: bool = False


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

#: Smallest and largest score, index and rate that is believed.
_BOUNDS = (0.0, 1e15)

#: Seconds for which UnixBench pauses before each pass.
_PAUSE = 4

_SECTION = re.compile(
    r"^Benchmark Run: .*\n[0-9]+ CPUs? in system; running ([0-9]{1,9}) "
    r"parallel cop(?:y|ies) of tests\n",
    re.M,
)
_SCORE = re.compile(
    r"^(\S.{1,60}?) +([0-9.]{1,30}) (lps|lpm|MWIPS|KBps) +"
    r"\([0-9.]{1,20} s, ([0-9]{1,6}) samples\)$",
    re.M,
)
_INDEX = re.compile(
    r"^(\S.{1,60}?) +([0-9.]{1,30}) +([0-9.]{1,30}) +([0-9.]{1,30})$", re.M
)
#: The last line, of which nothing may be missing.
_TOTAL = re.compile(
    r"^System Benchmarks Index Score(?: \(Partial Only\))? +"
    r"([0-9.]{1,30})\n",
    re.M,
)


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
        tools.Tool(
            command="perl", package="perl", version=("perl", "--version")
        ),
        tools.Tool(command="gcc", package="gcc", version=("gcc", "--version")),
        tools.Tool(
            command="make",
            package="make",
            version=("make", "--version"),
            measures=False,
        ),
        tools.Tool(
            command="tar",
            package="tar",
            version=("tar", "--version"),
            measures=False,
        ),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the operator's tarball; its checksum becomes a fact."""
        return (base.File(name="unixbench.tar", path=arguments["source"]),)

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return how it is unpacked and built, with the same flags."""
        unpack = (
            *("tar", "-xf", "unixbench.tar", "--strip-components=1"),
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
        """Return rate and index of each test, and the index of them all."""
        return (
            *(
                metric
                for name in _tests(arguments)
                for metric in (_rate(name), _index(f"{name}.index"))
            ),
            _index("index"),
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run of all tests."""
        passes = arguments["iterations"]
        names = _tests(arguments)
        seconds = sum(
            (TESTS[name].seconds + _PAUSE)
            * (passes if TESTS[name].often else max(1, (passes + 1) // 3))
            for name in names
        )
        argv = (
            *("perl", "UnixBench/Run", "-i", f"{passes}"),
            *("-c", f"{arguments['copies']}", *names),
        )
        return (
            base.Command(
                name="unixbench",
                argv=argv,
                timeout=4 * seconds + 600,
                seconds=seconds,
                bound="size",
            ),
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return rates in base units, and the indices as they are told."""
        outcome = outputs.taken(outcomes, "unixbench")
        if outcome is None:
            return []
        report = read(outcome.stdout, arguments["copies"])
        names = _tests(arguments)
        if set(report.scores) != {TESTS[name].title for name in names}:
            raise _error(
                f"ran {len(report.scores)} tests, which are not those "
                f"{len(names)} that were asked for"
            )
        samples = []
        for name in names:
            test = TESTS[name]
            score, label = report.scores[test.title]
            if label != test.label:
                raise _error(f"{name} is in {label} instead of {test.label}")
            samples += [
                limits.measured(_rate(name), score * _UNITS[label][1]),
                limits.measured(
                    _index(f"{name}.index"), report.indices[test.title]
                ),
            ]
        return [*samples, limits.measured(_index("index"), report.index)]


@dataclasses.dataclass(frozen=True)
class Report:
    """What UnixBench says of one number of copies.

    :param scores: by the title of a test, with its unit
    :param indices: by the same
    """

    scores: dict[str, tuple[float, str]]
    indices: dict[str, float]
    index: float


def read(text: str, copies: int) -> Report:
    """Return what is said of a number of copies; there may be others.

    :raises base.WorkloadError: when it is not there once, is not complete, or
        its indices do not follow from its scores
    """
    begun = list(_SECTION.finditer(text))
    own = [one for one in begun if int(one[1]) == copies]
    if len(own) != 1:
        raise _error(f"reports {len(own)} runs with copies: {copies}, not one")
    after = [one.start() for one in begun if one.start() > own[0].start()]
    section = text[own[0].end() : min(after, default=len(text))]
    told = _SCORE.findall(section)
    scores = {
        title: (_number(score), label)
        for title, score, label, samples in told
        if int(samples) > 0
    }
    rows = _INDEX.findall(section)
    indices = {title: _number(index) for title, *_, index in rows}
    totals = _TOTAL.findall(section)
    if len(told) != len(scores) or len(rows) != len(indices):
        raise _error("has a test twice, or one without any sample")
    if set(scores) != set(indices) or not scores or len(totals) != 1:
        raise _error(
            f"has {len(scores)} scores, {len(indices)} indices and "
            f"{len(totals)} index scores"
        )
    for title, baseline, result, index in rows:
        reference, score = _number(baseline), _number(result)
        if score != scores[title][0] or not _follows(
            _number(index), score, reference
        ):
            raise _error(
                f"{title} has the score {scores[title][0]:g}, which is not "
                f"{result} or an index of {index}"
            )
    total = _number(totals[0])
    if not all(index > 0 for index in indices.values()):
        raise _error("has an index that is not above 0")
    mean = math.exp(math.fsum(map(math.log, indices.values())) / len(indices))
    # Each index has one decimal.
    slack = math.fsum(0.06 / index for index in indices.values())
    if not math.isclose(
        total, mean, rel_tol=slack / len(indices), abs_tol=0.06
    ):
        raise _error(f"has the index score {total:g} instead of {mean:.1f}")
    return Report(scores, indices, total)


def _follows(index: float, score: float, reference: float) -> bool:
    """Whether an index of one decimal is ten times score by reference."""
    return reference > 0 and math.isclose(
        index, score / reference * 10, rel_tol=1e-3, abs_tol=0.06
    )


def _number(word: str) -> float:
    return outputs.number(word, "unixbench: a figure")


def _tests(arguments: base.Arguments) -> list[str]:
    return [name for name in TESTS if name in arguments["tests"]]


def _rate(name: str) -> sample.Metric:
    return sample.Metric(
        name=f"application.unixbench.{name}.rate",
        unit=_UNITS[TESTS[name].label][0],
        better="higher",
        bounds=_BOUNDS,
    )


def _index(name: str) -> sample.Metric:
    return sample.Metric(
        name=f"application.unixbench.{name}",
        unit="1",
        better="higher",
        bounds=_BOUNDS,
    )


def _error(what: str) -> base.WorkloadError:
    return base.WorkloadError(f"unixbench {what}; look at the raw output")
