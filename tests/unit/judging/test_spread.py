# SPDX-License-Identifier: Apache-2.0
"""Verdicts on spread."""

import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.overhead import question as overhead
from tests.unit import made

NAME = made.IOPS.name
#: 9 % from the smallest to the largest.
WIDE = {made.IOPS: (11000.0, 11900.0, 11500.0, 11200.0, 11600.0)}


def judge(entries, **arguments):
    return made.feed_judge(
        overhead.SPREAD.parse(arguments).create_judge(), entries
    )


def judgement(entries, **arguments):
    return judge(entries, **arguments).judgement()


def held(judged):
    """Return the only row that has a limit."""
    (row,) = judged.limited
    return row


@ddt.ddt
class FigureTestCase(unittest.TestCase):
    """Without an interval the figure decides, from three repetitions on."""

    def test_figures_are_those_of_both_sides(self):
        judged = judgement(made.several(WIDE), max_cv_percent={"*": 1})
        sides = (
            statistics.find_spread(WIDE[made.IOPS]),
            statistics.find_spread(made.BARE[made.IOPS]),
        )
        rows = judged.by_metric[NAME]
        self.assertEqual(list(spreads.NAMES), [r.figure.name for r in rows])
        for row in rows:
            for side, values in zip(
                sides, (row.figure.guest, row.figure.bare), strict=True
            ):
                expected = getattr(side, row.figure.name)
                self.assertAlmostEqual(expected, row.figure.of(values))

    def test_without_bare_metal(self):
        """The spread of guests needs none."""
        entries = made.several(WIDE, reference=repetition.NO_REFERENCE)
        judged = judgement(entries, max_cv_percent={"*": 1})
        row = held(judged)
        self.assertEqual("failed", row.status)
        self.assertEqual((), row.figure.bare)
        self.assertEqual(2, len(judged.rows))

    def test_guests_of_a_repetition_are_averaged(self):
        """They share its disturbances; the mean is the geometric one."""
        entries = [
            made.repetition(
                number,
                [made.build_condition(number, {made.IOPS: [low, 4e6 / low]})],
            )
            for number, low in enumerate((1000.0, 1500.0, 500.0), 1)
        ]
        row = held(judgement(entries, max_range_percent={"*": 0.001}))
        self.assertEqual(("passed", 3), (row.status, len(row.figure.guest)))
        self.assertAlmostEqual(2000.0, row.figure.guest[0])

    def test_status(self):
        value = statistics.find_spread(WIDE[made.IOPS]).range_percent
        for limit, status in (
            (value + 1e-6, "passed"),
            (value - 1e-6, "failed"),
        ):
            judged = judgement(
                made.several(WIDE), max_range_percent={"disk.*": limit}
            )
            self.assertEqual(
                (status, status), (held(judged).status, judged.status)
            )
            self.assertEqual(status == "passed", judged.passed)

    @ddt.data((2.874, "passed"), (2.872, "inconclusive"))
    @ddt.unpack
    def test_cv_of_five_passes_by_its_upper_end(self, factor, status):
        """It may be 2.87 times as large, and is not what few show of it."""
        limit = factor * statistics.find_spread(WIDE[made.IOPS]).cv_percent
        judged = judgement(
            made.several(WIDE), max_cv_percent={"disk.*": limit}
        )
        self.assertEqual(
            (status, status), (held(judged).status, judged.status)
        )
        value = held(judged).to_value()
        self.assertEqual(
            (3.07, 1.84, 8.81),
            tuple(
                round(number, 2)
                for number in (value.value, value.low, value.high)
            ),
        )

    def test_cv_fails_by_its_lower_end(self):
        value = statistics.find_spread(WIDE[made.IOPS]).cv_percent
        for factor, status in ((0.599, "failed"), (0.6, "inconclusive")):
            limits = {"disk.*": factor * value}
            judged = judgement(made.several(WIDE), max_cv_percent=limits)
            self.assertEqual(status, judged.status)

    def test_counts_have_none(self):
        entries = made.several({**WIDE, made.COUNT: (0.0,) * 5})
        judged = judgement(entries, max_cv_percent={"network.*": 5})
        self.assertEqual({NAME}, {row.metric.name for row in judged.rows})
        self.assertEqual(("network.*",), judged.unmatched)
        self.assertFalse(judged.passed)


