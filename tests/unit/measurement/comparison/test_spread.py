# SPDX-License-Identifier: Apache-2.0
"""Spread, against figures made by hand and those of scipy."""

import math
import unittest

import ddt
import hypothesis
import numpy
from hypothesis import strategies
from scipy import stats

from rally_vmperf.measurement.comparison import spread
from rally_vmperf.measurement.samples import sample

FIGURES = ("range_percent", "cv_percent")
SAMPLES = (
    (1.0, 2.0, 4.0),
    (9000.0, 9050.0, 8980.0, 9020.0, 9500.0),
    (0.004, 0.0041, 0.0039, 0.02),
)
several = strategies.lists(
    strategies.floats(1e-3, 1e3), min_size=2, max_size=12
)


@ddt.ddt
class SpreadTestCase(unittest.TestCase):
    def test_by_hand(self):
        """The mean of 1, 2, 4 is 7/3, their variance too."""
        estimate = spread.spread((4.0, 1.0, 2.0))
        self.assertAlmostEqual(100 * 9 / 7, estimate.range_percent)
        self.assertAlmostEqual(100 * math.sqrt(3 / 7), estimate.cv_percent)

    @ddt.data(*SAMPLES)
    def test_as_scipy_has_it(self, values):
        estimate = spread.spread(values)
        mean = numpy.mean(values)
        for name, expected in (
            ("range_percent", 100 * numpy.ptp(values) / mean),
            ("cv_percent", 100 * stats.variation(values, ddof=1)),
        ):
            self.assertAlmostEqual(expected, getattr(estimate, name), places=9)

    def test_equal_values(self):
        none = spread.Spread(range_percent=0, cv_percent=0)
        self.assertEqual(none, spread.spread((0.1, 0.1, 0.1)))

    def test_few(self):
        self.assertIsNone(spread.spread(()))
        self.assertIsNone(spread.spread((1.0,)))

    @hypothesis.given(several, strategies.floats(1e-6, 1e6))
    def test_of_any_scale(self, values, factor):
        before = spread.spread(values)
        after = spread.spread([value * factor for value in values])
        for name in FIGURES:
            figure, other = getattr(before, name), getattr(after, name)
            self.assertTrue(
                math.isclose(figure, other, rel_tol=1e-7, abs_tol=1e-9),
                (name, figure, other),
            )

    @hypothesis.given(several, strategies.randoms())
    def test_in_any_order(self, values, chance):
        before = spread.spread(values)
        chance.shuffle(values)
        self.assertEqual(before, spread.spread(values))

    @hypothesis.given(
        strategies.lists(
            strategies.floats(sample.LOWEST, sample.HIGHEST),
            min_size=2,
            max_size=6,
        )
    )
    def test_of_any_values(self, values):
        """All values that samples may have give finite figures."""
        estimate = spread.spread(values)
        figures = [getattr(estimate, name) for name in FIGURES]
        self.assertTrue(
            all(math.isfinite(figure) for figure in figures), figures
        )
        equal = len(set(values)) == 1
        self.assertEqual(equal, estimate.range_percent == 0)
