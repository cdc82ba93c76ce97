import math
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits


@ddt.ddt
class LimitsTestCase(unittest.TestCase):
    @ddt.data(
        ("B/s", 8e9), ("ops/s", 1e6), ("bit/s", 4e11), ("s", 1e-6), ("s", 60)
    )
    @ddt.unpack
    def test_likely_values_are_taken(self, unit, value):
        metric = sample.Metric(name="x.y", unit=unit, better="higher")
        self.assertEqual(value, limits.create_sample(metric, value).value)

    @ddt.data(
        ("B/s", 1.1e13),
        ("B/s", -1.0),
        ("B/s", 0.0),
        ("ops/s", 1.1e9),
        ("events/s", math.nan),
        ("bit/s", math.inf),
        ("s", 1e-10),
        ("s", 1e6),
    )
    @ddt.unpack
    def test_absurd_values_are_refused(self, unit, value):
        metric = sample.Metric(name="x.y", unit=unit, better="higher")
        with self.assertRaisesRegex(base.WorkloadError, "^x.y is .*look at"):
            limits.create_sample(metric, value)

    @ddt.data("1", "s", "%")
    def test_count_may_be_zero(self, unit):
        metric = sample.Metric(
            name="x.y", unit=unit, better="lower", scale="count"
        )
        self.assertEqual(0, limits.create_sample(metric, 0).value)

    @ddt.data(("%", 100.1), ("%", -0.1), ("s", -1e-6), ("s", 1e6))
    @ddt.unpack
    def test_absurd_counts_are_refused(self, unit, value):
        metric = sample.Metric(
            name="x.y", unit=unit, better="lower", scale="count"
        )
        with self.assertRaisesRegex(base.WorkloadError, "^x.y is .*look at"):
            limits.create_sample(metric, value)

    def test_bounds_of_its_own(self):
        metric = sample.Metric(
            name="x.y", unit="requests/s", better="higher", bounds=(1.0, 9.0)
        )
        self.assertEqual(9, limits.create_sample(metric, 9).value)
        with self.assertRaisesRegex(base.WorkloadError, "1 to 9"):
            limits.create_sample(metric, 9.1)

    def test_a_unit_without_bounds(self):
        metric = sample.Metric(name="x.y", unit="requests/s", better="higher")
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^metric x.y: unit requests/s has no bounds \(.*; define",
        ):
            limits.create_sample(metric, 5)
