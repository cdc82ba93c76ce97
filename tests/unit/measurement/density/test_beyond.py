# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.questions.density import question as density
from tests.unit import made

CPU = {made.EVENTS: made.SHARED}
BARE = {made.EVENTS: [330.0, 331.0, 329.0]}
EACH_ALONE = made.levels(
    {made.EVENTS: {**made.SHARED, 1: [312.0] * 3}}, batches={1: 3}
)


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    @ddt.data(
        ("too early", made.levels(CPU, 2), {}, False),
        ("worst", EACH_ALONE, {"statistic": "worst"}, True),
        ("lone in turn", made.levels(CPU), {"statistic": "worst"}, False),
        (
            "no bare metal",
            made.levels(CPU),
            {"compare_to": "bare_metal"},
            False,
        ),
        (
            "bare metal",
            made.levels(CPU, bare=BARE),
            {"compare_to": "bare_metal"},
            True,
        ),
        ("void", made.killed(), {"levels": 3}, False),
    )
    @ddt.unpack
    def test_degradation(self, name, curves, arguments, beyond):
        judge = made.judge_of_degradation(curves, {"*": 15}, **arguments)
        self.assertEqual(beyond, judge.is_failure_final())

    def test_much_to_come(self):
        """The best of each side may come again: a solo guest at its worst."""
        noise = (1.0, 1.01, 0.99, 1.004, 0.993)
        rates = {made.EVENTS: {1: [100.0], 2: [80.0, 80.0]}}
        curves = made.levels(rates, 5, noise=noise, apart=True)
        limit = made.degradation(curves).curves[0].points[1].loss.low - 0.01
        got = made.judge_of_degradation(curves, {"*": limit})
        self.assertEqual("failed", got.judgement().status)
        self.assertFalse(got.is_failure_final())
        sure = {"*": 5}
        self.assertTrue(
            made.judge_of_degradation(curves, sure).is_failure_final()
        )
        later = made.levels(
            rates, noise=(1.0, 1.3, 0.8), planned_repetitions=99
        )
        self.assertFalse(
            made.judge_of_degradation(later, sure).is_failure_final()
        )

    @ddt.data((2, False), (3, True))
    @ddt.unpack
    def test_fairness(self, count, beyond):
        judge = made.feed_judge(
            density.FAIRNESS.parse({"min_index": {"*": 0.9}}).create_judge(),
            made.levels({made.EVENTS: {1: [100.0], 2: [60.0, 20.0]}}, count),
        )
        self.assertEqual(beyond, judge.is_failure_final())
