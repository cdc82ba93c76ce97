"""The totals of two published studies are those of N. J. Gunther's book.

Each was fitted by others too, with least squares of the totals themselves
where ours are of their logarithms.
"""

import math
import random
import unittest
from unittest import mock

import ddt
import hypothesis
import numpy
from hypothesis import strategies
from scipy import optimize
from scipy import stats

from rally_vmperf.measurement.density import law

#: SPEC SDM91 on a Sun SPARCcenter 2000: scripts an hour.
SDM91 = {
    1: [64.9],
    18: [995.9],
    36: [1652.4],
    72: [1853.2],
    108: [1828.9],
    144: [1775.0],
    216: [1702.2],
}
#: A ray tracer: its rate by processors.
RAYS = {
    1: [20.0],
    4: [78.0],
    8: [130.0],
    12: [170.0],
    16: [190.0],
    20: [200.0],
    24: [210.0],
    28: [230.0],
    32: [260.0],
    48: [280.0],
    64: [310.0],
}
LEVELS = (1, 2, 3, 4, 6, 8)


def total(guests, rate, contention, coherency):
    slowed = 1 + contention * (guests - 1) + coherency * guests * (guests - 1)
    return rate * guests / slowed


def planted(rate, contention, coherency, levels=LEVELS):
    return {n: [total(n, rate, contention, coherency)] for n in levels}


def noisy(totals, spread, count, seed=1):
    chance = random.Random(seed)
    return {
        guests: [
            values[0] * chance.lognormvariate(0, spread) for _ in range(count)
        ]
        for guests, values in totals.items()
    }


def values(found):
    return [
        found.rate.value,
        found.contention.value,
        found.coherency.value,
    ]


