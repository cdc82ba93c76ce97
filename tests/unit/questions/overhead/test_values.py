# SPDX-License-Identifier: Apache-2.0
"""Tests of what is shown of a run without bare metal."""

import re
import unittest

from rally_vmperf.judging import verdict_table
from rally_vmperf.report import export
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page

LIMITS = {"vmperf_overhead": made.VALUE_LIMITS}
#: What only bare metal has, or only what is compared with it.
BARE = re.compile("bare metal|no such metric", re.IGNORECASE)


class ValuesTestCase(unittest.TestCase):
    """The figures are the values of the guests, with intervals."""

    def setUp(self):
        """Judge a run."""
        super().setUp()
        self.run = made.run_of(made.guest_records(guests=2), LIMITS)

    def read(self, *runs):
        """Return the text of the section with the figures."""
        shown = page.standalone([*(runs or [self.run])])
        _, _, text = test_page.Reader(shown).text.partition("@page")
        return text

    def test_the_table(self):
        """By part, each metric has value, interval, limit and status."""
        text = self.read()
        table = text[text.index("Figures Metric") : text.index("The task has")]
        parts = [
            table.index(f" {component} ") for component in ("CPU", "Disk")
        ]
        self.assertEqual(sorted(parts), parts)
        self.assertNotRegex(table, BARE)
        self.assertEqual(len(made.METRICS), len(self.run.judgement.rows))
        for row in self.run.judgement.rows:
            line = table[table.index(row.metric.name) :][:300]
            cells = row.cells()
            self.assertIn(cells.figure, line)
            self.assertIn(cells.interval, line)
            self.assertIn(row.status or "no limit", line)
        self.assertIn("at least 45.0 kops/s disk.*.iops failed", table)
        self.assertNotIn("{{", table)

    def test_one_line_on_the_baseline(self):
        """Not one for each metric."""
        text = self.read()
        self.assertIn("Bare metal no baseline", text)
        self.assertIn("The task has no baseline: the figures are", text)
        self.assertEqual(2, len(re.findall("no baseline", text)))
        for phrase in ("Guest and bare metal", "grey for", "No difference"):
            self.assertNotIn(phrase, text)

    def test_one_repetition(self):
        """It has values and no interval."""
        run = made.run_of(made.guest_records(count=1, warmup=0), LIMITS)
        self.assertIn("3 360 events/s no interval", self.read(run))
        self.assertEqual("inconclusive", run.status)

    def test_several_flavors(self):
        """The table of all runs has the values, with their intervals."""
        text = self.read(self.run, self.run)
        table = text[text.index("Metric by flavor") :][:900]
        self.assertRegex(table, r"cpu\.events\.rate 3 \d+ events/s 3 \d+ ev")

    def test_limits_in_percent_of_bare_metal(self):
        """A file of limits can have them: they are not decided."""
        run = made.run_of(
            made.guest_records(),
            {"vmperf_overhead": {"max_percent": {"cpu.*": 5}}},
        )
        self.assertFalse(run.passed)
        text = self.read(run)
        for row in run.judgement.limited:
            self.assertIn(row.reason, text)

    def test_the_verdict_as_text(self):
        lines = verdict_table.lines(self.run)
        self.assertNotRegex("\n".join(lines), BARE)
        self.assertRegex(
            "\n".join(lines),
            r"failed +disk\.fio\.randread\.iops\s+39\.\d kops/s +39\.\d "
            r"kops/s to \S+ kops/s +least limit 45\.0 kops/s\n",
        )

    def test_every_format(self):
        """Each has the figures, and no losses."""
        for name in export.NAMES:
            text = "".join(export.render(name, [self.run]))
            self.assertNotRegex(text, "overhead_percent|no baseline", name)
            self.assertIn("disk.fio.randread.iops", text, name)

    def test_rows(self):
        """A value has its unit, its interval and its limit."""
        rows = [*export.list_rows([self.run])]
        figures = [row for row in rows if row.row == "figure"]
        self.assertEqual([*made.METRICS], [row.metric for row in figures])
        (iops,) = (row for row in figures if row.status == "failed")
        self.assertEqual(
            ("disk.fio.randread.iops", "min", "ops/s", 45000.0),
            (iops.metric, iops.figure, iops.unit, iops.limit),
        )
        self.assertLess(iops.low, iops.value)
        self.assertLess(iops.value, iops.high)
        self.assertNotIn("bare_metal", {row.side for row in rows})
