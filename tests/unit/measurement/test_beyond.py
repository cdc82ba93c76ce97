import unittest

import ddt

from tests.unit import made


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    @ddt.data(
        ("far beyond", made.several(made.FAR), True),
        ("within", made.several(made.NEAR), False),
        ("too early", made.several(made.FAR)[:2], False),
        ("nothing", [], False),
        ("only unreadable", [None] * 5, False),
        (
            "much to come",
            made.several(
                {made.IOPS: (9000.0, 9050.0, 11300.0, 9020.0)},
                planned_repetitions=90,
            ),
            False,
        ),
        (
            "means nothing",
            made.several(made.FAR, findings=made.build_findings("wrong_host")),
            False,
        ),
    )
    @ddt.unpack
    def test_overhead(self, name, entries, beyond):
        self.assertEqual(beyond, made.judge(entries).is_failure_final())

    def test_undecided(self):
        entries = made.several(made.NEAR)
        self.assertFalse(made.judge(entries, {"*": 10.6}).is_failure_final())

    def test_failed_but_not_for_sure(self):
        entries = made.several(made.NEAR)
        limit = made.judgement(entries).rows[0].comparison.low - 0.01
        got = made.judge(entries, {"*": limit})
        self.assertEqual("failed", got.judgement().status)
        self.assertFalse(got.is_failure_final())

    def test_count(self):
        entries = made.several(
            {made.COUNT: (0.0, 9.0, 0.0)}, planned_repetitions=9
        )
        got = made.judge(entries, {}, max={"*": 2})
        self.assertTrue(got.is_failure_final())
