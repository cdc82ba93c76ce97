# SPDX-License-Identifier: Apache-2.0
"""Limits on the shares of guests; losses are in test_density."""

import dataclasses
import unittest

from rally_vmperf.questions.density import question as density
from tests.unit import made

CPU = {made.EVENTS: made.SHARED}


class FairnessTestCase(unittest.TestCase):
    UNFAIR = {made.EVENTS: {1: [100.0], 2: [60.0, 20.0], 3: [50.0] * 3}}  # noqa: RUF012

    def test_index(self):
        got = made.fairness(made.levels(self.UNFAIR), {"*": 0.9})
        self.assertEqual({2: "failed", 3: "passed"}, got.curves[0].statuses)
        self.assertEqual("index", got.rows[0].figure.name)
        self.assertEqual("failed", got.status)
        value = got.limited[0].to_value()
        self.assertTrue(value.is_minimum)
        self.assertEqual(
            (0.8, 0.768, 0.832, 0.9),
            tuple(
                round(number, 3)
                for number in (value.value, value.low, value.high, value.limit)
            ),
        )

    def test_both(self):
        got = made.fairness(made.levels(self.UNFAIR), {"*": 0.5}, {"*": 50})
        self.assertEqual(
            [("index", "passed"), ("spread", "failed")],
            [(each.figure.name, each.status) for each in got.curves],
        )
        # A metric that failed is not among those that passed.
        self.assertEqual(2, len(got.sentences()), got.sentences())

    def test_one_repetition_decides_nothing(self):
        curves = made.levels(self.UNFAIR, count=5)
        fair = made.levels({made.EVENTS: {1: [100.0], 2: [50.0, 50.0]}}, 4)
        mixed = [*fair, dataclasses.replace(curves[0], number=5)]
        got = made.fairness(mixed, {"*": 0.9}, levels=2)
        self.assertEqual("inconclusive", got.status)
        self.assertTrue(made.fairness(mixed, {"*": 0.75}, levels=2).passed)

    def test_more_repetitions_do_not_make_it_fail(self):
        """As the worst of them would, the more of them there are."""
        for count in (3, 10, 30):
            curves = [
                made.repetition(
                    place + 1,
                    [
                        made.level(place + 1, 1, {made.EVENTS: [100.0]}),
                        made.level(
                            place + 1,
                            2,
                            {made.EVENTS: [50.0, 50.0 * (1 + 0.01 * place)]},
                        ),
                    ],
                )
                for place in range(count)
            ]
            got = made.fairness(curves, {"*": 0.98}, levels=2)
            self.assertEqual("passed", got.status, got.sentence())

    def test_half_of_the_run(self):
        """A failure by little can be averted, one by far cannot."""
        curves = [
            made.repetition(
                number,
                [
                    made.level(number, 1, {made.EVENTS: [100.0]}),
                    made.level(number, 2, {made.EVENTS: [60.0, rate]}),
                ],
                planned_repetitions=8,
            )
            for number, rate in enumerate((20.0, 22.0, 18.0, 21.0), 1)
        ]
        for limit, is_final in ((0.85, False), (0.99, True)):
            options = {"min_index": {"*": limit}, "levels": 2}
            judge = density.FAIRNESS.parse(options).create_judge()
            made.feed_judge(judge, curves)
            (row,) = judge.judgement().limited
            self.assertEqual("failed", row.status)
            self.assertEqual(is_final, judge.is_failure_final())

    def test_a_level_that_never_ran(self):
        """It has no figure, and its limit is not met."""
        curves = made.levels(CPU)
        for number in (1, 2, 3):
            level = made.level(number, 3, {}, skip_reason="it fell")
            curves = made.with_level(curves, number, level)
        got = made.fairness(curves, {"*": 0.5}, on_inconclusive="pass")
        self.assertEqual(
            {2: "passed", 3: "inconclusive"}, got.curves[0].statuses
        )
        self.assertEqual(("inconclusive", False), (got.status, got.passed))

    def test_alone(self):
        got = made.fairness(
            made.levels(CPU), {"*": 0.5}, levels=1, on_inconclusive="pass"
        )
        self.assertEqual({1: "inconclusive"}, got.curves[0].statuses)
        self.assertFalse(got.passed)
        self.assertIsNone(got.limited[0].to_value().value)
