"""Tests of dips of a rate during a migration."""

import unittest

import ddt

from rally_vmperf.measurement.migration import dips

#: Rates before the migration: 100 with a deviation of 1.
BEFORE = [99.0, 101.0, 100.0, 99.0, 101.0, 100.0] * 5


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

    usual = dips.compute_usual_rate(BEFORE)

    def estimate(self, *losses, **options):
        """Return the disruption of a request after 10 s."""
        return dips.estimate_disruption(
            self.usual, phase(*losses, **options), 10.0
        )

    @ddt.data((14.0, 20.0), (14.3, 20.3), (14.5, 20.9), (13.9, 20.1))
    @ddt.unpack
    def test_dip(self, begun, ended):
        disruption = self.estimate((begun, ended, 0.4))
        self.assertTrue(disruption.dip.contains(40), disruption)
        self.assertLess(disruption.dip.error, 2)
        self.assertTrue(disruption.duration.contains(ended - begun))
        self.assertLess(disruption.duration.error, 0.3)
        self.assertTrue(disruption.recovery.contains(ended - 10))

    def test_short_spike(self):
        """Its depth is the mean of an interval of the tool."""
        disruption = self.estimate((15.0, 15.3, 1.0))
        self.assertTrue(disruption.dip.contains(30), disruption)
        self.assertGreaterEqual(disruption.duration.error, 1)

    def test_recovery_is_the_end_of_the_last_dip(self):
        """A brownout of 10 % after a stop of two seconds."""
        disruption = self.estimate((15, 17, 0.9), (17, 27, 0.1))
        self.assertTrue(disruption.dip.contains(90), disruption)
        self.assertTrue(disruption.recovery.contains(17), disruption)

    def test_loss_within_the_tolerance_is_no_dip(self):
        disruption = self.estimate((12, 25, 0.03))
        self.assertEqual(0, disruption.dip.value)
        self.assertEqual(0, disruption.recovery.value)
        self.assertGreater(disruption.dip.error, 0)

    def test_no_recovery(self):
        disruption = self.estimate((15, 40, 0.3))
        self.assertTrue(disruption.dip.contains(30), disruption)
        self.assertIsNone(disruption.recovery)

    def test_dip_before_the_request_is_ignored(self):
        self.assertEqual(0, self.estimate((3, 9, 0.5)).dip.value)

    def test_too_few_intervals(self):
        with self.assertRaisesRegex(ValueError, "4 intervals"):
            self.estimate(length=14)


@ddt.ddt
class TestUsualRate(unittest.TestCase):
    """The rate before a migration."""

    @ddt.data([], [1.0] * 4, [0.0] * 10)
    def test_no_reference(self, rates):
        with self.assertRaisesRegex(ValueError, "must be at least 5"):
            dips.compute_usual_rate(rates)

    def test_loss(self):
        usual = dips.compute_usual_rate(BEFORE)
        loss = dips.estimate_loss(usual, [92.0, 93.0, 91.0])
        self.assertAlmostEqual(8, loss.value)
        self.assertLess(loss.error, 2)

    def test_gain_is_no_loss(self):
        usual = dips.compute_usual_rate(BEFORE)
        loss = dips.estimate_loss(usual, [110.0] * 5)
        self.assertEqual((0, 0), (loss.value, loss.error))

    def test_loss_without_rates(self):
        usual = dips.compute_usual_rate(BEFORE)
        with self.assertRaisesRegex(ValueError, "no interval"):
            dips.estimate_loss(usual, [])
