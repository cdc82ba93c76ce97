# SPDX-License-Identifier: Apache-2.0
"""Tests of how much of its work a program had done when."""

import math
import unittest

import ddt
import hypothesis
import hypothesis.strategies as st

from rally_vmperf.measurement.samples import curves

#: Ten units in the first second, one in each of the others.
SLOWING = ((100.0, 0.0), (101.0, 10.0), (103.0, 12.0), (104.0, 13.0))


@ddt.ddt
class CourseTestCase(unittest.TestCase):
    def curve(self, points=SLOWING):
        return curves.build_curve(["m"], points)

    @ddt.data(
        (100, 104, 1.0),
        (0, 1000, 1.0),
        (101, 104, 1 / 3.25),
        (102, 1000, 1 / 3.25),
        (100.5, 102.5, (5 + 1.5) / 2 / 3.25),
        (0, 102, 11 / 2 / 3.25),
    )
    @ddt.unpack
    def test_pace_in_a_window(self, begin, end, expected):
        self.assertAlmostEqual(
            expected, self.curve().relative_rate(begin, end)
        )

    @ddt.data((102.1, 104), (0, 50), (200, 300), (104, 100))
    @ddt.unpack
    def test_too_small_a_window_tells_nothing(self, begin, end):
        self.assertEqual(1.0, self.curve().relative_rate(begin, end))

    def test_a_window_without_work_tells_nothing(self):
        for more in (0, 1e-300, 1e-12):
            stalled = self.curve(((0, 0), (1, 5), (4, 5 + more)))
            self.assertEqual(1.0, stalled.relative_rate(1, 4))
        tiny = self.curve(((0, 0), (1, 1e17), (4, 1e17 + 64)))
        self.assertEqual(1.0, tiny.relative_rate(1, 4))

    @ddt.data(
        (),
        ((1, 0),),
        ((1, 0), (1, 5)),
        ((1, 0), (2, 0)),
        ((1, 0), (2, 5), (3, 4)),
        ((1, 0), (2, math.inf)),
        ((1, 0), (2, 1e308), (3, 1.7e308)),
        ((-1e308, 0), (1e308, 5)),
        ((1, math.nan), (2, 5)),
        ((math.nan, 0), (2, 5)),
        ((2, 0), (1, 5)),
    )
    def test_nonsense_is_none(self, points):
        self.assertIsNone(self.curve(points))

    def test_two_reports_of_one_moment(self):
        curve = self.curve(((1, 0), (2, 4), (2, 5), (3, 8)))
        self.assertEqual(((1, 0), (2, 4), (3, 8)), curve.points)

    @hypothesis.given(
        st.lists(
            st.tuples(st.floats(0.01, 100), st.floats(0, 1e9)),
            min_size=1,
            max_size=12,
        ),
        st.floats(-1, 2),
        st.floats(-1, 2),
    )
    def test_pace_is_a_number_from_zero(self, steps, left, right):
        moment, done = 1e9, 0.0
        points = [(moment, done)]
        for seconds, work in steps:
            moment, done = moment + seconds, done + work
            points.append((moment, done))
        curve = self.curve(points)
        if curve is None:
            self.assertEqual(0, done)
            return
        length = moment - 1e9
        pace = curve.relative_rate(1e9 + left * length, 1e9 + right * length)
        self.assertTrue(math.isfinite(pace) and pace > 0)
        self.assertLessEqual(pace, 2.001)
