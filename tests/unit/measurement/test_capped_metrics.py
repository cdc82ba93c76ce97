# SPDX-License-Identifier: Apache-2.0
"""Tests of the directions and the operations of metrics."""

import unittest

import ddt

from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from tests.unit import made


def define(name, unit="ops/s"):
    """Return a rate."""
    return sample.Metric(name, unit, "higher")


READS = define("disk.fio.randread.iops")
READ_BYTES = define("disk.fio.randread.bandwidth", "B/s")
MIXED = [define(f"disk.fio.randrw.{side}.iops") for side in ("read", "write")]
OTHERS = [define("disk.copy.rate", "B/s"), define("other")]


@ddt.ddt
class CappedMetricsTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ("disk.fio.randread.iops", ("read", "total")),
        ("disk.iozone.rewrite.iops", ("write", "total")),
        ("disk.fio.randrw.write.iops", ("write", "total")),
        ("disk.copy.rate", ()),
        ("network.iperf3.to_peer.bandwidth", ("egress",)),
        ("network.iperf3.guest_to_guest.bandwidth", ("egress", "ingress")),
        ("network.other.bandwidth", ()),
    )
    def test_directions(self, name, expected):
        capped = capped_metrics.CappedMetrics([READS, *MIXED, OTHERS[0]], [])
        self.assertEqual(expected, capped.find_directions(define(name)))
        self.assertEqual("randrw" in name, capped.is_mixed(define(name)))

    @ddt.unpack
    @ddt.data(
        ("disk.fio.randread.iops", "ops/s", False),
        ("disk.fio.read.iops", "ops/s", True),
        ("disk.fio.read.bandwidth", "B/s", False),
        ("disk.fio.brand.read.iops", "ops/s", True),
    )
    def test_merged_requests(self, name, unit, expected):
        metric = define(name, unit)
        capped = capped_metrics.CappedMetrics([metric], [])
        self.assertEqual(expected, capped.is_merged(metric))

    @ddt.unpack
    @ddt.data(
        ({READS: [250.0], READ_BYTES: [250.0 * 16384]}, 4),
        ({READS: [250.0], READ_BYTES: [250.0 * 512]}, 1),
        ({READS: [250.0]}, 0),
    )
    def test_operations(self, rates, expected):
        """Their number is zero if the size of a request is not known."""
        conditions = [made.build_condition(1, rates)]
        capped = capped_metrics.CappedMetrics(rates, conditions)
        self.assertAlmostEqual(expected, capped.count_operations(READS, 4096))

    def test_caps(self):
        """A link, and a metric without a direction, keep theirs."""
        caps = [
            rate_caps.disk(1, "B/s", "reads", direction="read"),
            rate_caps.disk(1, "B/s", "writes", direction="write"),
            rate_caps.disk(1, "B/s", "any"),
        ]
        for metric, expected in (
            (READ_BYTES, ["reads", "any"]),
            (OTHERS[0], ["reads", "writes", "any"]),
            (OTHERS[1], []),
        ):
            capped = capped_metrics.CappedMetrics([metric], [])
            applied = capped.list_caps(metric, caps)
            self.assertEqual(expected, [cap.name for cap in applied])
