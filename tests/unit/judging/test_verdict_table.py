# SPDX-License-Identifier: Apache-2.0
"""Tests of the table of verdicts."""

import unittest

import ddt

from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement import finding
from rally_vmperf.questions import source_judge
from tests.unit import made


def lines(records, **criteria):
    """Return the table of records that are held to these criteria."""
    limits = {f"vmperf_{name}": limit for name, limit in criteria.items()}
    source = made.source_of(records, limits, folder=None)
    return verdict_table.lines(source_judge.judge_source(source))


@ddt.ddt
class TestLines(unittest.TestCase):
    """Text that fits a terminal."""

    def test_gravest_first(self):
        """Each limit has a row with its figure."""
        got = lines(made.records(), overhead=made.LIMITS)
        first_words = [
            line.split()[0] for line in got if line[:1] not in (" ", "")
        ]
        verdicts = [x for x in first_words if x in ("inconclusive", "passed")]
        self.assertEqual(sorted(verdicts), verdicts)
        self.assertLess({"passed"}, set(verdicts))
        rows = "\n".join(got)
        for name in made.METRICS:
            self.assertIn(name, rows)
        self.assertRegex(rows, r"overhead 4\.\d % +[0-9.]+ to [0-9.]+ % +4 %")
        self.assertIn("1 warning: interval_one_session.", got)

    def test_no_limit(self):
        """A run without figures has no table."""
        got = lines(made.records(), valid={})
        self.assertEqual([], [line for line in got if "VERDICT" in line])

    def test_limits_that_are_not_judged(self):
        """They have a row for each reason below the others."""
        limits = {
            "cpu.events.rate": 5,
            "sockperf.*.latency": 15,
            "sockperf.*.lost": 1,
            "gpu.*": 5,
        }
        got = lines(
            made.with_finding(
                made.records(),
                "workload_skipped",
                "sockperf",
                metrics=("sockperf.x.latency", "sockperf.x.lost"),
            ),
            overhead={"max_percent": limits, "unmeasured": "skip"},
        )
        self.assertEqual(
            [
                "not judged: no peer (sockperf.*.latency, sockperf.*.lost)",
                "not judged: no workload measures it (gpu.*)",
            ],
            [line for line in got if "not judged" in line],
        )
        (row,) = (line for line in got if line.startswith("passed "))
        self.assertTrue(got[got.index(row) + 1].startswith("not judged"), got)

    def test_all_fit(self):
        """Also under the names of others."""
        for criteria in (
            {"overhead": made.LIMITS},
            {
                "spread": {
                    "max_cv_percent": {"*": 1.5},
                    "max_range_percent": {"*": 20},
                }
            },
        ):
            got = lines(made.records(guests=2), **criteria)
            self.assertLessEqual(max(map(len, got)), verdict_table.WIDTH)

    def test_density(self):
        """Losses and shares say at how many guests."""
        got = "\n".join(
            lines(
                made.few(made.density_records()),
                degradation={"max_percent": {"*": 1}},
                fairness={"min_index": {"*": 0.1}},
            )
        )
        self.assertRegex(got, r"loss [0-9.]+ % at \d+ guests")
        self.assertRegex(got, r"index [0-9.]+ at \d+ guests")

    def test_not_measured(self):
        """The row says so, and the reason is below the table."""
        got = lines(
            made.few(made.density_records()),
            degradation={"max_percent": {"*": 1}, "levels": 50},
        )
        (row,) = (line for line in got if "not measured" in line)
        self.assertTrue(row.startswith("inconclusive "), row)
        self.assertIn(" not measured at 50 guests ", row)
        self.assertTrue(row.endswith(" 1 %"), row)
        self.assertIn("Not measured: the task has no such level.", got)
        self.assertNotIn("more in the report", "".join(got))

    def test_not_compared(self):
        """The reason names what the measured guests lack."""
        for records, criteria, row, reason in (
            (
                made.guest_records(),
                {"overhead": {"max_percent": {"cpu.events.*": 5}}},
                "not compared ",
                "Not compared: the guests have no baseline to compare with.",
            ),
            (
                made.density_records((2, 4)),
                {"degradation": {"max_percent": {"cpu.sysbench.*": 5}}},
                "not compared at 4 guests",
                "Not compared: the task has no level of one guest to compare "
                "with.",
            ),
        ):
            got = lines(records, **criteria)
            self.assertIn(reason, got)
            self.assertRegex("\n".join(got), f"inconclusive .*{row}")
            self.assertNotIn("measured", "\n".join(got))

    def test_percentages_of_counts(self):
        """A limit that matches counts only is not said to match nothing."""
        got = lines(made.records(), overhead={"max_percent": {"*.retra*": 1}})
        self.assertIn("limit '*.retra*' matches counts only", "\n".join(got))

    def test_headlines_of_four_criteria(self):
        """Each has one line; that of one criterion is wrapped."""
        criteria = {"overhead": {"max_percent": {"*": 15}}}
        got = lines(made.records(), **criteria)
        self.assertFalse(got[0].endswith(" ..."), got[0])
        criteria |= {"spread": {"max_cv_percent": {"*": 1.5}}}
        criteria |= {"valid": {}, "promise": {}}
        got = lines(made.records(), **criteria)
        self.assertTrue(got[0].endswith(" ..."), got[0])
        self.assertTrue(got[4].startswith("VERDICT "), got)

    def test_what_voids(self):
        """Stands below the figures, and nothing can change the terminal."""
        records = made.with_finding(
            made.records(), "wrong_host", detail="\x1b[31m"
        )
        got = lines(records, overhead=made.LIMITS)
        self.assertIn("void", got[0])
        self.assertIn(finding.KINDS["wrong_host"].title, " ".join(got))
        self.assertNotIn("\x1b", "".join(got))
