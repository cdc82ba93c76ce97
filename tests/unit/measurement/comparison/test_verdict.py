# SPDX-License-Identifier: Apache-2.0
import dataclasses
import fnmatch
import re
import unittest

import ddt
import hypothesis
import numpy
from hypothesis import strategies

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from tests.unit import made

#: A metric without rounding, whose values may repeat.
EXACT = dataclasses.replace(made.IOPS, resolution=0.0)
ORDER = {"failed": 0, "inconclusive": 1, "passed": 2}


def compare(bare, guest, metric=made.IOPS):
    return loss.compare(metric, [[v] for v in bare], [[v] for v in guest])


FIFTH = compare([12300, 12310, 12290], [9870, 9840, 9900])


@ddt.ddt
class SeverityTestCase(unittest.TestCase):
    @ddt.data(
        (("passed", "inconclusive", "void", "failed"), "failed"),
        (("passed", "inconclusive", "void"), "void"),
        (("passed", None, "inconclusive"), "inconclusive"),
        (("none", "passed"), "passed"),
        (("none", None), None),
        ((), None),
    )
    @ddt.unpack
    def test_most_severe(self, statuses, status):
        self.assertEqual(status, verdict.find_most_severe(statuses))


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
        bare = [[rate] for rate in (100.0, 100.3, 99.8, 100.1, 99.9, 100.2)]
        slow = [[rate] for rate in (107.0, 107.1, 106.8, 106.9, 107.2, 99.0)]
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
            sentence = verdict.would_decide(pair)
            self.assertIn(name, sentence)
            self.assertIn("so the rounding of the tool is unknown", sentence)
        self.assertEqual("passed", verdict.decide(pair, 35))
        self.assertEqual("failed", verdict.decide(pair, -10))

    def test_few_values_are_off_by_half_of_their_smallest_distance(self):
        bare = [1000.0, 1001.0, 1002.0]
        pair = compare(bare, [850.0, 867.0, 858.5, 850.0])
        self.assertAlmostEqual((867 / 858.5 - 1) / 2, pair.error)
        self.assertEqual(
            "only 3 different values in 4 samples", pair.quantised[:36]
        )
        exact = compare(bare, [850.0, 867.0, 858.5, 850.1])
        self.assertEqual((0, ""), (exact.error, exact.quantised))
        self.assertLess(pair.low, exact.low)
        self.assertGreater(pair.high, exact.high)

    def test_equal_values_are_off_by_a_tenth(self):
        """Two different values are off by half of their distance."""
        for guest, error in (
            ([850.0] * 3, 0.1),
            ([850.0, 867.0, 850.0], 0.01),
        ):
            pair = compare([1000.0, 1001.0, 1002.0], guest)
            self.assertAlmostEqual(error, pair.error)

    def test_means_over_guests_do_not_hide_few_values(self):
        """Eight guests whose tool writes whole seconds have many means."""
        slow = (2, 4, 3, 5, 1)
        bare = [[20.0] * (7 - n) + [21.0] * n + [22.0] for n in slow]
        guest = [[value + 1 for value in values] for values in bare]
        pair = loss.compare(made.TIME, bare, guest)
        self.assertEqual(5, len(set(pair.guest_values)))
        self.assertAlmostEqual((22 / 21 - 1 + 23 / 22 - 1) / 2, pair.error)
        for limit in (4, 5, 6):
            self.assertEqual("inconclusive", verdict.decide(pair, limit))

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
        self, changes, limit, status
    ):
        metric = dataclasses.replace(made.TIME, **changes)
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


class IntervalTestCase(unittest.TestCase):
    def test_the_interval_that_decides(self):
        """Its upper end is of a higher confidence if the guest varies more."""
        pair = compare([100.0, 100.1, 99.9, 100.0], [92.0, 97.0, 95.0, 96.0])
        self.assertLess(pair.plain_high, pair.high)
        self.assertRegex(
            verdict.interval(pair),
            rf"^95 % interval {pair.low:.1f} to {pair.plain_high:.1f} %; to "
            rf"pass {pair.high:.1f} % counts, as the guest varies more$",
        )

    def test_the_interval_of_guests_that_overlapped_in_part(self):
        bare, guest = ([[100.0], [100.1], [99.9]], [[92.0], [92.1], [91.9]])
        pair = loss.compare(made.IOPS, bare, guest, overlap=0.95)
        self.assertRegex(
            verdict.interval(pair, 12),
            rf"; to pass {pair.high:.1f} % counts, as the guests overlapped "
            "in part$",
        )
        self.assertNotIn("to pass", verdict.interval(pair, 5))


