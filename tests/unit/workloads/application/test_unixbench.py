# SPDX-License-Identifier: Apache-2.0
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
            *self.workload.commands(arguments, base.Endpoints()),
        )
        self.assertEqual(
            [
                "tar -xf unixbench.tar --strip-components=1 --wildcards "
                "*/UnixBench/*",
                "make -C UnixBench all UB_GCC_OPTIONS=-O3 -ffast-math",
                "env -C UnixBench perl Run -i 3 -c 8 dhry2reg pipe",
            ],
            [" ".join(command.argv) for command in commands],
        )

    def test_the_compiler_has_the_headers_of_the_c_library(self):
        (gcc,) = (x for x in self.workload.TOOLS if x.command == "gcc")
        self.assertEqual("build-essential", gcc.package)

    def check(self, content, **options):
        arguments = self.workload.complete({"source": "/ub.tgz", **options})
        self.workload.check_files(arguments, {"unixbench.tar": content})

    @ddt.data((0, 1024), (16, 16), (16, 1))
    @ddt.unpack
    def test_copies_within_the_cap_of_the_source(self, cap, copies):
        self.check(golden.unixbench_source(cap), copies=copies)

    def test_more_copies_than_the_source_runs(self):
        """Its report would not have the tests; it is known beforehand."""
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^copies=17: must be at most 16 with .* /ub\.tgz; .* 16$",
        ):
            self.check(golden.unixbench_source(16), copies=17)

    def test_another_tarball(self):
        whole = golden.unixbench_source()
        for content in (b"", b"x" * 999, whole[:60], whole[:30]):
            with self.assertRaisesRegex(
                base.WorkloadError,
                r"^source: /ub\.tgz is not a valid tarball \(.*",
            ):
                self.check(content)
        with self.assertRaisesRegex(
            base.WorkloadError, "has no UnixBench/Run in its first directory"
        ):
            self.check(golden.unixbench_source(name="UnixBench/Run"))

    def test_samples_follow_from_the_passes(self):
        """The worst third of them is left out."""
        text = GOLDEN.replace("1 samples)", "7 samples)")
        outcome = {"unixbench": golden.outcome("unixbench", text)}
        arguments, *_ = golden.RUNS["unixbench"]
        often = [
            x for x in arguments["tests"] if unixbench.TESTS[x].runs_all_passes
        ]
        for passes, wrong in ((1, often[0]), (10, "execl")):
            complete = self.workload.complete(
                {**arguments, "iterations": passes}
            )
            with self.assertRaisesRegex(
                base.WorkloadError, f"{wrong} has 7 samples instead of"
            ):
                self.workload.parse_all(complete, outcome)

    def test_the_tarball_is_the_operators(self):
        """The record has its checksum."""
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
            base.Endpoints(),
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
        samples = self.workload.parse_all(
            self.workload.complete(arguments), golden.outcomes(files)
        )
        measured = {
            s.metric.name.removeprefix(PREFIX): (s.value, s.metric.unit)
            for s in samples
        }
        self.assertEqual(3 * 11 + 1, len(measured))
        expected = {
            "dhry2reg.rate": (dhrystone, "ops/s"),
            "whetstone-double.rate": (mwips * 1e6, "ops/s"),
            "shell1.rate": (shell / 60, "ops/s"),
            "fsbuffer.rate": (buffer * 1024, "B/s"),
            "dhry2reg.index": (index[0], "1"),
            "index": (index[1], "1"),
            "execl.samples": (1, "1"),
        }
        for name, (value, unit) in expected.items():
            self.assertEqual(unit, measured[name][1])
            self.assertAlmostEqual(1, measured[name][0] / value)

    def test_tests_that_were_not_requested(self):
        for tests in (["dhry2reg"], ["shell8"], list(unixbench.TESTS)):
            arguments = self.workload.complete({"tests": tests})
            with self.assertRaisesRegex(base.WorkloadError, "ran 11 tests"):
                self.workload.parse_all(
                    arguments,
                    {"unixbench": golden.outcome("unixbench", GOLDEN)},
                )

    def test_another_unit(self):
        arguments, *_ = golden.RUNS["unixbench"]
        text = GOLDEN.replace("58728198.8 lps", "58728198.8 lpm")
        with self.assertRaisesRegex(base.WorkloadError, "is in lpm instead"):
            self.workload.parse_all(
                self.workload.complete(arguments),
                {"unixbench": golden.outcome("unixbench", text)},
            )

    @ddt.data(
        ("Dhrystone 2 using register variables", "lps", 2e9),
        ("Double-Precision Whetstone", "MWIPS", 2e6),
        ("Shell Scripts (1 concurrent)", "lpm", 2e6),
        ("File Copy 1024 bufsize 2000 maxblocks", "KBps", 2e9),
    )
    @ddt.unpack
    def test_impossible_scores(self, title, unit, score):
        """Two copies may reach a score that is impossible for one."""
        for copies, believed in ((1, False), (2, True)):
            many = "ies" if copies > 1 else "y"
            text = (
                "Benchmark Run: Sat Nov 21 2026 01:43:30 - 01:49:10\n"
                f"2 CPUs in system; running {copies} parallel cop{many} of "
                f"tests\n\n{title:<44} {score:12.1f} {unit:<5} "
                "(10.0 s, 1 samples)\n"
            )
            if believed:
                rates, _ = unixbench.parse_rates(text, copies)
                self.assertEqual(1, len(rates))
                continue
            with self.assertRaisesRegex(
                base.WorkloadError, "which is not plausible"
            ):
                unixbench.parse_rates(text, copies)


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    def test_cut_short(self):
        """Neither run may be incomplete."""
        whole = GOLDEN.rstrip()
        second = whole.rindex("Benchmark Run")
        for copies, end in (
            (1, whole[:second].rindex("1798.8") + 6),
            (2, None),
        ):
            text = whole[:end]
            for length in range(0, len(text), 7):
                with self.assertRaises(base.WorkloadError):
                    unixbench.parse_report(text[:length], copies)
            with self.assertRaisesRegex(base.WorkloadError, "0 index scores"):
                unixbench.parse_report(text, copies)

    @ddt.data(0, 3)
    def test_other_copies(self, copies):
        with self.assertRaisesRegex(base.WorkloadError, "reports 0 runs"):
            unixbench.parse_report(GOLDEN, copies)

    @ddt.data(
        ("(10.0 s, 1 samples)", "(10.0 s, 0 samples)", "without samples"),
        (
            "8.8   5032.4",
            "8.8      nan",
            "not a row of its tables",
        ),
        ("8.8   5032.4", "8.8    5.2.4", "is '5.2.4', not a finite number"),
        ("Process Creation  ", "Pipe Throughput   ", "printed a test twice"),
        (GOLDEN, GOLDEN * 2, "reports 2 runs with copies: 1, not one"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^unixbench.*{message}"
        ):
            unixbench.parse_report(GOLDEN.replace(old, new), 1)
