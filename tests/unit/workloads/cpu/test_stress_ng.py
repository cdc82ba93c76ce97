import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.cpu import stress_ng
from tests.unit.workloads import golden

GOLDEN = golden.text("stress_ng-0.19.02-cpu.txt")
ROW = "832      1.01"


@ddt.ddt
class StressTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = stress_ng.StressNg()

    def test_command_lines(self):
        commands = self.workload.commands(
            self.workload.complete(
                {"methods": ["sieve", "fft"], "threads": 4, "time": 3}
            ),
            base.Endpoints(),
        )
        line = "stress-ng --metrics-brief --timeout 3s --cpu 4 --cpu-method "
        self.assertEqual(
            {"fft": line + "fft", "sieve": line + "sieve"},
            {command.name: " ".join(command.argv) for command in commands},
        )

    @ddt.data(
        ({"methods": []}, r"methods: \[\] .*matrixprod, fft"),
        ({"methods": ["all"]}, "methods.0: 'all' is not .*matrixprod, fft"),
        ({"threads": 0}, "threads: 0 is less .*1 to 1024"),
        ({"time": 3601}, "time: 3601 is greater .*1 to 3600"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload stress_ng: {message}"
        ):
            self.workload.complete(arguments)

    def test_one_method_failed(self):
        arguments = self.workload.complete(
            {"methods": ["fft", "matrixprod"], "threads": 2, "time": 1}
        )
        (measured,) = self.workload.parse_all(
            arguments, {"fft": golden.outcome("fft", GOLDEN)}
        )
        self.assertEqual("cpu.stress_ng.fft.rate", measured.metric.name)
        self.assertEqual(824.46, measured.value)

    def test_exit_status(self):
        """A method that a version lacks is answered with those it has."""
        outcome = golden.outcome(
            "fft",
            exit_status=1,
            stderr="cpu-method must be one of: all ackermann",
        )
        with self.assertRaisesRegex(base.WorkloadError, "must be one of: all"):
            self.workload.parse_all(
                self.workload.complete({"methods": ["fft"]}), {"fft": outcome}
            )


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("0.12.06", 112.52),
        ("0.15.06", 885.01),
        ("0.19.02", 824.46),
    )
    @ddt.unpack
    def test_by_the_clock(self, version, expected):
        text = golden.text(f"stress_ng-{version}-cpu.txt")
        self.assertEqual(expected, stress_ng.parse_rate(text, "fft", 2, 1))

    @ddt.data("0.12.06", "0.15.06", "0.19.02")
    def test_cut_short(self, version):
        """Nothing before the seconds of the last line may be missing."""
        text = golden.text(f"stress_ng-{version}-cpu.txt")
        end = max(text.rindex("completed in ") + 13, text.rindex(" cpu   "))
        for length in range(end):
            with self.assertRaises(base.WorkloadError):
                stress_ng.parse_rate(text[:length], "fft", 2, 1)

    def test_last_figure_cut_short(self):
        text = golden.text("stress_ng-0.12.06-cpu.txt").rstrip()
        with self.assertRaisesRegex(base.WorkloadError, "six figures"):
            stress_ng.parse_rate(text[:-1], "fft", 2, 1)

    @ddt.data(
        (1, 1, "start once with 1 proc"),
        (2, 2, "did not start with a duration of 2 s"),
    )
    @ddt.unpack
    def test_other_arguments_than_those_of_the_run(self, *given):
        *arguments, message = given
        with self.assertRaisesRegex(base.WorkloadError, message):
            stress_ng.parse_rate(GOLDEN, "fft", *arguments)

    @ddt.data(
        ("hogs: 2 cpu", "hogs: 2 vm", "did not start once with 2 processes"),
        (
            "successful run",
            "run",
            "did not report its completion exactly once",
        ),
        ("failed: 0", "failed: 1: cpu (1)", "printed 'failed: 1: cpu"),
        ("skipped: 0", "skipped: 2: cpu (2)", "printed 'skipped: 2"),
        (
            "untrustworthy: 0",
            "untrustworthy: 1: cpu",
            "printed 'metrics untru",
        ),
        (
            " cpu       ",
            " vm       ",
            "did not print a table with one line of six figures",
        ),
        (
            ROW,
            f"{ROW} 1.0",
            "did not print a table with one line of six figures",
        ),
        (ROW, "832      x", "printed figures without two"),
        (ROW, "932      1.01", "did 932 operations in 1.01 s, which is not"),
        (ROW, "832      0.50", "ran 0.5 s instead of 1 s"),
        (GOLDEN, GOLDEN * 2, "did not start once"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^stress-ng: fft.*{message}.*look at"
        ):
            stress_ng.parse_rate(GOLDEN.replace(old, new), "fft", 2, 1)
