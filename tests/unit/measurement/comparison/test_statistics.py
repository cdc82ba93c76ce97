# SPDX-License-Identifier: Apache-2.0
import math
import unittest

import ddt
import hypothesis
import numpy
from hypothesis import strategies
from scipy import stats

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

values = strategies.lists(
    strategies.floats(min_value=1e-6, max_value=1e12), min_size=3, max_size=12
)
FIGURES = ("range_percent", "cv_percent")
SAMPLES = (
    (1.0, 2.0, 4.0),
    (9000.0, 9050.0, 8980.0, 9020.0, 9500.0),
    (0.004, 0.0041, 0.0039, 0.02),
)
several = strategies.lists(
    strategies.floats(1e-3, 1e3), min_size=2, max_size=12
)


class RatioIntervalTestCase(unittest.TestCase):
    @hypothesis.given(values, values, strategies.floats(0.5, 0.999))
    def test_same_as_scipy(self, bare, guest, confidence):
        logs = numpy.log(bare), numpy.log(guest)
        hypothesis.assume(min(numpy.std(logs[0]), numpy.std(logs[1])) > 1e-6)
        low, high = statistics.ratio_interval(bare, guest, confidence)
        expected = stats.ttest_ind(
            logs[1], logs[0], equal_var=False
        ).confidence_interval(confidence)
        if len(bare) != len(guest) and min(len(bare), len(guest)) < 5:
            self.assertLess(math.log(low), expected.low + 1e-6)
            self.assertGreater(math.log(high), expected.high - 1e-6)
            return
        self.assertAlmostEqual(expected.low, math.log(low), places=6)
        self.assertAlmostEqual(expected.high, math.log(high), places=6)

    @hypothesis.given(values, values)
    def test_swapped_sides(self, bare, guest):
        low, high = statistics.ratio_interval(bare, guest, 0.95)
        back = statistics.ratio_interval(guest, bare, 0.95)
        self.assertAlmostEqual(math.log(low), -math.log(back[1]), places=6)
        self.assertAlmostEqual(math.log(high), -math.log(back[0]), places=6)

    def test_two_are_too_few(self):
        three, two = [1.0, 1.1, 1.2], [1.0, 1.1]
        self.assertIsNone(statistics.ratio_interval(three, two, 0.95))
        self.assertIsNone(statistics.ratio_interval(two, three, 0.95))

    def test_no_spread_has_no_width(self):
        low, high = statistics.ratio_interval([2.0] * 3, [1.0] * 3, 0.95)
        self.assertEqual((0.5, 0.5), (low, high))

    def test_spread_on_one_side(self):
        low, high = statistics.ratio_interval(
            [2.0] * 3, [1.0, 1.01, 0.99], 0.95
        )
        self.assertLess(low, 0.5)
        self.assertGreater(high, 0.5)

    def test_boundless_spread(self):
        wild = [1e-300, 1.0, 1e300]
        low, high = statistics.ratio_interval(wild, wild, 0.999)
        self.assertEqual((0.0, math.inf), (low, high))

    def test_tiny_spread(self):
        bare = [1.0, 1.0 + 1e-15, 1.0]
        low, high = statistics.ratio_interval(bare, bare, 0.95)
        self.assertTrue(low <= 1 <= high)


@ddt.ddt
class ConfidenceOfLossTestCase(unittest.TestCase):
    @ddt.data(
        (1.0, 1.0, 5, 0.95),
        (1.0, 0.1, 5, 0.95),
        (1.0, 1.5, 5, 1 - 0.05 * 0.3**0.5),
        (1.0, 2.0, 5, 0.985),
        (1.0, 9.0, 10, 0.985),
        (1.0, 9.0, 15, 1 - 0.05 * 0.3**0.5),
        (1.0, 9.0, 20, 0.95),
        (1.0, 9.0, 99, 0.95),
        (1.0, 9.0, 3, 0.985),
        (0.0, 1.0, 5, 0.985),
        (5e-324, 1e300, 5, 0.985),
        (0.0, 0.0, 5, 0.95),
    )
    @ddt.unpack
    def test_of_few_that_vary_more(self, bare, guest, count, expected):
        got = statistics.confidence_of_loss(0.95, bare, guest, count)
        self.assertAlmostEqual(expected, float(got))

    def test_of_an_array(self):
        counts = numpy.array([3, 4, 10, 20])
        got = statistics.confidence_of_loss(0.9, 1.0, 2.0, counts)
        numpy.testing.assert_allclose([0.97, 0.97, 0.97, 0.9], got)


