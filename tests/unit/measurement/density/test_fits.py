import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fits
from rally_vmperf.measurement.density import law
from tests.unit.measurement.density import test_law

P, F, U, V = "passed", "failed", "inconclusive", "void"


@ddt.ddt
class TestedTestCase(unittest.TestCase):
    @ddt.data(
        ("all passed", {1: P, 2: P, 3: P}, 3, 3, None),
        ("the next one failed", {1: P, 2: P, 3: F}, 2, 2, 2),
        ("with a gap", {1: P, 2: P, 4: P, 8: F}, 4, 4, 7),
        ("even the first", {1: F, 2: F}, 0, 0, 0),
        ("undecided", {1: P, 2: U, 3: F}, None, 1, 2),
        ("undecided at the end", {1: P, 2: P, 3: U}, None, 2, None),
        ("void", {1: P, 2: V, 3: P}, None, 1, None),
        ("a later pass does not count", {1: P, 2: F, 3: P}, 1, 1, 1),
        ("undecided first", {1: U, 2: P}, None, 0, None),
        ("nothing", {}, None, None, None),
    )
    @ddt.unpack
    def test_without_law(self, name, verdicts, tested, low, high):
        got = fits.max_guests(verdicts, 10, None)
        self.assertEqual((tested, low, high), (got.tested, got.low, got.high))
        self.assertIsNone(got.predicted)
        self.assertFalse(got.extrapolated)

    @hypothesis.given(
        strategies.dictionaries(
            strategies.integers(1, 20),
            strategies.sampled_from(verdict.Status.__args__),
            min_size=1,
        )
    )
    def test_order_of_the_figures(self, verdicts):
        got = fits.max_guests(verdicts, 10, None)
        if got.tested is not None:
            self.assertEqual(got.low, got.tested)
        if got.high is not None:
            self.assertLessEqual(got.low, got.high)
        for guests, status in verdicts.items():
            if status != P and got.tested is not None:
                self.assertLess(got.tested, guests)


@ddt.ddt
class PredictedTestCase(unittest.TestCase):
    LAW = law.fit_totals(test_law.planted(300, 0.05, 0.002, (1, 2, 4, 8)))
    PASSED = {1: P, 2: P, 4: P, 8: P}  # noqa: RUF012

    # 0.05 * (n - 1) + 0.002 * n * (n - 1) <= limit / (100 - limit)
    @ddt.data((25, 6), (40, 10))
    @ddt.unpack
    def test_by_hand(self, limit, expected):
        verdicts = {
            n: P if self.LAW.loss(n).value <= limit else F
            for n in (1, 2, 4, 8)
        }
        got = fits.max_guests(verdicts, limit, self.LAW)
        self.assertEqual(expected, got.predicted)
        beyond = expected > 8
        ends = (None, None) if beyond else (expected, expected)
        self.assertEqual(ends, (got.predicted_low, got.predicted_high))
        self.assertEqual(beyond, got.extrapolated)
        # What is measured says no more for it.
        tested = max(n for n, status in verdicts.items() if status == P)
        self.assertEqual((tested, tested), (got.tested, got.low))

    def test_exactly_the_limit(self):
        limit = self.LAW.loss(5).value
        got = fits.max_guests({1: P, 2: P, 4: P, 8: F}, limit, self.LAW)
        self.assertEqual(5, got.predicted)

    def test_measured_is_not_overruled(self):
        got = fits.max_guests({1: P, 2: P, 4: P, 8: F}, 99, self.LAW)
        self.assertEqual((4, 7), (got.tested, got.predicted))
        got = fits.max_guests(self.PASSED, 1, self.LAW)
        self.assertEqual((8, 8), (got.tested, got.predicted))
        self.assertFalse(got.extrapolated)

    def test_too_far_off(self):
        free = law.fit_totals(test_law.planted(300, 0, 0, (1, 2, 4, 8)))
        for fitted, limit in ((free, 5), (self.LAW, 50)):
            got = fits.max_guests(self.PASSED, limit, fitted)
            self.assertIsNone(got.predicted)
            self.assertEqual((8, None), (got.low, got.high))

    @ddt.data(
        # The law predicts 10, and beyond 12 nothing.
        (40, 9, 9, True),
        (40, 10, 10, False),
        (40, 11, 10, False),
        (50, 10, 10, True),
        (50, 12, None, False),
        # Overcommitted guests were measured: these stand.
        (40, 4, 8, True),
        # And where the law itself ends before, the host bounds nothing.
        (25, 4, 8, False),
    )
    @ddt.unpack
    def test_what_the_host_holds(self, limit, guests, predicted, bound):
        room = repetition.HostLimit(
            guests=guests, resource="the 8 processors of h"
        )
        got = fits.max_guests(self.PASSED, limit, self.LAW, room)
        self.assertEqual(predicted, got.predicted)
        self.assertEqual(room if bound else None, got.host_limit)
        self.assertEqual(8, got.tested)

    def test_predictions_move_no_bound(self):
        """Four passed, eight failed: the tests say no more than that."""
        got = fits.max_guests({1: P, 2: P, 4: P, 8: F}, 20, self.LAW)
        self.assertEqual((4, 4, 7), (got.tested, got.low, got.high))
        self.assertEqual(5, got.predicted)

    def test_poor_fit_moves_no_bound(self):
        """Two processors: the law predicts 1, and 2 guests passed."""
        knee = law.fit_totals({n: [300.0 * min(n, 2)] for n in (1, 2, 4, 8)})
        self.assertGreater(knee.loss(2).value, 10)
        got = fits.max_guests({1: P, 2: P, 4: F, 8: F}, 10, knee)
        self.assertEqual((2, 2, 3), (got.tested, got.low, got.high))
        self.assertEqual(2, got.predicted)

    def test_interval_of_noisy_totals(self):
        noisy = law.fit_totals(
            test_law.noisy(
                test_law.planted(300, 0.05, 0.002, (1, 2, 4, 8)), 0.05, 5
            )
        )
        got = fits.max_guests({1: P, 2: P, 4: U, 8: F}, 25, noisy)
        self.assertLess(got.predicted_low, got.predicted)
        self.assertGreater(got.predicted_high, got.predicted)
        self.assertTrue(got.predicted_low <= 6 <= got.predicted_high)