class IntervalTestCase(unittest.TestCase):
    """The coefficient of variation is judged by its interval."""

    def test_confidence(self):
        wide, narrow = (
            held(
                judgement(
                    made.several(WIDE),
                    max_cv_percent={"*": 11},
                    confidence=confidence,
                )
            ).figure.interval
            for confidence in (0.99, 0.5)
        )
        self.assertLess(wide[0], narrow[0])
        self.assertGreater(wide[1], narrow[1])

    def test_an_end_is_not_rounded_to_the_limit(self):
        row = held(judgement(made.several(WIDE), max_cv_percent={"*": 1000}))
        low, high = row.figure.interval
        limit = float(f"{high:.3g}")
        self.assertNotEqual(limit, high)
        row = held(judgement(made.several(WIDE), max_cv_percent={"*": limit}))
        shown = row.sentence().split(" to ")[-1].split(" %")[0]
        self.assertNotEqual(limit, float(shown))
        self.assertAlmostEqual(high, float(shown), delta=1e-3 * high)
        self.assertLess(low, limit)


class NeverAPassTestCase(unittest.TestCase):
    """Void and missing samples."""

    def test_metric_without_samples(self):
        """The reason is not the number of repetitions."""
        entries = made.several(WIDE, expected_metrics=(made.IOPS, made.TIME))
        row = held(judgement(entries, max_cv_percent={"cpu.*": 5}))
        self.assertEqual("inconclusive", row.status)
        self.assertEqual(
            "no counted repetition has it for every guest", row.reason
        )

    def test_void(self):
        """A finding about the metric."""
        findings = made.build_findings("guest_rebooted", NAME)
        entries = made.several(WIDE, findings=findings)
        judged = judgement(entries, max_cv_percent={"*": 1000})
        self.assertEqual(
            ("void", "void"), (held(judged).status, judged.status)
        )
        tolerant = judgement(
            entries, max_cv_percent={"*": 1000}, tolerate=["guest_rebooted"]
        )
        self.assertTrue(tolerant.passed, tolerant.sentence())

    def test_figures_that_void_themselves(self):
        """A guest that is faster than bare metal did not do its work."""
        fast = {made.IOPS: (22000.0, 22010.0, 22005.0)}
        judged = judgement(made.several(fast), max_cv_percent={"*": 1000})
        self.assertEqual("void", judged.status)
        self.assertIn(
            "guest_faster", {x.finding.kind for x in judged.findings}
        )

    def test_other_baseline_in_between(self):
        entries = made.several(WIDE)
        other = made.reference({made.IOPS: (9.0, 8.0, 7.0)})
        entries[2] = made.changed(entries[2], reference=other)
        judged = judgement(entries, max_cv_percent={"*": 1000})
        self.assertEqual("void", judged.status)


class MergeTestCase(unittest.TestCase):
    @hypothesis.settings(max_examples=30)
    @hypothesis.given(strategies.floats(1e-3, 1e3))
    def test_of_any_scale(self, factor):
        """Both sides in another unit: the verdict is the same."""
        metric = sample.Metric(name=NAME, unit="x", better="higher")
        values = {metric: [rate * factor for rate in WIDE[made.IOPS]]}
        bare = {metric: [rate * factor for rate in made.BARE[made.IOPS]]}
        judged = judgement(
            made.several(values, reference=made.reference(bare)),
            max_cv_percent={"*": 5},
            max_range_percent={"*": 11},
        )
        self.assertEqual(
            ["passed", "inconclusive"], [row.status for row in judged.limited]
        )


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    """A run stops only where no repetition to come can mend it."""

    @ddt.data(
        ("max_range_percent", 3.0, True),
        ("max_range_percent", 7.8, False),
        ("max_cv_percent", 1.0, True),
        ("max_cv_percent", 1.5, False),
        ("max_cv_percent", 5.0, False),
    )
    @ddt.unpack
    def test_half_of_the_run(self, key, limit, beyond):
        entries = made.several(WIDE, planned_repetitions=10)
        spread_judge = judge(entries, **{key: {"*": limit}})
        self.assertEqual(beyond, spread_judge.is_failure_final())