class MeanTestCase(unittest.TestCase):
    def test_geometric_mean(self):
        self.assertAlmostEqual(4.0, statistics.geometric_mean([2.0, 8.0]))

    def test_nothing_is_not_zero(self):
        with self.assertRaisesRegex(ValueError, "no values"):
            statistics.geometric_mean([])

    def test_zero_has_no_logarithm(self):
        with self.assertRaisesRegex(ValueError, "0.0: must be finite"):
            statistics.geometric_mean([1.0, 0.0])

    def test_spread(self):
        self.assertIsNone(statistics.spread_percent([1.0]))
        self.assertEqual(0.0, statistics.spread_percent([5.0, 5.0]))
        spread = statistics.spread_percent([1.0, math.exp(math.sqrt(2))])
        self.assertAlmostEqual((math.e - 1) * 100, spread)


class OutliersTestCase(unittest.TestCase):
    def test_one_stands_apart(self):
        self.assertEqual(
            (2,), statistics.outliers([10.0, 10.1, 20.0, 9.9, 10.2, 9.8])
        )

    def test_scale_does_not_matter(self):
        slow = [value * 1e6 for value in (10.0, 10.1, 20.0, 9.9, 10.2, 9.8)]
        self.assertEqual((2,), statistics.outliers(slow))

    def test_too_few_to_tell(self):
        self.assertEqual((), statistics.outliers([1.0, 1.0, 100.0]))

    def test_mostly_equal(self):
        self.assertEqual((), statistics.outliers([1.0] * 5 + [2.0]))


class HalfWidthTestCase(unittest.TestCase):
    """A side of three that happens not to vary, and one of fifteen."""

    def test_degrees_of_freedom_of_a_small_side(self):
        """They are those of two sides of its size, from three to four."""
        for few, freedom in ((3, 4), (4, 6), (5, 14)):
            for sizes in ((0.0, few, 1.0, 15), (1.0, 15, 0.0, few)):
                half = statistics.half_width(*sizes, 0.95)
                self.assertAlmostEqual(
                    statistics.student_quantile(0.95, freedom) / 15**0.5, half
                )

    def test_a_small_side_that_varies_more(self):
        """It has its own, over its share of the variance."""
        for share, freedom in ((1.0, 2), (0.8, 2.5), (0.5, 4), (0.2, 4)):
            for sides in ((share, 3, 30), (1 - share, 30, 3)):
                got = statistics.degrees_of_freedom(*sides)
                self.assertAlmostEqual(freedom, float(got))

    def test_sides_alike(self):
        """They have the degrees of freedom of both."""
        half = statistics.half_width(1.0, 3, 1.0, 3, 0.95)
        expected = statistics.student_quantile(0.95, 4) * (2 / 3) ** 0.5
        self.assertAlmostEqual(expected, half)


@ddt.ddt
class SpreadTestCase(unittest.TestCase):
    def test_by_hand(self):
        """The mean of 1, 2, 4 is 7/3, their variance too."""
        estimate = statistics.find_spread((4.0, 1.0, 2.0))
        self.assertAlmostEqual(100 * 9 / 7, estimate.range_percent)
        self.assertAlmostEqual(100 * math.sqrt(3 / 7), estimate.cv_percent)

    @ddt.data(*SAMPLES)
    def test_as_scipy_has_it(self, values):
        estimate = statistics.find_spread(values)
        mean = numpy.mean(values)
        for name, expected in (
            ("range_percent", 100 * numpy.ptp(values) / mean),
            ("cv_percent", 100 * stats.variation(values, ddof=1)),
        ):
            self.assertAlmostEqual(expected, getattr(estimate, name), places=9)

    def test_equal_values(self):
        none = statistics.Spread(range_percent=0, cv_percent=0)
        self.assertEqual(none, statistics.find_spread((0.1, 0.1, 0.1)))

    def test_few(self):
        self.assertIsNone(statistics.find_spread(()))
        self.assertIsNone(statistics.find_spread((1.0,)))

    @hypothesis.given(several, strategies.floats(1e-6, 1e6))
    def test_of_any_scale(self, values, factor):
        before = statistics.find_spread(values)
        after = statistics.find_spread([value * factor for value in values])
        for name in FIGURES:
            figure, other = getattr(before, name), getattr(after, name)
            self.assertTrue(
                math.isclose(figure, other, rel_tol=1e-7, abs_tol=1e-9),
                (name, figure, other),
            )

    @hypothesis.given(several, strategies.randoms())
    def test_in_any_order(self, values, chance):
        before = statistics.find_spread(values)
        chance.shuffle(values)
        self.assertEqual(before, statistics.find_spread(values))

    @hypothesis.given(
        strategies.lists(
            strategies.floats(sample.LOWEST, sample.HIGHEST),
            min_size=2,
            max_size=6,
        )
    )
    def test_of_any_values(self, values):
        """All values that samples may have give finite figures."""
        estimate = statistics.find_spread(values)
        figures = [getattr(estimate, name) for name in FIGURES]
        self.assertTrue(
            all(math.isfinite(figure) for figure in figures), figures
        )
        equal = len(set(values)) == 1
        self.assertEqual(equal, estimate.range_percent == 0)