class WouldDecideTestCase(unittest.TestCase):
    def test_baseline_too_short(self):
        pair = compare([100.0, 100.0], [90.0] * 5)
        self.assertEqual(
            "at least 5 repetitions of bare metal are needed to say",
            verdict.would_decide(pair),
        )

    def test_no_number_of_repetitions_is_promised(self):
        pair = compare([100.0, 101.0, 99.0], [85.0, 86.0, 84.0])
        self.assertEqual(
            "more repetitions on both sides narrow the interval",
            verdict.would_decide(pair),
        )

    def test_too_coarse(self):
        pair = compare([100.0] * 3, [90.0] * 3)
        self.assertRegex(
            verdict.would_decide(pair),
            "rounding of the tool is unknown: measure for longer",
        )


@ddt.ddt
class DecidableDistanceTestCase(unittest.TestCase):
    @ddt.data((3, 4.4), (5, 2.4), (8, 1.7), (10, 1.5), (15, 1.1))
    @ddt.unpack
    def test_multiple_of_the_noise(self, count, expected):
        """These figures were simulated independently."""
        distance = needed.decidable_distance(count, count)
        self.assertAlmostEqual(expected, distance, delta=0.15)

    def test_no_interval(self):
        self.assertIsNone(needed.decidable_distance(5, 2))

    def test_all_guests_at_this_distance_pass_in_four_of_five_runs(self):
        """Each is compared with the mean of the copies on bare metal."""
        random = numpy.random.default_rng(3)
        guests, noise, limit = 4, 0.02, 10
        distance = noise * needed.decidable_distance(5, 5, guests=4, copies=4)
        lost = needed.passing_loss(made.IOPS, limit, distance)
        ratio = loss.ratio(made.IOPS, lost)
        passed = 0
        for _ in range(300):
            bare, values = numpy.exp(random.normal(0, noise, (2, 5, guests)))
            passed += all(
                loss.compare(
                    made.IOPS,
                    bare.tolist(),
                    ratio * values[:, [guest]],
                ).high
                <= limit
                for guest in range(guests)
            )
        self.assertAlmostEqual(0.8, passed / 300, delta=0.08)

    def test_a_guest_at_this_distance_passes_in_four_of_five_runs(self):
        random = numpy.random.default_rng(3)
        limit, noise = 10, 0.02
        distance = noise * needed.decidable_distance(5, 5)
        for metric in (made.TIME, made.IOPS):
            lost = needed.passing_loss(metric, limit, distance)
            self.assertLess(lost, limit - 3)
            ratio = loss.ratio(metric, lost)
            passed = sum(
                verdict.decide(
                    compare(
                        numpy.exp(random.normal(0, noise, 5)).tolist(),
                        (
                            ratio * numpy.exp(random.normal(0, noise, 5))
                        ).tolist(),
                        metric,
                    ),
                    limit,
                )
                == "passed"
                for _ in range(300)
            )
            self.assertTrue(0.72 < passed / 300 < 0.88, passed)


def metric(name):
    """Return a rate with a name."""
    return sample.Metric(name, "1/s", "higher")


