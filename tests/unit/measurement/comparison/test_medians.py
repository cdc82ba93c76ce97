# SPDX-License-Identifier: Apache-2.0
"""Tests of contrasts between hosts."""

import dataclasses
import math
import random
import statistics
import unittest

import ddt
import numpy

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.measurement.samples import sample
from tests.unit.audit import made


def contrast(subject, other, margin=5.0, metric=made.RATE, hosts=()):
    """Return a contrast of two hosts, whose variances are pooled."""
    group = medians.MedianGroup(hosts or (subject, other))
    return medians.HostContrast(
        metric, group.estimate(subject), group.estimate(other), margin
    )


def compare_all(*hosts):
    """Return the contrast of each host with the median of the others."""
    group = medians.MedianGroup(hosts)
    return [
        medians.HostContrast(
            made.RATE, group.estimate(host), group.build_reference(host)
        )
        for host in hosts
    ]


@ddt.ddt
class TestGroup(unittest.TestCase):
    """Means of hosts, and the medians of the others."""

    def test_mean(self):
        """It is that of logarithms."""
        mean = made.mean()
        logs = [math.log(value) for value in made.USUAL]
        self.assertAlmostEqual(statistics.fmean(logs), mean.center)
        self.assertAlmostEqual(statistics.variance(logs), mean.variance)
        self.assertEqual(6, mean.repetitions)

    def test_mean_of_guests(self):
        """A repetition is the mean of its guests."""
        mean = medians.average(made.RATE, [[1.0, 4.0]] * 3)
        self.assertAlmostEqual(math.log(2), mean.center)
        self.assertEqual((3, 0.0), (mean.repetitions, mean.variance))

    def test_pooled_variance(self):
        """It is weighted by the degrees of freedom."""
        first = made.mean(values=(100.0, 101.0, 99.0))
        second = made.mean()
        estimate = medians.MedianGroup([first, second]).estimate(second)
        variance = (2 * first.variance + 5 * second.variance) / 7
        self.assertAlmostEqual((variance / 6) ** 0.5, estimate.deviation)
        self.assertEqual(7, estimate.freedom)

    def test_median_of_others(self):
        """It is the same as that of the list of the others."""
        generator = random.Random(1)
        for number in range(2, 12):
            hosts = [
                made.mean(generator.uniform(0.5, 2)) for _ in range(number)
            ]
            # Equal means do not disturb the order.
            hosts += hosts[:1]
            group = medians.MedianGroup(hosts)
            for index, host in enumerate(hosts):
                others = hosts[:index] + hosts[index + 1 :]
                if len(hosts) == 3:
                    others = hosts
                self.assertAlmostEqual(
                    statistics.median(other.center for other in others),
                    group.build_reference(host).center,
                )

    @ddt.data(4, 5, 6, 8, 11, 40)
    def test_error_of_the_median(self, number):
        """It is that of medians of normal values, also with unequal errors."""
        generator = numpy.random.default_rng(1)
        few = [*map(int, generator.integers(4, 10, number))]
        for repetitions, odd in (([6] * number, 1), (few, 1), (few, 20)):
            hosts = [
                medians.HostMean(
                    repetitions[index],
                    index * 1e-9,
                    (0.01 * (odd if index == 1 else 1)) ** 2,
                    0.0,
                )
                for index in range(number)
            ]
            group = medians.MedianGroup(hosts)
            used = [group.estimate(host).deviation for host in hosts]
            draws = generator.normal(0, 1, (4000, number - 1)) * used[1:]
            self.assertAlmostEqual(
                1,
                group.build_reference(hosts[0]).deviation
                / numpy.std(numpy.median(draws, axis=1)),
                delta=0.12,
            )

    def test_error_of_few(self):
        """The median of three is one of two, if the third one is odd."""
        for number in (2, 3):
            hosts = [made.mean(factor) for factor in (1.0, 1.1, 3.0)][:number]
            group = medians.MedianGroup(hosts)
            self.assertAlmostEqual(
                group.estimate(hosts[0]).deviation,
                group.build_reference(hosts[0]).deviation,
            )

    def test_few_repetitions(self):
        """They are no reference, and have no error."""
        few = made.mean(5.0, made.USUAL[:2])
        group = medians.MedianGroup([few, made.mean(), made.mean(0.9)])
        self.assertEqual(math.inf, group.estimate(few).deviation)
        self.assertIsNone(medians.MedianGroup([few, few]).build_reference(few))

    def test_erratic_hosts(self):
        """They have their own variance, and the others are without it."""
        usual = [made.mean(1 + index / 1000) for index in range(8)]
        wild = [
            made.mean(values=(100.0, 140.0, 70.0, 120.0, 90.0, factor))
            for factor in (80.0, 75.0)
        ]
        group = medians.MedianGroup([*usual, *wild])
        for host in wild:
            estimate = group.estimate(host)
            self.assertAlmostEqual(
                (host.variance / 6) ** 0.5, estimate.deviation
            )
            self.assertEqual(5, estimate.freedom)
        self.assertAlmostEqual(
            (usual[0].variance / 6) ** 0.5, group.estimate(usual[0]).deviation
        )
        self.assertEqual(40, group.estimate(usual[0]).freedom)


