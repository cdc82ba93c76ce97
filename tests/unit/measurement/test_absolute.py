# SPDX-License-Identifier: Apache-2.0
import math
import unittest

import ddt
import numpy
from scipy import stats

from tests.unit import made


def decide(values, limit, is_minimum):
    """Return the status of a limit on values, by scipy's one-sample t test.

    Few repetitions need more to pass, because a rare disturbance may be
    missing: 98.5 % up to ten of them, and less up to twenty.
    """
    logs = numpy.log(values)
    few = min(1, max(0, (20 - len(values)) / 10))
    failing, passing = (
        stats.t.interval(
            confidence, len(logs) - 1, logs.mean(), stats.sem(logs)
        )
        for confidence in (0.95, 1 - 0.05 * 0.3**few)
    )
    bound = math.log(limit)
    if is_minimum:
        bound, failing, passing = (
            -bound,
            [-end for end in failing[::-1]],
            [-end for end in passing[::-1]],
        )
    if passing[1] <= bound:
        return "passed"
    return "failed" if failing[0] > bound else "inconclusive"


@ddt.ddt
class CountsTestCase(unittest.TestCase):
    @ddt.data(
        ((0.0, 1.0, 2.0), 2, "passed", 2.0),
        ((0.0, 3.0, 0.0), 2, "failed", 3.0),
        ((0.0, 0.0, 0.0), 0, "passed", 0.0),
        ((9.0,), 2, "failed", 9.0),
        ((0.0, 0.0), 2, "inconclusive", 0.0),
    )
    @ddt.unpack
    def test_worst_repetition(self, values, limit, status, worst):
        got = made.judgement(
            made.several({made.COUNT: values}), {}, max={"*": limit}
        )
        (row,) = got.absolute
        self.assertEqual(status, got.status)
        self.assertEqual(worst, row.figure.estimate().value)
        self.assertEqual(1.0, row.figure.bare_value)

    def test_one_guest_is_not_averaged_away(self):
        """One of 8 loses 8000 packets: 1000 for each in the mean."""
        entries = [
            made.repetition(
                number,
                [
                    made.build_condition(
                        number, {made.COUNT: [0.0] * 7 + [8000.0]}
                    )
                ],
            )
            for number in (1, 2, 3)
        ]
        got = made.judgement(entries, {}, max={"*": 1000})
        (row,) = got.absolute
        self.assertEqual("failed", got.status)
        self.assertEqual(
            (8000.0, "g8"),
            (
                row.figure.estimate().value,
                row.figure.worst_count.guest,
            ),
        )

    def test_min(self):
        entries = made.several({made.COUNT: (4.0, 6.0, 5.0)})
        for limit, status in ((3, "passed"), (5, "failed")):
            got = made.judgement(entries, {}, min={"*": limit})
            (row,) = got.absolute
            self.assertEqual(("min", status), (row.figure.name, got.status))
            self.assertEqual(
                (4.0, 1),
                (
                    row.figure.estimate().value,
                    row.figure.worst_count.repetition,
                ),
            )

    def test_percentages_are_not_for_counts(self):
        entries = made.several({made.COUNT: (0.0,) * 3})
        got = made.judgement(entries, {"network.*": 15})
        self.assertEqual(("network.*",), got.unmatched)
        self.assertFalse(got.passed)