@ddt.ddt
class LimitsTestCase(unittest.TestCase):
    NAMES = (
        "disk.fio.randread.iops",
        "disk.fio.randread.clat",
        "disk.fio.seqread.iops",
        "disk.fio.seqread.rate",
        "nic.iops",
        *("cpu.a", "cpu.b", "cpu.cd", "cpu.long"),
        "memory.copy",
    )

    @ddt.data(
        ("disk.fio.randread.iops", (7.0, "disk.fio.randread.iops")),
        ("disk.fio.randread.clat", (6.0, "disk.fio.randread.*")),
        ("disk.fio.seqread.iops", (5.0, "disk.*.iops")),
        ("disk.fio.seqread.rate", (4.0, "disk.*")),
        ("cpu.a", (3.0, "cpu.[ab]")),
        ("cpu.b", (3.0, "cpu.[ab]")),
        ("cpu.cd", (2.0, "cpu.??")),
        ("cpu.long", (9.0, "cpu.*")),
        ("memory.copy", (1.0, "*")),
    )
    @ddt.unpack
    def test_most_exact_wins(self, name, expected):
        patterns = {
            "*": 1,
            "cpu.*": 9,
            "cpu.??": 2,
            "cpu.[ab]": 3,
            "disk.*": 4,
            "disk.*.iops": 5,
            "disk.fio.randread.*": 6,
            "disk.fio.randread.iops": 7,
        }
        for order in (patterns, dict(reversed(patterns.items()))):
            self.assertEqual(
                expected, verdict.Limits(order).for_metric(name, self.NAMES)
            )

    @ddt.data(
        # The longer name of one pattern says nothing of what it matches.
        {"*.iops": 5, "disk.*": 20},
        {"cpu.?": 1, "cpu.[ab]": 2},
    )
    def test_conflict(self, patterns):
        clause = verdict.Limits(patterns).describe_conflict(
            map(metric, self.NAMES)
        )
        name = re.search(r"match (\S+);", clause)[1]
        for pattern in patterns:
            self.assertIn(f"{pattern!r} is {patterns[pattern]}", clause)
            self.assertTrue(fnmatch.fnmatchcase(name, pattern))

    @ddt.data(
        {"*": 1, "disk.*": 2, "disk.*.iops": 3},
        {"cpu.*": 9, "cpu.[ab]": 3, "cpu.a": 1},
        {"*.iops": 5, "disk.*": 5},
        # One that decides stands below both.
        {"*.iops": 5, "disk.*": 20, "disk.*.iops": 6, "nic.iops": 1},
        {},
    )
    def test_no_conflict(self, patterns):
        clause = verdict.Limits(patterns).describe_conflict(
            map(metric, self.NAMES)
        )
        self.assertEqual("", clause)

    def test_no_limit(self):
        self.assertIsNone(verdict.Limits({"disk.*": 1}).for_metric("cpu.a"))

    def test_names_are_case_sensitive(self):
        self.assertIsNone(verdict.Limits({"disk.*": 1}).for_metric("Disk.a"))

    def test_unmatched(self):
        both = verdict.Limits({"nic.*": 1, "disk.*": 2, "disc.a": 3})
        self.assertEqual(("disc.a", "nic.*"), both.unmatched(["disk.a"]))

    def test_shadowed_is_matched(self):
        both = verdict.Limits({"*": 1, "disk.a": 2})
        self.assertEqual((), both.unmatched(["disk.a"]))

    METRICS = (
        sample.Metric("cpu.rate", "1/s", "higher"),
        sample.Metric("disk.rate", "1/s", "higher"),
        sample.Metric("disk.time", "s", "lower"),
        sample.Metric("nic.retransmits", "1", "lower", scale="count"),
    )

    def test_clause_on_an_unmatched_pattern(self):
        """It names what the limits could apply to, without counts."""
        patterns = {"disk.*": 1, "nvme.*": 2}
        self.assertEqual(
            "'nvme.*' matches no metric (there are: cpu.rate, disk.rate, "
            "disk.time)",
            verdict.Limits(patterns, ("ratio",)).describe_unmatched(
                self.METRICS
            ),
        )
        every_scale = verdict.Limits({"disk.*": 1, "nic.*": 2})
        self.assertEqual("", every_scale.describe_unmatched(self.METRICS))
        self.assertIn("none", every_scale.describe_unmatched([]))

    def test_clause_on_counts(self):
        """A count has no percentage, whatever measures it."""
        of_counts = verdict.Limits({"nic.retransmits": 1}, ("ratio",))
        self.assertEqual(
            "'nic.retransmits' matches counts only: a count can be 0 and has "
            "no percentage; use max",
            of_counts.describe_unmatched(self.METRICS),
        )

    def test_clause_on_many_patterns(self):
        many = verdict.Limits({f"x{number}": 1 for number in range(7)})
        self.assertEqual(
            "'x0', 'x1', 'x2', 'x3', 'x4' and 2 more match no metric (there "
            "are: cpu.rate)",
            many.describe_unmatched(self.METRICS[:1]),
        )

    def test_clause_on_a_conflict(self):
        self.assertEqual(
            "'disk.*' is 5 and '*.rate' is 9, and both match disk.rate; set "
            "a limit for 'disk.rate', or narrow one of the patterns",
            verdict.Limits({"disk.*": 5, "*.rate": 9}).describe_conflict(
                self.METRICS
            ),
        )
        single = verdict.Limits({"*": 5})
        self.assertEqual("", single.describe_conflict(self.METRICS))

    def test_an_absent_option_has_no_limits(self):
        by_option = verdict.LimitsByOption(max=verdict.Limits({"*": 1}))
        self.assertTrue(by_option["max"])
        self.assertFalse(by_option["min"])
        self.assertEqual(["max"], list(by_option))

    @ddt.data(float("nan"), float("inf"), True)
    def test_no_number(self, limit):
        with self.assertRaisesRegex(
            ValueError, "'a'.*must be a finite number"
        ):
            verdict.Limits({"a": limit})

    def test_truth(self):
        self.assertFalse(verdict.Limits({}))
        self.assertTrue(verdict.Limits({"*": 0}))