@ddt.ddt
class TestContrasts(unittest.TestCase):
    """The whole interval decides, by the error within hosts."""

    def decide(self, *pairs, **options):
        return medians.decide_all(pairs, **options)

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
        subject = made.mean(factor, metric=metric)
        (decision,) = self.decide(
            contrast(subject, made.mean(metric=metric), metric=metric)
        )
        self.assertEqual(status, decision.status)
        self.assertAlmostEqual(percent, decision.loss)
        self.assertLess(decision.low, decision.loss)
        self.assertGreater(decision.high, decision.loss)

    def test_interval_of_equal_variances(self):
        """It is that of Student's test of two samples."""
        subject = made.mean(0.9, (100.0, 101.0, 99.0, 100.3, 102.0, 98.0))
        reference = made.mean()
        (decision,) = self.decide(contrast(subject, reference))
        variance = (subject.variance + reference.variance) / 2
        half = 2.228138851964939 * math.sqrt(variance * 2 / 6)
        ratio = math.exp(subject.center - reference.center)
        expected = loss.percent(made.RATE, ratio * math.exp(half))
        self.assertAlmostEqual(expected, decision.low)

    def test_pair(self):
        """Two hosts differ in either direction, or are as they are."""
        for factor, status in (
            (0.9, "differ"),
            (1 / 0.9, "differ"),
            (1.0, "equal"),
            (0.95, "undecided"),
        ):
            pair = dataclasses.replace(
                contrast(made.mean(factor), made.mean()), is_pair=True
            )
            (decision,) = self.decide(pair)
            self.assertEqual(status, decision.status)
            self.assertEqual(factor > 1, decision.loss < 0)

    def test_margin(self):
        """A larger one accepts the loss."""
        sides = made.mean(0.9), made.mean()
        self.assertEqual("worse", self.decide(contrast(*sides))[0].status)
        (decision,) = self.decide(contrast(*sides, margin=12.0))
        self.assertEqual("equal", decision.status)

    @ddt.data(1, 2)
    def test_few_repetitions(self, number):
        """They have no interval, and decide nothing."""
        few = made.mean(0.5, made.USUAL[:number])
        for sides in ((few, made.mean()), (made.mean(0.5), few)):
            (decision,) = self.decide(contrast(*sides))
            self.assertEqual("undecided", decision.status)
            self.assertIsNone(decision.low)

    def test_correction(self):
        """More contrasts widen the interval of an undecided one."""
        border = contrast(made.mean(0.95), made.mean())
        (alone,) = self.decide(border)
        among = self.decide(*[border] * 100)
        self.assertLess(among[0].low, alone.low)
        self.assertAlmostEqual(0.95, alone.confidence)
        self.assertAlmostEqual(0.9995, among[0].confidence)

    def test_step_down(self):
        """Decided contrasts no longer widen the others (Holm)."""
        border = contrast(made.mean(0.95), made.mean())
        equal = contrast(made.mean(), made.mean())
        decisions = self.decide(border, *[equal] * 99)
        self.assertAlmostEqual(0.95, decisions[0].confidence)
        self.assertAlmostEqual(0.9995, decisions[1].confidence)

    def test_spread_between_hosts(self):
        """The error excludes it: two slow hosts do not hide each other."""
        decisions = self.decide(
            *compare_all(*map(made.mean, (0.85, 0.8, 1.0, 1.01)))
        )
        self.assertEqual(
            ["worse", "worse", "better", "better"],
            [decision.status for decision in decisions],
        )

    def test_noisy_host(self):
        """It has its own variance, so that chance does not name it."""
        generator = random.Random(1)
        wild = [100 * math.exp(generator.gauss(0, 0.2)) for _ in range(6)]
        noisy = made.mean(0.85, wild)
        decisions = self.decide(*compare_all(noisy, *[made.mean()] * 9))
        self.assertEqual("undecided", decisions[0].status)
        self.assertGreater(decisions[0].high - decisions[0].low, 30)
        self.assertEqual(
            {"equal"}, {decision.status for decision in decisions[1:]}
        )

    def test_equal_values(self):
        """They are rounded, so that they do not decide with certainty."""
        same = (100.0,) * 6
        (decision,) = self.decide(
            contrast(made.mean(0.9, same), made.mean(values=same))
        )
        self.assertEqual("undecided", decision.status)

    def test_stated_resolution(self):
        """Widens the interval."""
        rough = sample.Metric(
            name="x.rate", unit="1/s", better="higher", resolution=0.04
        )
        (decision,) = self.decide(
            contrast(
                made.mean(0.9, metric=rough),
                made.mean(metric=rough),
                metric=rough,
            )
        )
        self.assertEqual("undecided", decision.status)

    def test_infinite_loss(self):
        """An infinite loss, of a time without bounds, is undecided."""
        wild = (1e-9, 1e9, 1.0)
        (decision,) = self.decide(
            contrast(
                made.mean(values=wild, metric=made.TIME),
                made.mean(values=wild, metric=made.TIME),
                metric=made.TIME,
            )
        )
        self.assertEqual("undecided", decision.status)

    def test_invalid_values(self):
        """They are rejected."""
        for values in ([], [[]], [[0.0]], [[math.nan]]):
            with self.assertRaises((ValueError, ZeroDivisionError)):
                medians.average(made.RATE, values)
