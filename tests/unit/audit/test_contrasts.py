"""Tests of contrasts by sums."""

import math
import random
import statistics
import unittest

import ddt

from rally_vmperf.audit import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import sample
from tests.unit.audit import made


def contrast(subject, reference, margin=5.0, metric=made.RATE, pool=None):
    """Return a contrast of two hosts."""
    pool = pool or subject + reference
    return contrasts.Contrast(metric, subject, reference, pool, margin)


@ddt.ddt
class TestContrasts(unittest.TestCase):
    """The whole interval decides, by the error within hosts."""

    def decide(self, *pairs, **options):
        return contrasts.decide_all(pairs, **options)

    def test_sums(self):
        """They are those of logarithms, and their parts can be subtracted."""
        first, second = made.sums(), made.sums(2.0, (1.0, 2.0, 4.0))
        logs = [math.log(value) for value in made.USUAL]
        self.assertAlmostEqual(statistics.variance(logs), first.variance)
        self.assertAlmostEqual(4.0, second.mean)
        both = first + second
        self.assertEqual((9, 7), (both.count, both.freedom))
        rest = both - first
        self.assertAlmostEqual(second.mean, rest.mean)
        self.assertAlmostEqual(second.variance, rest.variance)

    def test_mean_of_guests(self):
        """A repetition is the mean of its guests."""
        sums = contrasts.sum_repetitions(made.RATE, [[1.0, 4.0]] * 3)
        self.assertAlmostEqual(2.0, sums.mean)
        self.assertEqual(3, sums.count)

    @ddt.data(
        (made.RATE, 0.9, "worse", 10.0),
        (made.RATE, 1.0, "equal", 0.0),
        (made.RATE, 1.1, "better", -10.0),
        (made.RATE, 0.95, "undecided", 5.0),
        (made.TIME, 1.1, "worse", 10.0),
        (made.TIME, 0.9, "better", -10.0),
    )
    @ddt.unpack
    def test_statuses(self, metric, factor, status, percent):
        """A loss is positive for both directions of metrics."""
        subject = made.sums(factor, metric=metric)
        (decision,) = self.decide(
            contrast(subject, made.sums(metric=metric), metric=metric)
        )
        self.assertEqual(status, decision.status)
        self.assertAlmostEqual(percent, decision.loss)
        self.assertLess(decision.low, decision.loss)
        self.assertGreater(decision.high, decision.loss)

    def test_interval_of_equal_variances(self):
        """It is that of Student's test of two samples."""
        subject = made.sums(0.9, (100.0, 101.0, 99.0, 100.3, 102.0, 98.0))
        reference = made.sums()
        (decision,) = self.decide(contrast(subject, reference))
        variance = (subject.squares + reference.squares) / 10
        half = 2.228138851964939 * math.sqrt(variance * 2 / 6)
        ratio = subject.mean / reference.mean
        expected = loss.percent(made.RATE, ratio * math.exp(half))
        self.assertAlmostEqual(expected, decision.low)

    def test_margin(self):
        """A larger one accepts the loss."""
        sides = made.sums(0.9), made.sums()
        self.assertEqual("worse", self.decide(contrast(*sides))[0].status)
        (decision,) = self.decide(contrast(*sides, margin=12.0))
        self.assertEqual("equal", decision.status)

    @ddt.data(1, 2)
    def test_few_repetitions(self, number):
        """They have no interval, and decide nothing."""
        few = made.sums(0.5, made.USUAL[:number])
        for sides in ((few, made.sums()), (made.sums(0.5), few)):
            (decision,) = self.decide(contrast(*sides))
            self.assertEqual("undecided", decision.status)
            self.assertIsNone(decision.low)

    def test_correction(self):
        """More contrasts widen the interval of an undecided one."""
        border = contrast(made.sums(0.95), made.sums())
        (alone,) = self.decide(border)
        among = self.decide(*[border] * 100)
        self.assertLess(among[0].low, alone.low)
        self.assertAlmostEqual(0.95, alone.confidence)
        self.assertAlmostEqual(0.9995, among[0].confidence)

    def test_step_down(self):
        """Decided contrasts no longer widen the others (Holm)."""
        border = contrast(made.sums(0.95), made.sums())
        equal = contrast(made.sums(), made.sums())
        decisions = self.decide(border, *[equal] * 99)
        self.assertAlmostEqual(0.95, decisions[0].confidence)
        self.assertAlmostEqual(0.9995, decisions[1].confidence)

    def test_spread_between_hosts(self):
        """The error excludes it: two slow hosts do not hide each other."""
        members = [made.sums(factor) for factor in (0.8, 0.8, 1.0, 1.0)]
        pool = sum(members, contrasts.Sums())
        decisions = self.decide(
            *(contrast(member, pool - member, pool=pool) for member in members)
        )
        self.assertEqual(
            ["worse", "worse", "better", "better"],
            [decision.status for decision in decisions],
        )

    def test_noisy_host(self):
        """It has its own variance, so that chance does not name it."""
        generator = random.Random(1)
        wild = [100 * math.exp(generator.gauss(0, 0.2)) for _ in range(6)]
        noisy = made.sums(0.85, wild)
        others = sum([made.sums()] * 9, contrasts.Sums())
        decisions = self.decide(contrast(noisy, others))
        self.assertEqual("undecided", decisions[0].status)
        self.assertGreater(decisions[0].high - decisions[0].low, 30)

    def test_equal_values(self):
        """They are rounded, so that they do not decide with certainty."""
        same = (100.0,) * 6
        (decision,) = self.decide(
            contrast(made.sums(0.9, same), made.sums(values=same))
        )
        self.assertEqual("undecided", decision.status)

    def test_stated_resolution(self):
        """Widens the interval."""
        rough = sample.Metric(
            name="x.rate", unit="1/s", better="higher", resolution=0.04
        )
        (decision,) = self.decide(
            contrast(
                made.sums(0.9, metric=rough),
                made.sums(metric=rough),
                metric=rough,
            )
        )
        self.assertEqual("undecided", decision.status)

    def test_infinite_loss(self):
        """An infinite loss, of a time without bounds, is undecided."""
        wild = (1e-9, 1e9, 1.0)
        (decision,) = self.decide(
            contrast(
                made.sums(values=wild, metric=made.TIME),
                made.sums(values=wild, metric=made.TIME),
                metric=made.TIME,
            )
        )
        self.assertEqual("undecided", decision.status)

    def test_invalid_values(self):
        """They are rejected."""
        for values in ([], [[]], [[0.0]], [[math.nan]]):
            with self.assertRaises((ValueError, ZeroDivisionError)):
                contrasts.sum_repetitions(made.RATE, values)
