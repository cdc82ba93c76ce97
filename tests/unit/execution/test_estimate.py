# SPDX-License-Identifier: Apache-2.0
"""Tests of how long a run will take, roughly."""

import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate


@ddt.ddt
class TestMinutes(unittest.TestCase):
    """Two minutes until guests are ready, then what the commands say."""

    def test_boots(self):
        """Each one costs a minute, however many guests boot."""
        assignments = assignment.assign(
            [{"name": "sysbench", "arguments": {"time": 57}}]
        )
        self.assertEqual(
            8, estimate.estimate_minutes(assignments, 2, 2, boots=2)
        )

    def test_protocol(self):
        """Rest and dropped caches come before each command."""
        assignments = assignment.assign(
            [
                {
                    "name": "sysbench",
                    "arguments": {"time": 57},
                    "cooldown": 58,
                    "drop_caches": True,
                }
            ]
        )
        self.assertEqual(4, estimate.estimate_minutes(assignments, 1))

    @ddt.data(
        ("sysbench", {"time": 57}, 1, 1, 3),
        ("sysbench", {"time": 57}, 5, 3, 17),
        (
            "fio",
            {"patterns": ["read", "write"], "runtime": 25, "ramp_time": 2},
            2,
            1,
            4,
        ),
        ("iperf3", {"time": 26}, 1, 2, 4),
        ("bzip2", {}, 1, 1, 3),
    )
    @ddt.unpack
    def test_minutes(self, name, arguments, repetitions, levels, minutes):
        """All commands count, in all levels of all repetitions."""
        assignments = assignment.assign(
            [{"name": name, "arguments": arguments}]
        )
        self.assertEqual(
            minutes,
            estimate.estimate_minutes(assignments, repetitions, levels),
        )
