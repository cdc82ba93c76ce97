# SPDX-License-Identifier: Apache-2.0
import json
import unittest

import ddt
import hypothesis
import hypothesis.strategies as st
import numpy

from rally_vmperf.measurement.samples import histogram

VALUES = st.lists(
    st.floats(histogram.LOWEST, histogram.HIGHEST), min_size=1, max_size=60
)
PERCENT = st.sampled_from([0.01, 1, 50, 90, 99, 99.9, 99.99, 100])


def of(values):
    """Return the histogram of values that came once each."""
    return histogram.Histogram.of((value, 1) for value in values)


class TestMerged(unittest.TestCase):
    """Several are one: whatever the order, as if all had been counted."""

    @hypothesis.given(VALUES, VALUES, VALUES)
    def test_merging_is_associative_and_loses_nothing(
        self, first_values, two, three
    ):
        first, second, third = of(first_values), of(two), of(three)
        left = histogram.merge([histogram.merge([first, second]), third])
        right = histogram.merge([first, histogram.merge([third, second])])
        self.assertEqual(left, right)
        self.assertEqual(of(first_values + two + three), left)
        self.assertEqual(len(first_values + two + three), left.count)

    @hypothesis.given(VALUES)
    def test_buckets_are_bounded(self, values):
        self.assertLessEqual(len(of(values).counts), histogram.BUCKETS)
        self.assertEqual(2419, histogram.BUCKETS)

    def test_a_merged_percentile_is_no_mean_of_percentiles(self):
        """One guest of two is slow: it has half of all values."""
        fast, slow = of([0.001] * 100), of([0.1] * 100)
        both = histogram.merge([fast, slow])
        self.assertAlmostEqual(0.1, both.percentile(99), delta=0.001)
        self.assertAlmostEqual(0.001, both.percentile(50), delta=0.00001)


@ddt.ddt
class TestPercentile(unittest.TestCase):
    """Percentiles are within 1 % of those of the values."""

    @hypothesis.given(VALUES, PERCENT)
    def test_within_1_percent_of_numpy(self, values, percent):
        exact = numpy.percentile(values, percent, method="inverted_cdf")
        estimate = of(values).percentile(percent)
        self.assertLessEqual(abs(estimate / exact - 1), 0.01 + 1e-9)

    @hypothesis.given(VALUES)
    def test_shares_ascend_to_all(self, values):
        shares = of(values).shares()
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(1, shares[-1][1])

    @ddt.data(
        (50, 20),
        (90, 100),
        (95, 200),
        (99, 1000),
        (99.9, 10000),
        (99.99, 100000),
    )
    @ddt.unpack
    def test_ten_values_have_to_lie_beyond(self, percent, least):
        enough = histogram.Histogram.of([(1.0, least)])
        self.assertTrue(enough.supports(percent))
        few = histogram.Histogram.of([(1.0, least - 1)])
        self.assertFalse(few.supports(percent))

    def test_of_nothing(self):
        with self.assertRaisesRegex(ValueError, "empty histogram"):
            histogram.merge([]).percentile(50)


@ddt.ddt
class TestForm(unittest.TestCase):
    """As JSON it comes back; what is none is refused."""

    @hypothesis.given(VALUES)
    def test_it_comes_back(self, values):
        plain = json.loads(json.dumps(of(values).plain()))
        self.assertEqual(of(values), histogram.Histogram.from_plain(plain))

    @hypothesis.given(VALUES, PERCENT)
    def test_several_buckets_as_one(self, values, percent):
        """To be drawn, within 5 % of each value."""
        whole = of(values)
        drawn = histogram.Histogram.from_plain(whole.plain(bucket_width=5))
        self.assertEqual(whole.count, drawn.count)
        ratio = drawn.percentile(percent) / whole.percentile(percent)
        self.assertLess(abs(ratio - 1), 0.041)
        self.assertEqual(
            whole.plain(bucket_width=5), drawn.plain(bucket_width=5)
        )

    def test_empty_buckets_are_counted_only(self):
        plain = of([1.0, 1.0, 2.0]).plain()
        self.assertEqual(
            {"bucket_width": 1, "first_bucket": 0, "counts": [2, -34, 1]},
            plain,
        )

    @ddt.data(0, -1.0, float("nan"), float("inf"), 1e-10, 1e13)
    def test_values_out_of_bounds(self, value):
        with self.assertRaisesRegex(ValueError, "must be from 1e-09"):
            of([value])

    @ddt.data(
        (
            {"bucket_width": 1, "first_bucket": 10**6, "counts": [1]},
            "bucket 1000000: must be from",
        ),
        (
            {"bucket_width": 1, "first_bucket": 0, "counts": [0]},
            "count 0: must be",
        ),
        (
            {"bucket_width": 1, "first_bucket": 0, "counts": [10**16]},
            "must be from 1 to",
        ),
        (
            {"bucket_width": 1, "first_bucket": 0, "counts": [1, -(10**9), 1]},
            "must be from",
        ),
    )
    @ddt.unpack
    def test_what_is_no_histogram(self, plain, message):
        with self.assertRaisesRegex(ValueError, message):
            histogram.Histogram.from_plain(plain)
