"""Tests of the metrics of every guest."""

import unittest

from rally_vmperf.measurement import guest_metrics


class StealTest(unittest.TestCase):
    def test_share(self):
        """Stolen time is part of requested time; idle guests lose nothing."""
        total = guest_metrics.CpuTime(
            stolen=1, requested=10
        ) + guest_metrics.CpuTime(stolen=2, requested=20)
        observed = guest_metrics.list_steal(
            {"g1": total, "g2": guest_metrics.CpuTime()}
        )
        self.assertEqual(
            [("g1", 10.0), ("g2", 0.0)],
            [
                (observation.source, observation.sample.value)
                for observation in observed
            ],
        )

    def test_metrics(self):
        """All can be zero, and have no loss against bare metal."""
        self.assertEqual(
            {("count", "lower", True)},
            {
                (metric.scale, metric.better, metric.optional)
                for metric in guest_metrics.METRICS
            },
        )