@ddt.ddt
class FitTestCase(unittest.TestCase):
    @hypothesis.settings(max_examples=60)
    @hypothesis.given(
        strategies.floats(1e-3, 1e9),
        strategies.one_of(strategies.just(0.0), strategies.floats(1e-4, 2)),
        strategies.one_of(strategies.just(0.0), strategies.floats(1e-5, 0.5)),
    )
    def test_planted_coefficients(self, rate, contention, coherency):
        got = law.fit_totals(planted(rate, contention, coherency))
        self.assertAlmostEqual(1.0, got.rate.value / rate, places=5)
        self.assertAlmostEqual(contention, got.contention.value, places=5)
        self.assertAlmostEqual(coherency, got.coherency.value, places=5)

    @ddt.data(("sdm91", SDM91), ("rays", RAYS), ("noisy", None))
    @ddt.unpack
    def test_another_solver_agrees(self, name, totals):
        """Coefficients and intervals, from curve_fit on the logarithms."""
        if totals is None:
            totals = noisy(planted(300, 0.1, 0.01), 0.02, 5)
        counts = [n for n, found in totals.items() for _ in found]
        logs = [math.log(one) for found in totals.values() for one in found]

        def model(n, log_rate, contention, coherency):
            return log_rate + numpy.log(total(n, 1, contention, coherency))

        expected, covariance = optimize.curve_fit(
            model,
            numpy.array(counts),
            logs,
            [logs[0], 0.01, 1e-4],
            bounds=([-numpy.inf, 0, 0], numpy.inf),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        expected[0] = math.exp(expected[0])
        got = law.fit_totals(totals)
        quantile = stats.t.ppf(0.975, len(logs) - 3)
        self.assertAlmostEqual(1, got.rate.value / expected[0], places=5)
        for place, found in enumerate(
            (got.contention, got.coherency), start=1
        ):
            half = quantile * covariance[place][place] ** 0.5
            self.assertAlmostEqual(expected[place], found.value, places=6)
            self.assertAlmostEqual(
                expected[place] + half, found.high, places=4
            )

    def test_published_rays(self):
        """Published: 0.0578 and 0, with 21.85 for one processor."""
        got = law.fit_totals(RAYS)
        self.assertAlmostEqual(0.057771, got.contention.value, delta=0.002)
        self.assertLess(got.contention.low, 0.057771)
        self.assertAlmostEqual(0.0, got.coherency.value, delta=1e-5)
        self.assertLess(got.rate.low, 21.8488)
        self.assertGreater(got.rate.high, 21.8488)
        self.assertGreater(got.r_squared, 0.98)

    def test_published_sdm91(self):
        """Published: coherency 0.0001044 and the largest total at 96.5."""
        got = law.fit_totals(SDM91)
        self.assertLess(got.coherency.low, 0.0001044)
        self.assertGreater(got.coherency.high, 0.0001044)
        self.assertAlmostEqual(96.5, got.peak, delta=5)
        self.assertEqual(216, got.largest)

    @ddt.data(
        ("one", {1: [10.0]}),
        ("three", {1: [10.0], 2: [19.0], 3: [27.0]}),
        ("three and an empty one", {1: [9.0], 2: [8.0], 3: [7.0], 4: []}),
        ("none", {}),
    )
    @ddt.unpack
    def test_too_few_levels(self, name, totals):
        self.assertIsNone(law.fit_totals(totals))

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(
        strategies.lists(strategies.floats(0.01, 1e4), min_size=4, max_size=6)
    )
    def test_whatever_the_totals(self, found):
        got = law.fit_totals(
            {n: [value] for n, value in enumerate(found, start=1)}
        )
        for one in (got.rate, got.contention, got.coherency):
            self.assertTrue(0 <= one.low <= one.value <= one.high)
        self.assertLessEqual(got.r_squared, 1.0)
        self.assertGreater(got.total(3), 0)

    def test_wild_totals_are_soon_given_up(self):
        """As hostile records may have them: no bound is in their values."""
        rng, solve, most = random.Random(1), optimize.least_squares, 0

        def count(function, *arguments, **options):
            nonlocal most
            evaluations = 0

            def counted(values):
                nonlocal evaluations
                evaluations += 1
                return function(values)

            found = solve(counted, *arguments, **options)
            most = max(most, evaluations)
            return found

        with (
            mock.patch.object(optimize, "least_squares", count),
            numpy.errstate(all="ignore"),
        ):
            for levels, times in ((5, 3), (5, 60), (20, 30)):
                law.fit_totals(
                    {
                        guests: [
                            10 ** rng.uniform(-300, 300) for _ in range(times)
                        ]
                        for guests in rng.sample(range(1, 200), levels)
                    }
                )
        # Fewer would say that these are not wild.
        self.assertGreater(most, 100)
        self.assertLessEqual(most, law.MOST_EVALUATIONS)


@ddt.ddt
class ReadingTestCase(unittest.TestCase):
    @ddt.data(
        ("rises for ever", 0.1, 0.0, None),
        ("falls at once", 1.5, 0.0, 1.0),
        ("as the book has it", 0.02, 0.0005, math.sqrt(0.98 / 0.0005)),
    )
    @ddt.unpack
    def test_peak(self, name, contention, coherency, peak):
        got = law.fit_totals(planted(100, contention, coherency)).peak
        if peak is None:
            self.assertIsNone(got)
        else:
            self.assertAlmostEqual(peak, got, places=2)

    def test_no_peak_of_noise(self):
        """Linear totals have a coherency above zero, by chance alone."""
        every = [
            law.fit_totals(
                noisy(planted(100, 0, 0, (1, 2, 4, 8)), 0.02, 5, seed)
            )
            for seed in range(40)
        ]
        chance = [one for one in every if one.coherency.value]
        self.assertGreater(len(chance), 5)
        peaks = [one.peak for one in chance if one.peak]
        self.assertLessEqual(len(peaks), 4)

    def test_loss(self):
        found = law.fit_totals(planted(100, 0.1, 0.01))
        got = found.loss(4)
        self.assertAlmostEqual((1 - 1 / 1.42) * 100, got.value)
        self.assertAlmostEqual(got.value, got.low)
        self.assertAlmostEqual(0.0, found.loss(1).value)

    def test_interval_of_a_loss(self):
        found = law.fit_totals(noisy(planted(100, 0.1, 0.01), 0.02, 4))
        for guests in (4, 8, 12, 16):
            loss = found.loss(guests)
            self.assertTrue(loss.low < loss.value < loss.high)

    def test_intervals_hold_what_was_planted(self):
        """In 19 of 20 of noisy runs, give or take what 60 runs vary."""
        held = 0
        for seed in range(60):
            got = law.fit_totals(noisy(planted(100, 0.1, 0.01), 0.02, 3, seed))
            held += got.contention.low <= 0.1 <= got.contention.high
        self.assertGreaterEqual(held, 51)


class BeyondTestCase(unittest.TestCase):
    """Totals that vary beyond all numbers."""

    def test_no_law(self):
        """Its interval would be larger than any number."""
        totals = {1: [1e-12], 2: [3.7e17], 3: [1.007e18], 4: [4.0]}
        self.assertIsNone(law.fit_totals(totals))
