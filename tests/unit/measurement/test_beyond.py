# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from tests.unit import made


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    @ddt.data(
        ("too early", made.several(made.FAR)[:2], False),
        (
            "much to come",
            made.several(
                {made.IOPS: (9000.0, 9050.0, 11300.0, 9020.0)},
                planned_repetitions=90,
            ),
            False,
        ),
    )
    @ddt.unpack
    def test_overhead(self, name, entries, beyond):
        self.assertEqual(beyond, made.judge(entries).is_failure_final())

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
