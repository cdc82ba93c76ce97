# SPDX-License-Identifier: Apache-2.0
"""Tests of the parts by which reports group metrics."""

import typing as t
import unittest

from rally_vmperf.report import groups
from rally_vmperf.workloads import base


class TestParts(unittest.TestCase):
    """Reports know every part that a workload can be of."""

    def test_every_part_has_a_title(self):
        """In one order, with what no workload declares behind them."""
        self.assertEqual(t.get_args(base.Component), tuple(groups.PARTS))
        self.assertEqual("Application", groups.part("application.redis.rate"))
        self.assertEqual(
            [*range(5), 5],
            [
                groups.position(f"{group}.x.y")
                for group in (*groups.PARTS, "other")
            ],
        )
