import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.cpu import sysbench
from tests.unit.workloads import golden

GOLDEN = golden.text("sysbench-1.0.20-cpu.txt")


@ddt.ddt
class ProcessorTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = sysbench.Processor()

    @ddt.data(
        (
            {},
            "sysbench cpu --threads=1 --time=10 --events=0 "
            "--cpu-max-prime=10000 --percentile=95 run",
        ),
        (
            {"threads": 4, "time": 60, "max_prime": 20000},
            "sysbench cpu --threads=4 --time=60 --events=0 "
            "--cpu-max-prime=20000 --percentile=95 run",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        complete = self.workload.complete(arguments)
        (command,) = self.workload.commands(complete, base.Ends())
        self.assertEqual(line, " ".join(command.argv))
        self.assertGreater(command.timeout, complete["time"])

    @ddt.data(
        ({"threads": 0}, "threads: 0 is less .*1 to 1024"),
        ({"threads": "2"}, "threads: '2' is not .*1 to 1024"),
        ({"threads": True}, "threads: True is not"),
        ({"time": 3601}, "time: 3601 is greater .*1 to 3600"),
        ({"max_prime": 999}, "max_prime: 999 is less .*1000 to 1000000"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload sysbench: {message}"
        ):
            self.workload.complete(arguments)

    def test_golden_output(self):
        rate, latency = self._parse(GOLDEN)
        self.assertEqual(sysbench.RATE, rate.metric)
        self.assertEqual(8958.23, rate.value)
        self.assertEqual(sysbench.LATENCY_P95, latency.metric)
        self.assertAlmostEqual(0.00024, latency.value)

    @ddt.data(
        ("events per second", "event rate", "0 lines 'events per second:'"),
        ("8958.23", "many", "'many', not a finite number"),
        ("8958.23", "8958.23 x", "not a finite number"),
        ("8958.23", "-1.00", "which no machine reaches"),
        ("8958.23", "9e12", "which no machine reaches"),
        ("0.24\n         sum", "0.00\n         sum", "which no machine"),
        ("General", "95th percentile: 1\nGeneral", "2 lines '95th"),
    )
    @ddt.unpack
    def test_broken_output(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(base.WorkloadError, message):
            self._parse(GOLDEN.replace(old, new))

    def _parse(self, text):
        return self.workload.parse(
            self.workload.complete({}),
            {"sysbench": golden.outcome("sysbench", text)},
        )
