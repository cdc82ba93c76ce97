# SPDX-License-Identifier: Apache-2.0
"""A short form of the simulation of events, with few trials."""

import unittest

import ddt

from tests.bench import event


@ddt.ddt
class TestCoverage(unittest.TestCase):
    """A dip of 40 % during 6 s, and a downtime of 0.3 s."""

    @ddt.data(
        {"noise": 0.02},
        {"noise": 0.08, "round_trip": 0.03, "drift": 1e-3},
    )
    def test_truth_is_within_the_intervals(self, options):
        figures = event.simulate(60, **options)
        self.assertEqual(8, len(figures))
        for name, (coverage, _, _) in figures.items():
            self.assertGreaterEqual(coverage, 85, name)

    @ddt.data({"correlation": 0.8}, {"drift": -1e-3}, {})
    def test_noise_is_no_dip(self, options):
        found = event.find_false_dips(60, noise=0.05, **options)
        self.assertLessEqual(found, 10)

    def test_shipped_task(self):
        """A healthy cloud passes; one that loses twice the limit does not."""
        self.assertGreaterEqual(event.judge_shipped_task(40)["passed"], 90)
        slow = event.judge_shipped_task(20, loss_after=20.0)
        self.assertEqual(0, slow["passed"])
