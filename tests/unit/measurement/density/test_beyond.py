import unittest

import ddt

from rally_vmperf.measurement.density import judging
from tests.unit.measurement.density import made

CPU = {made.RATE: made.SHARED}
BARE = {made.RATE: [330.0, 331.0, 329.0]}


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    @ddt.data(
        ("far beyond", made.several(CPU), {}, True),
        ("within", made.several(CPU), {"at": 2}, False),
        ("too early", made.several(CPU, 2), {}, False),
        ("nothing", [], {}, False),
        ("only unreadable", [None] * 5, {}, False),
        ("worst", made.several(CPU), {"of": "worst"}, True),
        ("no bare metal", made.several(CPU), {"against": "bare_metal"}, False),
        (
            "bare metal",
            made.several(CPU, bare=BARE),
            {"against": "bare_metal"},
            True,
        ),
        ("void", made.killed(), {"at": 3}, False),
    )
    @ddt.unpack
    def test_degradation(self, name, curves, arguments, beyond):
        judge = made.judge(curves, {"*": 15}, **arguments)
        self.assertEqual(beyond, judge.failed_beyond_return())

    def test_much_to_come(self):
        """The best of each side may come again: a lone guest at its worst."""
        noise = (1.0, 1.01, 0.99)
        rates = {made.RATE: {1: [100.0], 2: [80.0, 80.0]}}
        curves = made.several(rates, noise=noise)
        limit = made.judgement(curves).rows[0].points[1].loss.low - 0.01
        got = made.judge(curves, {"*": limit})
        self.assertEqual("failed", got.judgement().status)
        self.assertFalse(got.failed_beyond_return())
        sure = {"*": 5}
        self.assertTrue(made.judge(curves, sure).failed_beyond_return())
        later = made.several(rates, noise=(1.0, 1.3, 0.8), planned=99)
        self.assertFalse(made.judge(later, sure).failed_beyond_return())

    @ddt.data((2, False), (3, True))
    @ddt.unpack
    def test_fairness(self, count, beyond):
        judge = made.given(
            judging.FairnessJudge({"*": 0.9}),
            made.several({made.RATE: {1: [100.0], 2: [60.0, 20.0]}}, count),
        )
        self.assertEqual(beyond, judge.failed_beyond_return())