@ddt.ddt
class RatiosTestCase(unittest.TestCase):
    """Rates and times, held to limits without bare metal."""

    SLOW = {made.TIME: (13.0, 13.02, 12.98, 13.01)}  # noqa: RUF012

    @ddt.data(
        ("max", 13.1, "passed"),
        ("max", 13.0, "inconclusive"),
        ("max", 12.9, "failed"),
        ("min", 12.9, "passed"),
        ("min", 13.0, "inconclusive"),
        ("min", 13.1, "failed"),
        ("max", 0, "failed"),
        ("min", 0, "passed"),
    )
    @ddt.unpack
    def test_by_the_interval(self, figure, limit, status):
        got = made.judgement(
            made.several(self.SLOW), {}, **{figure: {"cpu.*": limit}}
        )
        (row,) = got.absolute
        self.assertEqual((status, status), (row.status, got.status))
        self.assertEqual(figure, row.figure.name)
        self.assertAlmostEqual(13.0025, row.figure.estimate().value, places=4)
        # Student's t with 3 degrees of freedom, by hand on the logarithms.
        self.assertAlmostEqual(12.9753, row.figure.estimate().low, places=4)
        self.assertAlmostEqual(13.0297, row.figure.estimate().high, places=4)
        self.assertAlmostEqual(10.0, row.figure.bare_value, places=2)

    def test_the_table_has_the_interval(self):
        got = made.judgement(made.several(self.SLOW), {}, max={"*": 99})
        self.assertEqual("13.0 s to 13.0 s", got.absolute[0].cells().interval)

    @ddt.data(1, 2)
    def test_few_repetitions_have_no_interval(self, count):
        few = {made.TIME: self.SLOW[made.TIME][:count]}
        for limit in (1, 99):
            got = made.judgement(made.several(few), {}, max={"*": limit})
            self.assertEqual("inconclusive", got.status)
            estimate = got.absolute[0].figure.estimate()
            self.assertEqual((None, None), estimate[1:])

    @ddt.data((4, True), (2, False))
    @ddt.unpack
    def test_forgiven(self, count, passed):
        """A limit inside the interval is, a missing interval is not."""
        few = {made.TIME: self.SLOW[made.TIME][:count]}
        got = made.judgement(
            made.several(few), {}, max={"*": 13}, on_inconclusive="pass"
        )
        self.assertEqual("inconclusive", got.status)
        self.assertEqual(passed, got.passed)
        counts = made.several({made.COUNT: (0.0,) * count})
        got = made.judgement(counts, {}, max={"*": 2}, on_inconclusive="pass")
        self.assertEqual(passed, got.passed)

    @ddt.data(("max", 12.9753, 13.0457), ("min", 12.9595, 13.0297))
    @ddt.unpack
    def test_few_that_vary_more_need_more(self, figure, low, high):
        """The end of the loss is that of 98.5 % where bare metal is steady."""
        steady = made.reference({made.TIME: (10.0, 10.0001, 10.0002)})
        for reference in (steady, made.reference()):
            got = made.judgement(
                made.several(self.SLOW, reference=reference),
                {},
                **{figure: {"*": 13.02}},
            )
            (row,) = got.absolute
            self.assertAlmostEqual(low, row.figure.estimate().low, places=4)
            self.assertAlmostEqual(high, row.figure.estimate().high, places=4)
            self.assertEqual("inconclusive", row.status)

    def test_no_bare_metal_is_needed(self):
        entries = made.several(self.SLOW, reference=made.reference())
        got = made.judgement(entries, {}, max={"*": 15})
        self.assertTrue(got.passed, got.sentence())
        self.assertIsNone(got.absolute[0].figure.bare_value)
        self.assertIsNone(got.absolute[0].figure.means)
        self.assertIsNone(got.compared[0].comparison)

    def test_beside_a_limit_on_the_overhead(self):
        got = made.judgement(
            made.several(self.SLOW), {"*": 15}, max={"cpu.*": 14}
        )
        self.assertEqual(
            [("overhead", "failed"), ("max", "passed")],
            [(row.figure.name, row.status) for row in got.rows],
        )
        self.assertEqual("failed", got.status)

    def test_beyond_return(self):
        entries = made.several(self.SLOW, planned_repetitions=9)
        for limit, status, beyond in (
            (9.0, "failed", True),
            (12.97, "failed", False),
            (12.99, "inconclusive", False),
        ):
            judge = made.judge(entries, {}, max={"*": limit})
            self.assertEqual(status, judge.judgement().status)
            self.assertEqual(beyond, judge.is_failure_final())


@ddt.ddt
class TestIndependentRewrite(unittest.TestCase):
    """The constant of a limit has no variance and no degrees of freedom."""

    @ddt.data(3, 4, 5, 6, 8, 10, 15, 20, 30)
    def test_statuses(self, repetitions):
        """They agree in all cases, also close to the ends."""
        random = numpy.random.default_rng(repetitions)
        seen = set()
        for case in range(60):
            is_minimum = bool(case % 2)
            values = numpy.exp(random.normal(5, 0.05, repetitions)).tolist()
            limit = math.exp(5 + random.normal(0, 0.3 / repetitions**0.5))
            key = "min" if is_minimum else "max"
            (row,) = made.judgement(
                made.several({made.IOPS: values}), {}, **{key: {"*": limit}}
            ).absolute
            expected = decide(values, limit, is_minimum)
            self.assertEqual(expected, row.status, (values, limit, key))
            seen.add(expected)
        self.assertEqual({"passed", "failed", "inconclusive"}, seen)
