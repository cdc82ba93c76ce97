# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample

LATENCY = sample.Metric(name="disk.x.latency", unit="s", better="lower")


def distribution(count):
    """Return a distribution of so many values."""
    return sample.Distribution(
        metric=LATENCY, histogram=histogram.Histogram.of([(0.001, count)])
    )


class TestDistribution(unittest.TestCase):
    """A distribution's percentiles are samples of metrics of their own."""

    def test_names(self):
        self.assertEqual(
            [
                f"disk.x.latency_{percentile}"
                for percentile in (
                    "p50",
                    "p90",
                    "p95",
                    "p99",
                    "p99_9",
                    "p99_99",
                )
            ],
            [metric.name for metric in sample.percentiles(LATENCY)],
        )

    def test_they_are_optional_and_do_not_add_up(self):
        for metric in sample.percentiles(LATENCY):
            self.assertTrue(metric.optional)
            self.assertFalse(metric.additive)
            self.assertEqual(("s", "lower"), (metric.unit, metric.better))

    def test_each_machine_has_two_as_far_as_values_support_them(self):
        for count, expected in ((19, 0), (20, 1), (1000, 2), (10**5, 2)):
            with self.subTest(count=count):
                samples = distribution(count).samples()
                self.assertEqual(expected, len(samples))
                for percentile in samples:
                    self.assertAlmostEqual(0.001, percentile.value, delta=1e-5)

    def test_of_nothing_there_is_none(self):
        with self.assertRaisesRegex(ValueError, "disk.x.latency has no value"):
            sample.Distribution(
                metric=LATENCY, histogram=histogram.Histogram({})
            )


class TestSeries(unittest.TestCase):
    """A series is kept as it is, unless it is long."""

    def test_long_ones_are_shortened(self):
        points = tuple((float(at + 1), 1.0) for at in range(2000))
        series = sample.Series(metric=LATENCY, points=points)
        self.assertEqual(600, len(series.points))
        self.assertAlmostEqual(2000.0, series.points[-1][0])
        short = sample.Series(metric=LATENCY, points=points[:5])
        self.assertEqual(points[:5], short.points)
