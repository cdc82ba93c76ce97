import unittest

import ddt

from tests.unit import made


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
        self.assertEqual(worst, row.value.value)
        self.assertEqual(1.0, row.value.bare)
        self.assertIn(f": {status}", row.sentence())

    def test_percentages_are_not_for_counts(self):
        entries = made.several({made.COUNT: (0.0,) * 3})
        got = made.judgement(entries, {"network.*": 15})
        self.assertEqual(("network.*",), got.unmatched)
        self.assertFalse(got.passed)
