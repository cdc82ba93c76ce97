# SPDX-License-Identifier: Apache-2.0
import math
import subprocess
import time
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.cpu import sysbench
from tests import skips
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
        (
            {"rate": 285},
            "sysbench cpu --threads=1 --time=10 --events=0 "
            "--cpu-max-prime=10000 --percentile=95 --rate=285 run",
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
        ({"rate": -1}, "rate: -1 is less .*0 to 1000000; 0 for as many as"),
        ({"rate": 1.5}, "rate: 1.5 is not"),
        (
            {"rate": 1, "time": 19},
            "rate=1: a run of 19 s must have at least 20 events; raise",
        ),
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

    @ddt.data(
        ("rate", 2, 300, 1594 / 5.0031, None),
        # It reached 45 % of the rate.
        ("rate-overload", 2, 4000, 8927 / 5.0046, 2.40565),
    )
    @ddt.unpack
    def test_golden_outputs_at_a_rate(self, name, threads, rate, value, p95):
        text = golden.text(f"sysbench-1.0.20-{name}.txt")
        readings = self._parse(
            text, seconds=5.1, time=5, threads=threads, rate=rate
        )
        self.assertAlmostEqual(value, readings[0].value)
        if p95:
            self.assertAlmostEqual(p95, readings[1].value)

    def test_wait_for_an_arrival_after_the_end(self):
        """It is no part of the time in which events could arrive."""
        text = golden.text("sysbench-1.0.20-rate-few.txt")
        late = text.replace("10.0508s", "12.5000s")
        self.assertNotEqual(text, late)
        rate, _ = self._parse(late, seconds=12.6, time=10, rate=2)
        self.assertAlmostEqual(13 / 10.03124, rate.value)
        with self.assertRaisesRegex(
            base.WorkloadError, "^sysbench took 22 s instead of 10 s"
        ):
            self._parse(
                text.replace("10.0508s", "22.0000s"),
                seconds=23,
                time=10,
                rate=2,
            )

    def test_output_of_another_rate(self):
        text = golden.text("sysbench-1.0.20-rate.txt")
        for output, rate in ((text, 0), (text, 301), (text, 30)):
            with self.assertRaisesRegex(
                base.WorkloadError, f"^sysbench did not run with rate={rate} "
            ):
                self._parse(output, seconds=5.1, time=5, rate=rate)
        with self.assertRaisesRegex(
            base.WorkloadError, "did not run with rate=300 "
        ):
            self._parse(GOLDEN, rate=300)

    def test_no_event(self):
        text = golden.text("sysbench-1.0.20-rate-few.txt")
        text = text.replace(
            "events:              13", "events:              0"
        )
        with self.assertRaisesRegex(
            base.WorkloadError, "^sysbench completed no event in 10.0508 s;"
        ):
            self._parse(text, seconds=10.1, time=10, rate=2)

    def test_full_queue(self):
        """The reason is the rate, and not a broken tool."""
        text = golden.text("sysbench-1.0.20-rate-queue.txt")
        arguments = self.workload.complete({"rate": 10**6})
        for output, message in (
            (text, "^sysbench: rate=1000000: is so much .* reduce rate"),
            ("FATAL: x", "^command sysbench ended with exit status 1"),
        ):
            result = golden.outcome("sysbench", output, exit_status=1)
            with self.assertRaisesRegex(base.WorkloadError, message):
                self.workload.parse_all(arguments, {"sysbench": result})

    def test_offers(self):
        arguments = self.workload.complete({"threads": "vcpus"})
        (offer,) = self.workload.offers(arguments)
        self.assertIsNone(offer.rate)
        self.assertEqual(
            [offer.metric],
            [
                metric.name
                for metric in self.workload.metrics(arguments)
                if metric.name == offer.metric
            ],
        )
        for rate, rounded in ((284.6, 285), (4.4, 4)):
            driven = self.workload.at_rates(arguments, {"sysbench": rate})
            self.assertEqual({**arguments, "rate": rounded}, driven)
            (offer,) = self.workload.offers(driven)
            self.assertEqual((rounded, True), (offer.rate, offer.is_random))
        with self.assertRaisesRegex(
            base.WorkloadError, "^workload sysbench: rate=1: a run of 10 s"
        ):
            self.workload.at_rates(arguments, {"sysbench": 0.2})

    def _parse(self, text, seconds=2.1, **changes):
        arguments = {"threads": 2, "time": 2, **changes}
        return self.workload.parse_all(
            self.workload.complete(arguments),
            {"sysbench": golden.outcome("sysbench", text, seconds=seconds)},
        )


class RealRateTestCase(unittest.TestCase):
    """The sysbench of this machine, where it has one."""

    def test_rate_of_a_machine_alone(self):
        skips.require(self, "sysbench")
        workload = sysbench.Sysbench()
        arguments = workload.at_rates(
            workload.complete({"time": 2, "max_prime": 1000}),
            {"sysbench": 300},
        )
        (command,) = workload.commands(arguments, base.Endpoints())
        start = time.monotonic()
        process = subprocess.run(
            command.argv, capture_output=True, text=True, check=True
        )
        seconds = time.monotonic() - start
        outcome = golden.outcome("sysbench", process.stdout, seconds=seconds)
        rate, _ = workload.parse_all(arguments, {"sysbench": outcome})
        # Arrivals are random; five standard deviations.
        self.assertAlmostEqual(300, rate.value, delta=5 * math.sqrt(600) / 2)
