# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import max_guests

P, F, U, V = "passed", "failed", "inconclusive", "void"


@ddt.ddt
class TestedTestCase(unittest.TestCase):
    @ddt.data(
        ("all passed", {1: P, 2: P, 3: P}, 3, 3, None),
        ("the next one failed", {1: P, 2: P, 3: F}, 2, 2, 2),
        ("with a gap", {1: P, 2: P, 4: P, 8: F}, 4, 4, 7),
        ("even the first", {1: F, 2: F}, 0, 0, 0),
        ("no first", {2: F, 4: F}, 0, 0, 1),
        ("undecided", {1: P, 2: U, 3: F}, None, 1, 2),
        ("undecided at the end", {1: P, 2: P, 3: U}, None, 2, None),
        ("void", {1: P, 2: V, 3: P}, None, 1, None),
        ("a later pass does not count", {1: P, 2: F, 3: P}, 1, 1, 1),
        ("undecided first", {1: U, 2: P}, None, 0, None),
        ("nothing", {}, None, None, None),
    )
    @ddt.unpack
    def test_measured_levels(self, name, verdicts, tested, low, high):
        got = max_guests.max_guests(verdicts)
        self.assertEqual((tested, low, high), (got.tested, got.low, got.high))

    @hypothesis.given(
        strategies.dictionaries(
            strategies.integers(1, 20),
            strategies.sampled_from(verdict.Status.__args__),
            min_size=1,
        )
    )
    def test_order_of_the_figures(self, verdicts):
        got = max_guests.max_guests(verdicts)
        if got.tested is not None:
            self.assertEqual(got.low, got.tested)
        if got.high is not None:
            self.assertLessEqual(got.low, got.high)
        for guests, status in verdicts.items():
            if status != P and got.tested is not None:
                self.assertLess(got.tested, guests)


@ddt.ddt
class CombineTestCase(unittest.TestCase):
    """The number of guests that fit within the limits of all metrics."""

    @ddt.data(
        # The metric with the fewest guests decides.
        (((4, 4, None), (2, 2, 3)), (2, 2, 3)),
        (((4, 4, 4), (2, 2, 2)), (2, 2, 2)),
        (((8, 8, None), (8, 8, None)), (8, 8, None)),
        # Nothing is decided by the others until the fewest are.
        (((4, 4, 4), (None, 1, 3)), (None, 1, 3)),
        (((4, 4, 7), (None, 0, None)), (None, 0, 7)),
        (((None, 0, None),), (None, 0, None)),
        # An undecided metric allows at least as many.
        (((2, 2, 2), (None, 2, 5)), (2, 2, 2)),
    )
    @ddt.unpack
    def test_combine(self, metrics, expected):
        got = max_guests.combine(
            max_guests.MaxGuests(tested=tested, low=low, high=high)
            for tested, low, high in metrics
        )
        self.assertEqual(expected, (got.tested, got.low, got.high))

    def test_no_metrics(self):
        self.assertIsNone(max_guests.combine([]))


@ddt.ddt
class SentenceTestCase(unittest.TestCase):
    """How many guests are within a limit, or within all limits."""

    @ddt.data(
        ((2, 2, 3), "at least 2 and at most 3 guests within all limits"),
        ((2, 2, 2), "at most 2 guests within all limits"),
        ((0, 0, 1), "at most 1 guest within all limits"),
        ((0, 0, 0), "not even 1 guest within all limits"),
        (
            (8, 8, None),
            "up to 8 guests, the largest tested number, within all limits",
        ),
        (
            (8, 8, 9),
            "up to 8 guests, the largest tested number, within all limits",
        ),
        (
            (None, 1, 3),
            "undecided how many guests are within all limits, at least 1 and "
            "at most 3",
        ),
        (
            (None, 0, 7),
            "undecided how many guests are within all limits, at most 7",
        ),
        (
            (None, 0, None),
            "undecided how many guests are within all limits",
        ),
    )
    @ddt.unpack
    def test_sentence(self, numbers, sentence):
        tested, low, high = numbers
        number = max_guests.MaxGuests(tested=tested, low=low, high=high)
        self.assertEqual(sentence, number.sentence(None, 8))
        self.assertEqual(
            sentence.replace("all limits", "the limit of 5 %"),
            number.sentence(5, 8),
        )
