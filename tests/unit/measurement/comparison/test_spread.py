"""Spread, against figures made by hand and those of scipy."""

import math
import random
import unittest

import ddt
import hypothesis
import numpy
from hypothesis import strategies
from scipy import stats

from rally_vmperf.measurement.comparison import spread
from rally_vmperf.measurement.samples import sample

FIGURES = ("range_percent", "cv_percent", "gsd")
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
        found = spread.spread((4.0, 1.0, 2.0))
        self.assertAlmostEqual(100 * 9 / 7, found.range_percent)
        self.assertAlmostEqual(100 * math.sqrt(3 / 7), found.cv_percent)
        self.assertAlmostEqual(2.0, found.gsd)

    @ddt.data(*SAMPLES)
    def test_as_scipy_has_it(self, values):
        found = spread.spread(values)
        mean = numpy.mean(values)
        for name, expected in (
            ("range_percent", 100 * numpy.ptp(values) / mean),
            ("cv_percent", 100 * stats.variation(values, ddof=1)),
            ("gsd", stats.gstd(values)),
        ):
            self.assertAlmostEqual(expected, getattr(found, name), places=9)

    def test_equal_values(self):
        none = spread.Spread(range_percent=0, cv_percent=0, gsd=1)
        self.assertEqual(none, spread.spread((0.1, 0.1, 0.1)))

    def test_few(self):
        self.assertIsNone(spread.spread(()))
        self.assertIsNone(spread.spread((1.0,)))

    @hypothesis.given(several, strategies.floats(1e-6, 1e6))
    def test_of_any_scale(self, values, factor):
        before = spread.spread(values)
        after = spread.spread([value * factor for value in values])
        for name in FIGURES:
            one, other = getattr(before, name), getattr(after, name)
            self.assertTrue(
                math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9),
                (name, one, other),
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
        found = spread.spread(values)
        figures = [getattr(found, name) for name in FIGURES]
        self.assertTrue(all(math.isfinite(one) for one in figures), figures)
        equal = len(set(values)) == 1
        self.assertEqual(equal, found.range_percent == 0)
        self.assertGreaterEqual(found.gsd, 1)


@ddt.ddt
class RatioTestCase(unittest.TestCase):
    def test_by_hand(self):
        """With 2 and 2 degrees of freedom the quantile is p / (1 - p)."""
        found = spread.ratio((1.0, 2.0, 4.0), (1.0, 4.0, 16.0), 0.95)
        self.assertAlmostEqual(2.0, found.value)
        self.assertAlmostEqual(2 / math.sqrt(39), found.low)
        self.assertAlmostEqual(2 * math.sqrt(39), found.high)

    @ddt.data((5, 8, 0.95), (8, 5, 0.95), (3, 30, 0.99), (4, 4, 0.5))
    @ddt.unpack
    def test_as_tables_of_f_have_it(self, bare, guest, confidence):
        """From below, by the other table: swapped degrees of freedom."""
        low, high = spread.interval(3.0, bare, guest, confidence)
        tail = (1 - confidence) / 2
        upper = stats.f.isf(tail, guest - 1, bare - 1)
        lower = 1 / stats.f.isf(tail, bare - 1, guest - 1)
        self.assertAlmostEqual(3 / math.sqrt(upper), low)
        self.assertAlmostEqual(3 / math.sqrt(lower), high)

    def test_covers_as_often_as_it_says(self):
        """Of log-normal values, the guest's twice as far apart."""
        chance = random.Random(1)

        def drawn(count, sigma):
            return [chance.lognormvariate(3, sigma) for _ in range(count)]

        runs = 3000
        hits = 0
        for _ in range(runs):
            found = spread.ratio(drawn(8, 0.02), drawn(5, 0.04), 0.95)
            hits += found.low <= 2 <= found.high
        # Three standard errors of a share of 95 % in so many runs.
        error = 3 * math.sqrt(0.95 * 0.05 / runs)
        self.assertAlmostEqual(0.95, hits / runs, delta=error)

    def test_few(self):
        many = (1.0, 1.1, 1.2)
        self.assertIsNone(spread.ratio((1.0,), many, 0.95))
        self.assertIsNone(spread.ratio(many, (), 0.95))
        for bare, guest in ((many[:2], many), (many, many[:2])):
            found = spread.ratio(bare, guest, 0.95)
            self.assertEqual((None, None), (found.low, found.high))
            self.assertGreater(found.value, 0)

    def test_bare_metal_that_does_not_vary(self):
        self.assertIsNone(spread.ratio((3.0,) * 3, (1.0, 2.0, 3.0), 0.95))

    def test_guest_that_does_not_vary(self):
        found = spread.ratio((1.0, 2.0, 3.0), (3.0,) * 3, 0.95)
        self.assertEqual((0, 0, 0), (found.value, found.low, found.high))

    @hypothesis.given(several, several, strategies.floats(1e-6, 1e6))
    def test_of_any_scale(self, bare, guest, factor):
        hypothesis.assume(max(bare) > 1.001 * min(bare))
        before = spread.ratio(bare, guest, 0.95)
        after = spread.ratio(bare, [one * factor for one in guest], 0.95)
        self.assertTrue(
            math.isclose(before.value, after.value, rel_tol=1e-7, abs_tol=1e-9)
        )
