# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.cpu import stress_ng


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
        line = "stress-ng --timeout 3s --cpu 4 --cpu-method "
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

    def test_it_has_no_metrics(self):
        self.assertEqual((), self.workload.metrics(self.workload.complete({})))
