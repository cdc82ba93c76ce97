# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLA on spread as Rally uses it."""

import unittest

from tests.unit import made
from tests.unit.plugins.criteria import contract

RATES = {made.IOPS: (11000.0, 11900.0, 11500.0, 11200.0, 11600.0)}


class TestSpread(contract.SLAContract, unittest.TestCase):
    """The range is 7.87 %, the coefficient of variation 1.84 to 8.81 %."""

    NAME = "vmperf_spread"
    RUN = made.several(RATES)
    PASSES = ({"max_cv_percent": {"*": 9}}, {"max_range_percent": {"*": 7.9}})
    FAILS = (
        {"max_range_percent": {"*": 7.8}},
        {"max_cv_percent": {"disk.*": 1.8}, "max_range_percent": {"*": 9}},
    )
    UNDECIDED = (
        {"max_cv_percent": {"*": 2}},
        {"max_cv_percent": {"*": 8.7}, "max_range_percent": {"*": 9}},
    )
    UNMATCHED = (
        {"max_cv_percent": {"*": 9, "x.*": 1}},
        {"max_cv_percent": {"*": 9}, "max_range_percent": {"x.*": 2}},
    )
    REJECTED = (
        {},
        {"max_cv_percent": {}},
        {"max_cv_percent": {"*": -1}},
        {"max_gsd": {"*": 1.1}},
        {"max_iqr_percent": {"*": 5}},
        {"max_cv_percent": {"*": 2}, "over": "repetitions"},
        {"max_cv_percent": {"*": 2}, "max_percent": {"*": 2}},
    )

    def test_passed_figures_are_in_the_table(self):
        """Rally prints the verdict, and where to find the figures."""
        sla, _ = self.create_sla(self.RUN, self.PASSES[0])
        self.assertIn("All figures: rally-vmperf judge.", sla.details())
        self.assertNotIn("cv", sla.details())
