import dataclasses
import unittest

import ddt
import hypothesis
import numpy
from hypothesis import strategies

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from tests.unit import made

ORDER = {"failed": 0, "inconclusive": 1, "passed": 2}


def compare(bare, guest, metric=made.IOPS):
    return loss.compare(metric, [[v] for v in bare], [[v] for v in guest])


FIFTH = compare([12300, 12310, 12290], [9870, 9840, 9900])


@ddt.ddt
class DecideTestCase(unittest.TestCase):
    @ddt.data((25, "passed"), (15, "failed"), (19.8, "inconclusive"))
    @ddt.unpack
    def test_status(self, limit, status):
        self.assertEqual(status, verdict.decide(FIFTH, limit))

    def test_the_limit_itself_is_within(self):
        self.assertEqual("passed", verdict.decide(FIFTH, FIFTH.high))
        self.assertEqual("inconclusive", verdict.decide(FIFTH, FIFTH.low))

    @ddt.data(False, True)
    def test_a_side_in_two_states(self, paired):
        """The interval decides, whatever one repetition contributes to it."""
        bare = [[one] for one in (100.0, 100.3, 99.8, 100.1, 99.9, 100.2)]
        slow = [[one] for one in (107.0, 107.1, 106.8, 106.9, 107.2, 103.0)]
        pair = loss.compare(made.TIME, bare, slow, paired=paired)
        (_, kind, _) = pair.departures[0]
        self.assertEqual("bimodal", kind)
        for limit, status in (
            (pair.high + 0.01, "passed"),
            (pair.high - 0.01, "inconclusive"),
            (pair.low - 0.01, "failed"),
        ):
            self.assertEqual(status, verdict.decide(pair, limit))
            within = verdict.may_be_within(pair, limit)
            self.assertEqual(limit >= pair.low, within)

    def test_without_interval(self):
        pair = compare([100.0, 100.0], [10.0, 10.0])
        self.assertEqual("inconclusive", verdict.decide(pair, 15))

    @ddt.data(
        ("bare metal", [1000.0] * 3, [850.9] * 3),
        ("bare metal", [1000.0] * 6, [850.0, 850.3, 849.9]),
        ("the guest", [1000.0, 1000.3, 999.9], [850.0] * 6),
    )
    @ddt.unpack
    def test_values_that_repeat_decide_nothing_nearby(self, name, bare, guest):
        pair = compare(bare, guest)
        for limit in (10, 15, 18):
            self.assertEqual("inconclusive", verdict.decide(pair, limit))
            words = verdict.sentence(pair, limit, "inconclusive")
            self.assertIn(name, words)
            self.assertIn("decide nothing: measure for longer", words)
        self.assertEqual("passed", verdict.decide(pair, 35))
        self.assertEqual("failed", verdict.decide(pair, -10))

    def test_two_values_are_off_by_half_of_what_is_between_them(self):
        pair = compare([1000.0, 1001.0, 1002.0], [850.0, 867.0, 850.0])
        self.assertAlmostEqual(0.01, pair.error)
        self.assertIn("2 different values", pair.quantised)
        exact = compare([1000.0, 1001.0, 1002.0], [850.0, 867.0, 850.1])
        self.assertLess(pair.low, exact.low)
        self.assertGreater(pair.high, exact.high)

    @ddt.data(
        # 100 and 120 us may be 99.22 and 120.94: a loss of 21.9 %.
        ({"resolution": 1 / 128}, 20.0, "inconclusive"),
        ({"resolution": 1 / 128}, 22.0, "passed"),
        ({"resolution": 1 / 128}, 18.0, "failed"),
        ({"step": 1e-6}, 20.0, "inconclusive"),
        ({"step": 1e-6}, 22.5, "passed"),
        ({"step": 1e-6}, 17.5, "failed"),
    )
    @ddt.unpack
    def test_a_known_resolution_widens_the_interval(
        self, known, limit, status
    ):
        metric = dataclasses.replace(made.TIME, **known)
        pair = compare([1e-4] * 5, [1.2e-4] * 5, metric)
        self.assertEqual(status, verdict.decide(pair, limit))

    def test_an_absolute_limit_is_known_exactly(self):
        metric = dataclasses.replace(made.IOPS, resolution=0.01)
        exact = loss.compare(metric, [[100.0]] * 3, [[100.0]] * 3, exact=True)
        measured = loss.compare(metric, [[100.0]] * 3, [[100.0]] * 3)
        self.assertAlmostEqual(0.01, exact.error)
        self.assertAlmostEqual(0.02, measured.error)

    @hypothesis.given(
        strategies.lists(strategies.floats(1, 1e6), min_size=3, max_size=6),
        strategies.lists(strategies.floats(1, 1e6), min_size=3, max_size=6),
        strategies.floats(-1e3, 1e3),
        strategies.floats(0, 1e3),
    )
    def test_a_looser_limit_is_never_worse(self, bare, guest, limit, more):
        pair = compare(bare, guest, made.TIME)
        strict = verdict.decide(pair, limit)
        loose = verdict.decide(pair, limit + more)
        self.assertLessEqual(ORDER[strict], ORDER[loose])


