# SPDX-License-Identifier: Apache-2.0
import fnmatch
import re
import unittest

import ddt

from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample


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
                expected, limits.Limits(order).for_metric(name, self.NAMES)
            )

    @ddt.data(
        # The longer name of one pattern says nothing of what it matches.
        {"*.iops": 5, "disk.*": 20},
        {"cpu.?": 1, "cpu.[ab]": 2},
    )
    def test_conflict(self, patterns):
        clause = limits.Limits(patterns).describe_conflict(
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
        clause = limits.Limits(patterns).describe_conflict(
            map(metric, self.NAMES)
        )
        self.assertEqual("", clause)

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
            limits.Limits(patterns, ("ratio",)).describe_unmatched(
                self.METRICS
            ),
        )
        every_scale = limits.Limits({"disk.*": 1, "nic.*": 2})
        self.assertEqual("", every_scale.describe_unmatched(self.METRICS))
        self.assertIn("none", every_scale.describe_unmatched([]))

    def test_clause_on_counts(self):
        """A count has no percentage, whatever measures it."""
        of_counts = limits.Limits({"nic.retransmits": 1}, ("ratio",))
        self.assertEqual(
            "'nic.retransmits' matches counts only: a count can be 0 and has "
            "no percentage; use max",
            of_counts.describe_unmatched(self.METRICS),
        )

    def test_clause_on_many_patterns(self):
        many = limits.Limits({f"x{number}": 1 for number in range(7)})
        self.assertEqual(
            "'x0', 'x1', 'x2', 'x3', 'x4' and 2 more match no metric (there "
            "are: cpu.rate)",
            many.describe_unmatched(self.METRICS[:1]),
        )

    def test_clause_on_a_conflict(self):
        self.assertEqual(
            "'disk.*' is 5 and '*.rate' is 9, and both match disk.rate; set "
            "a limit for 'disk.rate', or narrow one of the patterns",
            limits.Limits({"disk.*": 5, "*.rate": 9}).describe_conflict(
                self.METRICS
            ),
        )
        single = limits.Limits({"*": 5})
        self.assertEqual("", single.describe_conflict(self.METRICS))

    def test_an_absent_option_has_no_limits(self):
        by_option = limits.LimitsByOption(max=limits.Limits({"*": 1}))
        self.assertTrue(by_option["max"])
        self.assertFalse(by_option["min"])
        self.assertEqual(["max"], list(by_option))

    @ddt.data(float("nan"), float("inf"), True)
    def test_no_number(self, limit):
        with self.assertRaisesRegex(
            ValueError, "'a'.*must be a finite number"
        ):
            limits.Limits({"a": limit})

    def test_truth(self):
        self.assertFalse(limits.Limits({}))
        self.assertTrue(limits.Limits({"*": 0}))
