# SPDX-License-Identifier: Apache-2.0
"""Tests of the metrics of every guest."""

import unittest

import ddt

from rally_vmperf.measurement import guest_metrics


@ddt.ddt
class CpuSharesTest(unittest.TestCase):
    def test_shares(self):
        """Stolen time is part of requested time; idle guests lose nothing."""
        total = guest_metrics.CpuTime(
            stolen=1, requested=10, available=40
        ) + guest_metrics.CpuTime(stolen=2, requested=20, available=60)
        observed = guest_metrics.list_cpu_shares(
            {"g1": total, "g2": guest_metrics.CpuTime()}
        )
        steal, used = guest_metrics.STEAL_PERCENT, guest_metrics.USED_PERCENT
        self.assertEqual(
            [("g1", steal, 10.0), ("g1", used, 27.0), ("g2", steal, 0.0)],
            [
                (each.source, each.sample.metric, each.sample.value)
                for each in observed
            ],
        )

    def test_used_share_is_at_most_all(self):
        """Uptime and ticks are read one after the other."""
        cpu_time = guest_metrics.CpuTime(requested=101, available=100)
        self.assertEqual(1.0, cpu_time.used_share)

    @ddt.unpack
    @ddt.data((50, 50, 100), (0, 30, 30), (100, 0, 0))
    def test_requested_share(self, stolen, used, requested):
        self.assertEqual(
            requested, guest_metrics.find_requested_percent(stolen, used)
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
