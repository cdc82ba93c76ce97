import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.application import unixbench
from tests.unit.workloads import golden

GOLDEN = golden.text("unixbench-6.0.0.txt")
PREFIX = "application.unixbench."


@ddt.ddt
class UnixBenchTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = unixbench.UnixBench()

    def test_command_lines(self):
        arguments = self.workload.complete(
            {
                "tests": ["pipe", "dhry2reg"],
                "copies": 8,
                "iterations": 3,
                "source": "/srv/ub.tgz",
            }
        )
        commands = (
            *self.workload.prepare(arguments),
            *self.workload.commands(arguments, base.Ends()),
        )
        self.assertEqual(
            [
                "tar -xf unixbench.tar --strip-components=1 --wildcards "
                "*/UnixBench/*",
                "make -C UnixBench all UB_GCC_OPTIONS=-O3 -ffast-math",
                "perl UnixBench/Run -i 3 -c 8 dhry2reg pipe",
            ],
            [" ".join(command.argv) for command in commands],
        )

    def test_the_tarball_is_the_operators(self):
        """So its checksum goes into the record."""
        (file,) = self.workload.files(
            self.workload.complete({"source": "/srv/ub.tgz"})
        )
        self.assertEqual(("", "/srv/ub.tgz"), (file.package, file.path))

    @ddt.data((1, 14 + 34), (10, 10 * 14 + 3 * 34))
    @ddt.unpack
    def test_some_tests_are_passed_more_often(self, iterations, seconds):
        (command,) = self.workload.commands(
            self.workload.complete(
                {"tests": ["pipe", "execl"], "iterations": iterations}
            ),
            base.Ends(),
        )
        self.assertEqual(seconds, command.seconds)

    @ddt.data(
        ({"tests": ["index"]}, "tests.0: 'index' is not .*dhry2reg"),
        ({"copies": 0}, "copies: 0 is less .*1 to 1024"),
        ({"iterations": 0}, "iterations: 0 is less .*1 to 100"),
        ({"source": "ub.tgz"}, "source: 'ub.tgz' .*an absolute path"),
        ({"flags": "-O9"}, "flags: '-O9' is not one of"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload unixbench: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ("unixbench", 58728198.8, 9341.1, 6120.7, 550579.0, 5032.4, 1798.8),
        (
            "unixbench-two",
            91447398.3,
            16797.9,
            13701.5,
            1070213,
            7836.1,
            3888.1,
        ),
    )
    @ddt.unpack
    def test_golden_output(self, run, dhrystone, mwips, shell, buffer, *index):
        arguments, files, _ = golden.RUNS[run]
        samples = self.workload.parse(
            self.workload.complete(arguments), golden.outcomes(files)
        )
        found = {
            s.metric.name.removeprefix(PREFIX): (s.value, s.metric.unit)
            for s in samples
        }
        self.assertEqual(2 * 11 + 1, len(found))
        expected = {
            "dhry2reg.rate": (dhrystone, "ops/s"),
            "whetstone-double.rate": (mwips * 1e6, "ops/s"),
            "shell1.rate": (shell / 60, "ops/s"),
            "fsbuffer.rate": (buffer * 1024, "B/s"),
            "dhry2reg.index": (index[0], "1"),
            "index": (index[1], "1"),
        }
        for name, (value, unit) in expected.items():
            self.assertEqual(unit, found[name][1])
            self.assertAlmostEqual(1, found[name][0] / value)

    def test_other_tests_than_those_that_were_asked_for(self):
        for tests in (["dhry2reg"], ["shell8"], list(unixbench.TESTS)):
            arguments = self.workload.complete({"tests": tests})
            with self.assertRaisesRegex(base.WorkloadError, "ran 11 tests"):
                self.workload.parse(
                    arguments,
                    {"unixbench": golden.outcome("unixbench", GOLDEN)},
                )

    def test_another_unit(self):
        arguments, *_ = golden.RUNS["unixbench"]
        text = GOLDEN.replace("58728198.8 lps", "58728198.8 lpm")
        with self.assertRaisesRegex(base.WorkloadError, "is in lpm instead"):
            self.workload.parse(
                self.workload.complete(arguments),
                {"unixbench": golden.outcome("unixbench", text)},
            )


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    def test_cut_short(self):
        """Of the second run nothing may be missing, nor of the first."""
        whole = GOLDEN.rstrip()
        second = whole.rindex("Benchmark Run")
        for copies, end in (
            (1, whole[:second].rindex("1798.8") + 6),
            (2, None),
        ):
            text = whole[:end]
            for length in range(0, len(text), 7):
                with self.assertRaises(base.WorkloadError):
                    unixbench.read(text[:length], copies)
            with self.assertRaisesRegex(base.WorkloadError, "0 index scores"):
                unixbench.read(text, copies)

    @ddt.data(0, 3)
    def test_other_copies(self, copies):
        with self.assertRaisesRegex(base.WorkloadError, "reports 0 runs"):
            unixbench.read(GOLDEN, copies)

    @ddt.data(
        ("(10.0 s, 1 samples)", "(10.0 s, 0 samples)", "without any sample"),
        ("58728198.8   5032.4", "58728198.8   5132.4", "an index of 5132.4"),
        ("58728198.8   5032.4", "58728199.8   5032.4", "which is not 587281"),
        (
            "8.8   5032.4",
            "8.8      nan",
            "11 scores, 10 indices and 1 index score",
        ),
        ("116700.0   58728198.8", "0.0   58728198.8", "which is not 587281"),
        ("116700.0   58728198.8", "1.1.1   58728198.8", "not a finite"),
        ("   1798.8\n", "   1799.8\n", "index score 1799.8 instead of 1798.8"),
        ("Process Creation  ", "Pipe Throughput   ", "has a test twice"),
        (GOLDEN, GOLDEN * 2, "reports 2 runs with copies: 1, not one"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^unixbench.*{message}"
        ):
            unixbench.read(GOLDEN.replace(old, new), 1)
