# SPDX-License-Identifier: Apache-2.0
"""Tests of the table of verdicts."""

import unittest

import ddt

from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import source_judge
from tests.unit import made
from tests.unit.judging import test_axis

ROWS = test_axis.rows_of({"e1000": 1, "virtio": 3, "same": 1})


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


@ddt.ddt
class GainTestCase(unittest.TestCase):
    """The limit of a gain is the smallest tolerated one."""

    @ddt.data(
        # A gain of 200 % is farther from 50 % than one of 200 % from 150 %.
        (
            {"virtio": {"network.*": 150}},
            {},
            "rate of virtio, .*least limit 150 %",
        ),
        # A small loss, with the largest tolerated one.
        (
            {"virtio": {"network.*": 50}},
            {"same": 0.5},
            "of same, .*least limit -0",
        ),
        (
            {"virtio": {"network.*": 50}},
            {"same": 20},
            "of virtio, .*least limit 5",
        ),
        (
            {"same": {"network.*": 50}},
            {"virtio": 1},
            "of same, .*least limit 50 %",
        ),
    )
    @ddt.unpack
    def test_the_closest(self, gains, losses, expected):
        judgement = test_axis.judge(
            ROWS,
            min_gain_percent=gains,
            max_loss_percent={
                variant: {"network.*": limit}
                for variant, limit in losses.items()
            },
        )
        text = verdict_table.describe_closest_limit(judgement)
        self.assertRegex(text, expected)
        beyond = judgement.status == "failed"
        self.assertEqual(beyond, text.startswith("Furthest beyond: "))


@ddt.ddt
class WordingTestCase(unittest.TestCase):
    """A figure is not a share of its limit."""

    @ddt.data(
        ({"value": 81.14, "limit": 5.0}, "81.1 % (limit 5 %)"),
        (
            {"value": 41.2, "limit": 10.0, "guests": 4},
            "41.2 % at 4 guests (limit 10 %)",
        ),
        (
            {
                "name": "min",
                "unit": "s",
                "value": 0.5,
                "limit": 1.0,
                "is_minimum": True,
            },
            "500 ms (least limit 1.00 s)",
        ),
        ({"reason": "no sample"}, "no sample"),
        ({}, "not measured"),
    )
    @ddt.unpack
    def test_a_figure(self, fields, expected):
        value = verdict.FigureValue(**{"name": "loss", "unit": "%"} | fields)
        self.assertEqual(expected, verdict_table.format_figure(value))

    def test_an_undecided_figure_beyond_its_limit(self):
        """It is not the closest."""
        levels = {made.EVENTS: {1: [300.0], 4: [150.0] * 4}}
        judgement = made.degradation(made.levels(levels, 2), {"*": 10})
        self.assertEqual("inconclusive", judgement.status)
        self.assertEqual(
            "Furthest beyond: cpu.sysbench.rate, "
            "50.0 % at 4 guests (limit 10 %)",
            verdict_table.describe_closest_limit(judgement),
        )
