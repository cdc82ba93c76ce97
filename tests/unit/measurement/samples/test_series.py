# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt
import hypothesis
import hypothesis.strategies as st

from rally_vmperf.measurement.samples import series

#: Steps of time with the value in each.
STEPS = st.lists(
    st.tuples(st.floats(0.01, 100), st.floats(0, 1e9)),
    min_size=1,
    max_size=40,
)


def points(steps):
    """Return the points of steps of time, each with a value."""
    moment, pairs = 0.0, []
    for width, value in steps:
        moment += width
        pairs.append((moment, value))
    return tuple(pairs)


def mean(step_points):
    """Return the mean of a value over time."""
    early, total = 0.0, 0.0
    for moment, value in step_points:
        total += value * (moment - early)
        early = moment
    return total / early


class TestMerged(unittest.TestCase):
    """Several machines as one line."""

    @hypothesis.given(STEPS)
    def test_of_one_machine_the_mean_over_time_stays(self, steps):
        step_points = points(steps)
        line = series.merge_machines([step_points])
        self.assertLessEqual(len(line.mean), series.MERGED_POINTS)
        merged = line.points(line.mean)
        self.assertAlmostEqual(
            mean(step_points),
            mean(merged),
            delta=1e-6 * mean(step_points) + 1e-6,
        )

    @hypothesis.given(st.lists(STEPS, min_size=1, max_size=5))
    def test_the_mean_is_between_the_machines(self, machines):
        line = series.merge_machines([points(steps) for steps in machines])
        for low, middle, high in zip(
            line.low, line.mean, line.high, strict=True
        ):
            self.assertLessEqual(low, middle * (1 + 1e-9))
            self.assertLessEqual(middle, high * (1 + 1e-9))

    def test_two_machines(self):
        """As far as both reach, in even intervals."""
        line = series.merge_machines(
            [
                ((1.0, 10.0), (2.0, 20.0), (3.0, 60.0)),
                ((0.5, 0.0), (1.0, 20.0), (2.0, 40.0)),
            ]
        )
        self.assertEqual(3, len(line.mean))
        self.assertEqual(2.0, line.end)
        for line_values, expected in (
            (line.mean, (7.5, 22.5, 30)),
            (line.low, (5, 15, 20)),
            (line.high, (10, 30, 40)),
        ):
            for merged_mean, other in zip(line_values, expected, strict=True):
                self.assertAlmostEqual(other, merged_mean)

    def test_lines_of_repetitions(self):
        """Their mean only."""
        lines = [
            series.merge_machines([((1.0, value),), ((1.0, value + 2),)])
            for value in (10.0, 20.0)
        ]
        both = series.merge_repetitions(lines)
        self.assertEqual((16.0,), both.mean)
        self.assertEqual((), both.low)


@ddt.ddt
class TestForm(unittest.TestCase):
    """Points that are not a line are rejected."""

    def test_long_ones_are_shortened(self):
        long = tuple((float(at + 1), float(at % 2)) for at in range(3600))
        short = series.shorten(long)
        self.assertEqual(series.MAX_POINTS, len(short))
        self.assertAlmostEqual(0.5, mean(short))

    @ddt.data(
        ((), "at least one point"),
        (((0.0, 1.0),), "rise from zero"),
        (((1.0, 1.0), (1.0, 1.0)), "rise from zero"),
        (((1.0, float("nan")),), "from 0 to"),
        (((1.0, -1.0),), "from 0 to"),
        (((float("inf"), 1.0),), "from 0 to"),
    )
    @ddt.unpack
    def test_what_is_no_series(self, content, message):
        with self.assertRaisesRegex(ValueError, message):
            series.check(content)

    @ddt.data(
        (0.0, (1.0,), (1.0,), "rise from zero"),
        (1.0, (), (), "at least one point"),
        (1.0, (float("nan"),), (1.0,), "from 0 to"),
        (float("inf"), (1.0,), (1.0,), "from 0 to"),
        (1.0, (1.0,), (-1.0,), "from 0 to"),
        (1.0, (1.0, 2.0), (1.0,), "must have the same length"),
    )
    @ddt.unpack
    def test_what_is_no_line(self, end, mean, low, message):
        with self.assertRaisesRegex(ValueError, message):
            series.MeanSeries(end=end, mean=mean, low=low, high=mean)
