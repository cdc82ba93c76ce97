# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement.comparison import statistics

RATES = strategies.lists(strategies.floats(1e-6, 1e6), min_size=2, max_size=9)


@ddt.ddt
class IndexTestCase(unittest.TestCase):
    @ddt.data(
        ("all the same", [5.0, 5.0, 5.0], 1.0),
        ("two of three", [1.0, 1.0, 1e-12], 2 / 3),
        ("one has all", [1e9, 1e-9], 0.5),
        # (1 + 2 + 3)^2 / (3 * (1 + 4 + 9))
        ("by hand", [1.0, 2.0, 3.0], 36 / 42),
        ("by hand too", [50.0, 30.0, 50.0], 130**2 / (3 * 5900)),
        ("too large to be squared", [1e200, 1e200], 1.0),
    )
    @ddt.unpack
    def test_index(self, name, values, expected):
        self.assertAlmostEqual(expected, statistics.jain_index(values))

    @ddt.data([], [7.0])
    def test_nobody_to_share_with(self, values):
        self.assertIsNone(statistics.jain_index(values))
        self.assertIsNone(statistics.spread_percent(values))

    @hypothesis.given(RATES)
    def test_between_one_share_and_all(self, values):
        got = statistics.jain_index(values)
        self.assertLessEqual(1 / len(values) - 1e-12, got)
        self.assertLessEqual(got, 1.0)

    @hypothesis.given(RATES, strategies.floats(1e-6, 1e6))
    def test_of_any_scale(self, values, factor):
        scaled = [value * factor for value in values]
        self.assertAlmostEqual(
            statistics.jain_index(values),
            statistics.jain_index(scaled),
            places=9,
        )

    @hypothesis.given(RATES, strategies.randoms())
    def test_in_any_order(self, values, chance):
        mixed = chance.sample(values, len(values))
        self.assertAlmostEqual(
            statistics.jain_index(values), statistics.jain_index(mixed)
        )

    def test_nothing_is_no_rate(self):
        with self.assertRaises(ValueError):
            statistics.jain_index([1.0, 0.0])
