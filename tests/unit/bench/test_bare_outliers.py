# SPDX-License-Identifier: Apache-2.0
"""A short form of the simulation of outliers of bare metal."""

import unittest

import ddt

from tests.bench import bare_outliers


@ddt.ddt
class BareOutliersTest(unittest.TestCase):
    """Single repetitions of bare metal that are slower or faster."""

    @ddt.data(*bare_outliers.SIDES)
    def test_half_of_the_limit(self, name):
        """A guest that loses half of its limit does not fail."""
        draw = bare_outliers.SIDES[name]
        for repetitions in bare_outliers.REPETITIONS:
            shares = bare_outliers.simulate(
                (repetitions, repetitions), draw, 0.5, 50
            )
            self.assertEqual({"95 %": 0}, shares)

    def test_rules(self):
        """No rule fails more guests than that of the product."""
        draw = bare_outliers.SIDES["a tenth is 8 % slower"]
        shares = bare_outliers.simulate(
            (8, 8), draw, 1, 200, bare_outliers.RULES
        )
        self.assertEqual("95 %", max(shares, key=shares.__getitem__))
        self.assertLess(shares["99 %"], shares["95 %"])
