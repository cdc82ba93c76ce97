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
        self.workload = sysbench.Sysbench()

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
        (command,) = self.workload.commands(complete, base.Endpoints())
        self.assertEqual(line, " ".join(command.argv))
        self.assertGreater(command.timeout, complete["time"])

    @ddt.data(
        ({"threads": 0}, "threads: 0 is less .*1 to 1024"),
        ({"threads": "2"}, "threads: '2' does not match .*1 to 1024; vcpus"),
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
        self.assertEqual(17924 / 2.0002, rate.value)
        self.assertEqual(sysbench.LATENCY_P95, latency.metric)
        self.assertAlmostEqual(0.00024, latency.value)

    def test_a_rate_that_was_printed_late(self):
        """The command was stopped between its last event and the output."""
        late = golden.text("sysbench-1.0.20-late.txt")
        self.assertIn("events per second:   172.71\n", late)
        rate, _ = self._parse(late, seconds=2.5, threads=1)
        self.assertEqual(412 / 2.0041, rate.value)

    @ddt.data(
        ({"threads": 1}, "did not print 'Number of threads: 1' exactly once"),
        ({"max_prime": 20000}, "did not print 'Prime numbers limit: 20000'"),
        ({"time": 1}, "took 2.0002 s instead of 1 s"),
        ({"time": 3}, "took 2.0002 s instead of 3 s"),
    )
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(self, changes, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^sysbench {message}"
        ):
            self._parse(GOLDEN, **changes)

    def _parse(self, text, seconds=2.1, **changes):
        arguments = {"threads": 2, "time": 2, **changes}
        return self.workload.parse_all(
            self.workload.complete(arguments),
            {"sysbench": golden.outcome("sysbench", text, seconds=seconds)},
        )
