import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import verdict
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

    def test_without_interval(self):
        pair = compare([100.0, 100.0], [10.0, 10.0])
        self.assertEqual("inconclusive", verdict.decide(pair, 15))

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
            words, r": inconclusive, about \d+ more repetitions would decide$"
        )

    def test_no_interval(self):
        pair = compare([100.0] * 3, [90.0])
        self.assertEqual(
            "disk.fio.randread.iops: bare metal 100 ops/s, guest 90.0 ops/s, "
            "overhead 10.0 % (no interval), limit 20 %: inconclusive, about "
            "2 more repetitions would decide",
            verdict.sentence(pair, 20, "inconclusive"),
        )


class NeededTestCase(unittest.TestCase):
    def test_baseline_too_short(self):
        pair = compare([100.0, 100.0], [90.0] * 5)
        got = needed.repetitions_needed(pair, 15)
        self.assertEqual(needed.Needed(bare=3), got)
        self.assertIn("record a baseline with at least 3", got.sentence())

    def test_one_more(self):
        pair = compare([100.0] * 3, [90.0, 90.1])
        got = needed.repetitions_needed(pair, 15)
        self.assertEqual(
            "about 1 more repetition would decide", got.sentence()
        )

    def test_what_is_said_does_decide(self):
        bare = [100.0, 100.5, 99.5, 100.2, 99.8]
        guest = [90.0, 80.0, 85.0]
        pair = compare(bare, guest)
        self.assertEqual("inconclusive", verdict.decide(pair, 20))
        more = needed.repetitions_needed(pair, 20).guest
        self.assertGreater(more, 0)
        # The same variance: a repetition counts as often as it has to.
        logs = statistics.logarithms(pair.guest_values)
        variance = sum((log - sum(logs) / 3) ** 2 for log in logs) / 2
        bare_logs = statistics.logarithms(bare)
        mean = sum(bare_logs) / 5
        bare_variance = sum((log - mean) ** 2 for log in bare_logs) / 4

        def high(count):
            half = statistics.half_width(
                bare_variance, 5, variance, count, 0.95
            )
            ratio = pair.guest / pair.bare
            return loss.percent(made.IOPS, ratio * 2.718281828**-half)

        self.assertLessEqual(high(3 + more), 20)
        self.assertGreater(high(3 + more - 1), 20)

    def test_baseline_too_wide(self):
        pair = compare([100.0, 112.0, 92.0], [90.0, 90.1, 89.9])
        got = needed.repetitions_needed(pair, 15)
        self.assertIsNone(got.guest)
        self.assertGreater(got.bare, 3)

    def test_at_the_limit(self):
        pair = compare([100.0, 101.0, 99.0], [85.0, 86.0, 84.0])
        got = needed.repetitions_needed(pair, pair.overhead_percent)
        self.assertEqual(needed.Needed(), got)
        self.assertIn("not even 100", got.sentence())

    def test_unreachable_limit(self):
        pair = compare([100.0] * 3, [90.0])
        got = needed.repetitions_needed(pair, 150)
        self.assertEqual(needed.Needed(guest=2), got)
