# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import sysbench_report
from tests.unit.workloads import golden

CPU = golden.text("sysbench-1.0.20-cpu.txt")
LATE = golden.text("sysbench-1.0.20-late.txt")


def read(text, threads=2, time=2, seconds=2.1):
    outcome = golden.outcome("sysbench", text, seconds=seconds)
    return sysbench_report.parse(outcome, {"threads": threads, "time": time})


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    def test_golden_outputs(self):
        report = read(CPU)
        self.assertEqual((2.0002, 17924), (report.seconds, report.events))
        self.assertAlmostEqual(8961.104, report.rate, places=3)
        self.assertAlmostEqual(0.00024, report.p95)
        memory = golden.text("sysbench_memory-1.0.20-read.txt")
        self.assertEqual(68, read(memory, time=1).events)

    def test_a_rate_that_was_printed_late(self):
        """It was stopped for 0.36 s between its last event and its report."""
        report = read(LATE, threads=1, seconds=2.5)
        self.assertAlmostEqual(412 / 2.0041, report.rate)

    def test_longer_than_its_command(self):
        self.assertEqual(17924, read(CPU, seconds=1.96).events)
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^sysbench took 2.0002 s of a command that took 1.9 s; look at",
        ):
            read(CPU, seconds=1.9)

    def test_cut_short(self):
        for length in range(len(CPU.rstrip()) + 1):
            with self.assertRaises(base.WorkloadError):
                read(CPU[:length])

    @ddt.data("0.2", "0.244", "24", "nan", "")
    def test_two_decimals_are_printed(self, word):
        self._refused(
            CPU,
            "0.24\n",
            f"{word}\n",
            "did not print the totals, .* exactly once",
        )

    def _refused(self, text, old, new, message):
        self.assertEqual(1, text.count(old), old)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^sysbench .*{message}.*look at the raw"
        ):
            read(text.replace(old, new))
