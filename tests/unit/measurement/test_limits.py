import unittest

import ddt

from rally_vmperf.measurement import limits


@ddt.ddt
class LimitsTestCase(unittest.TestCase):
    @ddt.data(
        ("disk.fio.randread.iops", (7.0, "disk.fio.randread.iops")),
        ("disk.fio.randread.clat", (6.0, "disk.fio.randread.*")),
        ("disk.fio.seqread.iops", (5.0, "disk.*.iops")),
        ("disk.fio.seqread.rate", (4.0, "disk.*")),
        ("cpu.a", (3.0, "cpu.[ab]")),
        ("cpu.b", (3.0, "cpu.[ab]")),
        ("cpu.cd", (2.0, "cpu.??")),
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
            self.assertEqual(expected, limits.Limits(order).for_metric(name))

    def test_no_limit(self):
        self.assertIsNone(limits.Limits({"disk.*": 1}).for_metric("cpu.a"))

    def test_names_are_case_sensitive(self):
        self.assertIsNone(limits.Limits({"disk.*": 1}).for_metric("Disk.a"))

    def test_unmatched(self):
        both = limits.Limits({"nic.*": 1, "disk.*": 2, "disc.a": 3})
        self.assertEqual(("disc.a", "nic.*"), both.unmatched(["disk.a"]))

    def test_shadowed_is_matched(self):
        both = limits.Limits({"*": 1, "disk.a": 2})
        self.assertEqual((), both.unmatched(["disk.a"]))

    @ddt.data(float("nan"), float("inf"), True)
    def test_no_number(self, limit):
        with self.assertRaisesRegex(ValueError, "'a'.*must be a number"):
            limits.Limits({"a": limit})

    def test_truth(self):
        self.assertFalse(limits.Limits({}))
        self.assertTrue(limits.Limits({"*": 0}))
