# SPDX-License-Identifier: Apache-2.0
"""Tests of what the benchmark says of a run's time."""

import unittest

from tests.bench import table
from tests.bench import wall_time


def workload(**fields):
    """Return a workload as Rally exports it."""
    return {
        "contexts_results": [
            {"plugin_name": "users@openstack", "setup": {"finished_at": 5.0}},
            {
                "plugin_name": "vmperf_guests@openstack",
                "setup": {"finished_at": 60.0},
            },
        ],
        "data": [
            {
                "error": [],
                "atomic_actions": [
                    {"name": "vmperf.prepare", "finished_at": 62.0},
                    {"name": "vmperf.measure", "finished_at": moment},
                ],
            }
            for moment in (75.0, 90.0)
        ],
        **fields,
    }


class SpentTestCase(unittest.TestCase):
    def test_ours(self):
        runs = [{"seconds": 10.0}, {"seconds": 2.0}] * 2
        times = wall_time.by_records(100.0, runs, workload())
        self.assertEqual(24.0, times.measuring)
        self.assertEqual(30.0, times.span)
        self.assertAlmostEqual(0.24, times.share)
        self.assertAlmostEqual(0.8, times.share_of_span)

    def test_theirs(self):
        output = {
            "complete": [
                {"data": ["StdOut:", "measured 10.0 20.5", "AVG 3"]},
                {"data": ["measured 30.5 31.0"]},
            ]
        }
        iteration = {"error": [], "output": output}
        times = wall_time.by_outputs(50.0, {"data": [iteration, iteration]})
        self.assertEqual(22.0, times.measuring)
        self.assertIsNone(times.share_of_span)

    def test_nothing_measured_is_an_error(self):
        iteration = {"error": ["SSHError"], "output": {"complete": []}}
        with self.assertRaisesRegex(ValueError, "SSHError"):
            wall_time.by_outputs(50.0, {"data": [iteration]})

    def test_the_table(self):
        runs = {
            "ours": wall_time.WallTime(wall=100.0, measuring=30.0, span=40.0),
            "theirs": wall_time.WallTime(wall=250.0, measuring=30.0),
        }
        self.assertEqual(
            [
                "         wall  measuring  of wall  of span",
                "ours    100 s     30.0 s      30%      75%",
                "theirs  250 s     30.0 s      12%        -",
                "ratio of wall times: 2.50",
            ],
            list(table.lines(runs)),
        )
