# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.memory import sysbench_memory
from tests.unit.workloads import golden

MIB = 1 << 20
GOLDEN = golden.text("sysbench_memory-1.0.20-read.txt")
ASKED = {"threads": 2, "time": 1, "block_kib": 65536}


def bandwidth(text, operation="read", seconds=1.1, **changes):
    outcome = golden.outcome(operation, text, seconds=seconds)
    return sysbench_memory.bandwidth(outcome, {**ASKED, **changes})


@ddt.ddt
class MemoryTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = sysbench_memory.SysbenchMemory()

    @ddt.data(
        (
            {},
            "sysbench memory --threads=1 --time=10 --events=0 "
            "--memory-block-size=65536K --memory-total-size=1000000T "
            "--memory-scope=local --memory-oper={} "
            "--memory-access-mode=seq run",
        ),
        (
            {"threads": 4, "time": 2, "block_kib": 1024, "access": "rnd"},
            "sysbench memory --threads=4 --time=2 --events=0 "
            "--memory-block-size=1024K --memory-total-size=1000000T "
            "--memory-scope=local --memory-oper={} "
            "--memory-access-mode=rnd run",
        ),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, line):
        commands = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        self.assertEqual(
            {
                operation: line.format(operation)
                for operation in ("read", "write")
            },
            {command.name: " ".join(command.argv) for command in commands},
        )

    @ddt.data(
        ({"operations": []}, r"operations: \[\] .*read, write"),
        ({"access": "random"}, "access: 'random' is not one of .*rnd"),
        ({"block_kib": 0}, "block_kib: 0 is less .*1 to 1048576"),
        (
            {"block_kib": 3000},
            "block_kib=3000: must be a power of .*as 2048 or 4096",
        ),
        ({"threads": 0}, "threads: 0 is less .*1 to 1024"),
        ({"time": 0}, "time: 0 is less .*1 to 3600"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload sysbench_memory: {message}"
        ):
            self.workload.complete(arguments)

    def test_golden_outputs(self):
        arguments, files, _ = golden.RUNS["sysbench_memory"]
        samples = self.workload.parse_all(
            self.workload.complete(arguments), golden.outcomes(files)
        )
        self.assertEqual(
            {
                "memory.sysbench_memory.read.bandwidth": 4208.08,
                "memory.sysbench_memory.write.bandwidth": 5559.31,
            },
            {s.metric.name: round(s.value / MIB, 2) for s in samples},
        )


@ddt.ddt
class BandwidthTestCase(unittest.TestCase):
    def test_cut_short(self):
        for length in range(len(GOLDEN.rstrip())):
            with self.assertRaises(base.WorkloadError):
                bandwidth(GOLDEN[:length])

    def test_a_rate_that_was_printed_late(self):
        """The command was stopped between its last event and the output."""
        late = golden.text("sysbench_memory-1.0.20-late.txt")
        self.assertIn("3712.00 MiB transferred (2679.84 MiB/sec)", late)
        value = bandwidth(late, threads=1, seconds=1.5)
        self.assertEqual(58 / 1.0012 * 64 * MIB, value)

    def test_small_blocks(self):
        """Their 95th percentile is printed as 0.00; numbers constructed."""
        small = golden.text("sysbench_memory-1.0.20-constructed-small.txt")
        value = bandwidth(
            small, seconds=10.01, threads=1, time=10, block_kib=4
        )
        self.assertEqual(10239795204, round(value))

    @ddt.data(
        (
            "read",
            {"threads": 1},
            "did not print 'Number of threads: 1' exactly once",
        ),
        (
            "read",
            {"block_kib": 4},
            "did not print 'block size: 4KiB' exactly once",
        ),
        ("write", {}, "did not print 'operation: write' exactly once"),
        ("read", {"time": 2}, "took 1.0.* s instead of 2 s"),
    )
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(
        self, operation, changes, message
    ):
        with self.assertRaisesRegex(base.WorkloadError, message):
            bandwidth(GOLDEN, operation, **changes)

    @ddt.data(
        (
            "scope: local",
            "scope: global",
            "did not print 'scope: local' exactly once",
        ),
        ("execution time", "time", "did not print the totals"),
        (
            GOLDEN,
            GOLDEN * 2,
            "did not print 'block size: 65536KiB' exactly once",
        ),
    )
    @ddt.unpack
    def test_incomplete_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^sysbench .*{message}"
        ):
            bandwidth(GOLDEN.replace(old, new))
