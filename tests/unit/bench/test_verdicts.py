# SPDX-License-Identifier: Apache-2.0
"""A short form of the simulation of verdicts, with few trials.

For each rule it asserts what is lost without the rule, by bounds that a right
rule misses once in thousands of seeds; the seed is fixed.
"""

import dataclasses
import unittest

import ddt
import numpy

from tests.bench import verdicts

NORMAL = verdicts.normal(0.02)


@ddt.ddt
class TestOverhead(unittest.TestCase):
    """The truth is the limit: every decision is wrong."""

    @ddt.data((3, 3), (5, 5), (15, 5))
    def test_interval(self, sizes):
        """Holds the truth in 95 % of runs, and errs to both sides alike."""
        got = verdicts.overhead("x", sizes, NORMAL, NORMAL, trials=300)
        self.assertGreater(got.coverage, 90)
        self.assertLess(max(got.passed, got.failed), 7)

    def test_skewed_guest(self):
        """Passes by chance in 7 of 100 runs; in 11 by the interval alone."""
        got = verdicts.overhead(
            "x",
            (5, 5),
            verdicts.normal(0.005),
            verdicts.skewed(0.03),
            trials=1500,
        )
        self.assertLessEqual(got.passed, 9)

    @ddt.data(None, 0.01)
    def test_rounded_values(self, resolution):
        """Rounded values are not certain, with or without a resolution."""
        metric = dataclasses.replace(verdicts.TIME, resolution=resolution)
        quiet = verdicts.normal(0.002)
        for base in (70e-6, 100e-6):
            got = verdicts.overhead(
                "x",
                (5, 5),
                quiet,
                quiet,
                trials=100,
                metric=metric,
                rounded=verdicts.bucket,
                base=base,
            )
            self.assertLessEqual(got.passed + got.failed, 4)

    def test_whole_seconds_of_many_guests(self):
        """Whole seconds are not certain, though their means are not whole."""
        noise = verdicts.normal(0.01)
        got = verdicts.overhead(
            "x",
            (5, 5),
            noise,
            noise,
            trials=200,
            rounded=numpy.round,
            base=None,
            guests=8,
        )
        self.assertLessEqual(got.passed + got.failed, 2)

    def test_flagged(self):
        """They are two states and outliers, and hardly ever what is normal."""
        quiet = verdicts.normal(0.005)
        for draw, least, most in (
            (quiet, 0, 4),
            (verdicts.bimodal, 75, 100),
            (verdicts.outliers(0.01), 35, 100),
        ):
            got = verdicts.overhead("x", (15, 15), quiet, draw, trials=60)
            self.assertGreaterEqual(got.flagged, least)
            self.assertLessEqual(got.flagged, most)


class TestDensity(unittest.TestCase):
    """Levels of guests against the solo guest."""

    def test_repetitions_that_are_disturbed(self):
        """They are decided as if they were not: half the limit is passed."""
        got = verdicts.density(
            "x", 2, 5, trials=20, truth=5, shared=0.1, deviation=0.01
        )
        self.assertGreater(got.passed, 70)

    def test_two_states_of_a_level(self):
        """They are seen in its pairs with the solo guest."""
        got = verdicts.density(
            "x", 4, 15, trials=40, deviation=0.005, level=verdicts.bimodal
        )
        self.assertGreaterEqual(got.flagged, 10)
        self.assertLessEqual(got.passed, 15)

    def test_worst_of_many(self):
        """Fails by no matter of their number, and passes where all are in."""
        got = verdicts.density("x", 8, 5, trials=40, statistic="worst")
        self.assertLessEqual(got.failed, 5)
        self.assertLessEqual(got.passed, 5)
        half = verdicts.density(
            "x", 8, 10, trials=20, statistic="worst", truth=5
        )
        self.assertGreaterEqual(half.passed, 75)
        many = verdicts.density(
            "x", 32, 10, trials=10, statistic="worst", truth=5
        )
        self.assertGreaterEqual(many.passed, 70)

    def test_stopped(self):
        """A level that runs after a lucky level only does not pass."""
        got = verdicts.stopped("x", 8, trials=40, stop=True)
        self.assertLessEqual(got.passed, 5)

    def test_largest_number(self):
        """It is not too large at a level's limit, nor beyond an edge."""
        shared = verdicts.contended(0.05, 0.01)
        limit = 100 * (1 - shared(4)) - 1e-6
        at_a_level = verdicts.largest(
            "x", shared, (1, 2, 4, 8), limit, trials=40
        )
        self.assertLessEqual(at_a_level.passed, 12.5)
        beyond = verdicts.largest(
            "x", verdicts.edge, (1, 2, 4, 6), 15, trials=10
        )
        self.assertEqual(0, beyond.passed)

    def test_fairness(self):
        """An interval decides fairness: at the limit hardly ever.

        Student's interval alone would pass 6 to 7 of 100 pairs, whose spreads
        are the most skewed. Half the limit is passed.
        """
        got = verdicts.fairness("x", 2, 5, trials=500)
        self.assertLessEqual(got.passed, 4)
        self.assertLessEqual(got.failed, 5)
        half = verdicts.fairness("x", 3, 10, trials=30, half=True)
        self.assertGreaterEqual(half.passed, 80)


@ddt.ddt
class TestComparison(unittest.TestCase):
    """Runs that are equal, or differ by no more than the margin."""

    @ddt.data(((3, 5), 0.0), ((3, 5), 5.0))
    @ddt.unpack
    def test_any_worse_metric(self, sizes, margin):
        """Occurs in few runs of 30 metrics; in 53 % without correction."""
        got = verdicts.comparison(
            "x", sizes, trials=50, margin=margin, truth=margin
        )
        self.assertLessEqual(got.failed, 8)
        self.assertLessEqual(got.passed, 8)


class TestTuning(unittest.TestCase):
    """Variants that are equal."""

    def test_any_difference(self):
        """Occurs in few runs of 10 metrics; in most without correction."""
        got = verdicts.tuning("x", 5, trials=100)
        self.assertGreaterEqual(got.coverage, 89)

    def test_boots(self):
        """Differ like variants, unless each repetition is another boot."""
        once, each = (
            verdicts.tuning(
                "x",
                6,
                trials=40,
                draw=verdicts.normal(0.005),
                variants=3,
                boots=1.0,
                is_rebooted=is_rebooted,
            )
            for is_rebooted in (False, True)
        )
        self.assertLess(once.coverage, 40)
        self.assertGreaterEqual(each.coverage, 85)

    def test_drift(self):
        """Drift looks like tuning in the order of the list, not in blocks."""
        blocks, listed = (
            verdicts.tuning(
                "x",
                5,
                trials=20,
                order=order,
                drift=1.0,
                draw=verdicts.normal(0.001),
            )
            for order in ("blocks", "listed")
        )
        self.assertLess(blocks.bias, 0.3)
        self.assertGreaterEqual(blocks.coverage, 75)
        self.assertGreater(listed.bias, 0.7)
        self.assertEqual(100, listed.failed)
