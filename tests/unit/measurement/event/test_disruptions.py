# SPDX-License-Identifier: Apache-2.0
"""Tests of dips of a rate and spikes of a time during a migration."""

import math
import unittest

import ddt
import numpy

from rally_vmperf.measurement.event import disruptions

#: Rates before the migration: 100 with a deviation of 1.
BEFORE = [99.0, 101.0, 100.0, 99.0, 101.0, 100.0] * 5
#: The same in the seconds before the phase.
POINTS = [(float(end), rate) for end, rate in enumerate(BEFORE, -30)]


def phase(*losses, length=40):
    """Return a rate of about 100 with losses.

    :param losses: Begin, end and lost share of each.
    """
    points = []
    for end in range(1, length + 1):
        rate = BEFORE[end % len(BEFORE)]
        for begun, ended, share in losses:
            inside = min(end, ended) - max(end - 1, begun)
            rate -= 100 * share * max(0, min(1, inside))
        points.append((float(end), rate))
    return points


@ddt.ddt
class TestDisruption(unittest.TestCase):
    """Depth, duration and recovery."""

    usual = disruptions.compute_usual(POINTS)

    def estimate(self, *losses, **options):
        """Return the disruption of a request after 10 s."""
        return disruptions.estimate_disruption(
            self.usual, phase(*losses, **options), 10.0
        )

    @ddt.data((14.0, 20.0), (14.3, 20.3), (14.5, 20.9), (13.9, 20.1))
    @ddt.unpack
    def test_dip(self, begun, ended):
        disruption = self.estimate((begun, ended, 0.4))
        self.assertTrue(disruption.depth.contains(40), disruption)
        self.assertLess(disruption.depth.error, 2)
        self.assertTrue(disruption.duration.contains(ended - begun))
        self.assertLess(disruption.duration.error, 0.3)
        self.assertTrue(disruption.recovery.contains(ended - 10))

    def test_short_dip(self):
        """Its depth is the mean of two intervals of the tool."""
        disruption = self.estimate((15.0, 15.3, 1.0))
        self.assertTrue(disruption.depth.contains(15), disruption)
        self.assertGreaterEqual(disruption.duration.error, 1)

    def test_recovery_is_the_end_of_the_last_dip(self):
        """A brownout of 10 % after a stop of two seconds."""
        disruption = self.estimate((15, 17, 0.9), (17, 27, 0.1))
        self.assertTrue(disruption.depth.contains(90), disruption)
        self.assertTrue(disruption.recovery.contains(17), disruption)

    def test_loss_within_the_tolerance_is_no_dip(self):
        disruption = self.estimate((12, 25, 0.03))
        self.assertEqual(0, disruption.depth.value)
        self.assertEqual(0, disruption.recovery.value)
        self.assertGreater(disruption.depth.error, 0)

    def test_no_recovery(self):
        """The rest of the phase is the least time of a recovery."""
        disruption = self.estimate((15, 40, 0.3))
        self.assertTrue(disruption.depth.contains(30), disruption)
        self.assertIsNone(disruption.recovery)
        self.assertEqual(30, disruption.not_recovered)
        self.assertEqual(0, self.estimate((15, 20, 0.3)).not_recovered)

    def test_deepest_of_several_steps(self):
        """The dip lasts for all of them, and is as deep as the last one."""
        steps = [(12 + 3 * n, 15 + 3 * n, 0.2 + 0.2 * n) for n in range(4)]
        disruption = self.estimate(*steps)
        self.assertTrue(disruption.depth.contains(80), disruption)
        self.assertGreater(disruption.depth.value - disruption.depth.error, 65)
        self.assertTrue(disruption.duration.contains(12), disruption)

    def test_trend(self):
        """A rate that has fallen all along has no dip."""
        before = [
            (moment, rate - 0.1 * (moment + 30)) for moment, rate in POINTS
        ]
        points = [
            (moment, rate - 0.1 * (moment + 30)) for moment, rate in phase()
        ]
        disruption = disruptions.estimate_disruption(
            disruptions.compute_usual(before), points, 10.0
        )
        self.assertEqual(0, disruption.depth.value)

    def test_times(self):
        """A time of 60 times the usual one for 5 s is a spike."""
        usual = disruptions.compute_usual(POINTS, "lower")
        points = phase((14.4, 19.4, -59.0))
        spike = disruptions.estimate_disruption(usual, points, 10.0)
        self.assertTrue(spike.peak.contains(6000), spike)
        self.assertLess(spike.peak.error, 600)
        self.assertTrue(spike.duration.contains(5), spike)
        self.assertTrue(spike.recovery.contains(9.4), spike)

    def noisy(self, deviation, length=40, begin=0):
        """Return times of about 100 that vary at random."""
        random = numpy.random.default_rng(5)
        factors = numpy.exp(random.normal(0, deviation, length))
        return [
            (float(begin + end), float(100 * factor))
            for end, factor in enumerate(factors, 1)
        ]

    def test_high_spike_in_rough_noise(self):
        """However much the times vary, 1000 times as long is a spike."""
        before = self.noisy(0.5, 90, -90)
        points = [
            (end, 1000 * value if 14 < end <= 19 else value)
            for end, value in self.noisy(0.5)
        ]
        usual = disruptions.compute_usual(before, "lower")
        spike = disruptions.estimate_disruption(usual, points, 10.0)
        self.assertGreater(spike.duration.value, 2)

    def test_noise_that_hides_a_disruption(self):
        """It may have lasted until the end of the phase."""
        values = [1.0, 399.0] * 20
        usual = disruptions.compute_usual([*enumerate(values, -40)])
        hidden = disruptions.estimate_disruption(
            usual, [*enumerate(map(float, values), 1)], 10.0
        )
        self.assertTrue(hidden.depth.contains(90))
        self.assertTrue(hidden.duration.contains(25))
        self.assertTrue(hidden.recovery.contains(25))

    def test_peak_is_not_negative(self):
        usual = disruptions.compute_usual(self.noisy(1.5, 15, -15), "lower")
        for number in range(20):
            points = [(float(end), 1.0 + number) for end in range(1, 40)]
            spike = disruptions.estimate_disruption(usual, points, 10.0)
            self.assertGreaterEqual(spike.peak.value, 0)
            self.assertGreaterEqual(spike.peak.error, 0)

    def test_warm_up_is_not_continued_for_ever(self):
        """A loss of 70 % behind a rate that falls at first may be there."""
        rate = [
            (float(end), 100 + 150 * math.exp(-(end + 90) / 30))
            for end in range(-89, 31)
        ]
        points = [
            (end, value * (0.3 if 12 < end <= 27 else 1))
            for end, value in rate[90:]
        ]
        usual = disruptions.compute_usual(rate[:90])
        dip = disruptions.estimate_disruption(usual, points, 1.0)
        self.assertTrue(dip.duration.contains(15), dip)
        self.assertTrue(dip.depth.contains(70), dip)

    def test_time_without_reports(self):
        """A request that takes 20 s is reported in its last second."""
        usual = disruptions.compute_usual(POINTS, "lower")
        points = [point for point in phase() if not 14 < point[0] <= 34]
        points = [
            (end, 900.0 if end == 35 else value) for end, value in points
        ]
        spike = disruptions.estimate_disruption(usual, points, 10.0)
        self.assertTrue(spike.duration.contains(21), spike)

    def test_time_that_falls(self):
        usual = disruptions.compute_usual(POINTS, "lower")
        points = phase((14.4, 19.4, 0.5))
        spike = disruptions.estimate_disruption(usual, points, 10.0)
        self.assertTrue(spike.peak.contains(100), spike)
        self.assertEqual(0, spike.duration.value)

    def test_dip_before_the_request_is_ignored(self):
        self.assertEqual(0, self.estimate((3, 9, 0.5)).depth.value)

    def test_too_few_intervals(self):
        with self.assertRaisesRegex(ValueError, "4 intervals"):
            self.estimate(length=14)


@ddt.ddt
class TestUsualRate(unittest.TestCase):
    """The rate before a migration."""

    @ddt.data([], [1.0] * 4, [0.0] * 10)
    def test_no_reference(self, rates):
        with self.assertRaisesRegex(ValueError, "must be at least 5"):
            disruptions.compute_usual([*enumerate(rates)])

    def test_loss(self):
        usual = disruptions.compute_usual(POINTS)
        loss = disruptions.estimate_loss(
            usual, [(1, 92.0), (2, 93.0), (3, 91.0)]
        )
        self.assertAlmostEqual(8, loss.value)
        self.assertLess(loss.error, 2)

    def test_gain_is_no_loss(self):
        usual = disruptions.compute_usual(POINTS)
        loss = disruptions.estimate_loss(usual, [(1, 110.0)] * 5)
        self.assertEqual((0, 0), (loss.value, loss.error))

    def test_loss_without_rates(self):
        usual = disruptions.compute_usual(POINTS)
        with self.assertRaisesRegex(ValueError, "no interval"):
            disruptions.estimate_loss(usual, [])