class SentenceTestCase(unittest.TestCase):
    def test_failed(self):
        self.assertEqual(
            "disk.fio.randread.iops: bare metal 12.3 kops/s, guest 9.87 "
            "kops/s, overhead 19.8 % (95 % interval 19.2 to 20.3 %), "
            "limit 15 %: failed",
            verdict.sentence(FIFTH, 15, "failed"),
        )

    def test_inconclusive_says_how_many_more(self):
        words = verdict.sentence(FIFTH, 20, "inconclusive")
        self.assertRegex(
            words,
            r": inconclusive, a new run of about \d+ repetitions would decide "
            "in 4 of 5 cases$",
        )

    def test_no_interval(self):
        pair = compare([100.0] * 3, [90.0])
        self.assertEqual(
            "disk.fio.randread.iops: bare metal 100 ops/s, guest 90.0 ops/s, "
            "overhead 10.0 % (no interval), limit 20 %: inconclusive, at "
            "least 3 repetitions would decide",
            verdict.sentence(pair, 20, "inconclusive"),
        )


class NeededTestCase(unittest.TestCase):
    def test_baseline_too_short(self):
        pair = compare([100.0, 100.0], [90.0] * 5)
        got = needed.required_repetitions(pair, 15)
        self.assertEqual(needed.RequiredRepetitions(bare=3), got)
        self.assertIn("record a baseline with at least 3", got.sentence())

    def test_one_more(self):
        pair = compare([100.0, 100.1, 99.9], [90.0, 90.1])
        got = needed.required_repetitions(pair, 15)
        self.assertEqual(
            "a new run of about 3 repetitions would decide in 4 of 5 cases",
            got.sentence(),
        )

    def test_what_is_said_decides_in_four_of_five_cases(self):
        random = numpy.random.default_rng(3)
        bare = numpy.exp(random.normal(0, 0.02, 30))
        # What is seen of a run is the truth: means and spread.
        bare = (bare / numpy.exp(numpy.log(bare).mean()) * 100).tolist()
        pair = compare(bare, [88.0, 90.1, 92.0, 90.5, 89.4])
        self.assertEqual("inconclusive", verdict.decide(pair, 11.5))
        count = needed.required_repetitions(pair, 11.5).guest
        logs = statistics.logarithms(pair.guest_values)
        theirs = statistics.logarithms(bare)
        decided = sum(
            verdict.decide(
                compare(
                    numpy.exp(
                        random.normal(
                            numpy.mean(theirs), numpy.std(theirs, ddof=1), 30
                        )
                    ).tolist(),
                    numpy.exp(
                        random.normal(
                            numpy.mean(logs), numpy.std(logs, ddof=1), count
                        )
                    ).tolist(),
                ),
                11.5,
            )
            != "inconclusive"
            for _ in range(300)
        )
        self.assertTrue(0.72 < decided / 300 < 0.9, (count, decided))

    def test_a_guest_that_varies_more_needs_more_to_pass(self):
        """As far from the limit on either side, it takes fewer to fail."""
        bare, guest = [100.0, 100.1, 99.9] * 5, [87.0, 92.0, 91.0, 89.0]
        pair = compare(bare, guest)
        counts = {
            limit: needed.required_repetitions(pair, limit).guest
            for limit in (8.2, 12.3)
        }
        self.assertEqual({8.2: 12, 12.3: 14}, counts)

    def test_pairs_of_which_one_side_varies_more(self):
        """They need more as well, and only to pass."""
        steps = (-2, 1, -1, 2, 0)
        bare = [[100 * 1.001**one] for one in steps]
        guest = [[90 * 1.02**one] for one in sorted(steps)]
        pair = loss.compare(made.IOPS, bare, guest, paired=True)
        counts = [
            needed.required_repetitions(pair, limit, True).guest
            for limit in (100 - 90 * 1.035, 100 - 90 / 1.035)
        ]
        self.assertEqual([9, 11], counts)

    def test_close_to_the_limit_it_is_a_guess(self):
        pair = compare([100.0, 101.0, 99.0] * 4, [90.0, 88.0, 92.0])
        self.assertIn(
            "in 4 of 5 cases (a guess, as the overhead is close",
            needed.required_repetitions(pair, 10.9).sentence(),
        )
        self.assertFalse(needed.required_repetitions(pair, 14).approximate)

    def test_baseline_too_wide(self):
        pair = compare([100.0, 112.0, 92.0], [90.0, 90.1, 89.9])
        got = needed.required_repetitions(pair, 15)
        self.assertIsNone(got.guest)
        self.assertGreater(got.bare, 3)

    def test_at_the_limit(self):
        pair = compare([100.0, 101.0, 99.0], [85.0, 86.0, 84.0])
        got = needed.required_repetitions(pair, pair.overhead_percent)
        self.assertEqual(needed.RequiredRepetitions(), got)
        self.assertIn("not even 100", got.sentence())

    def test_unreachable_limit(self):
        pair = compare([100.0] * 3, [90.0])
        got = needed.required_repetitions(pair, 150)
        self.assertEqual(
            needed.RequiredRepetitions(guest=3, minimum=True), got
        )
