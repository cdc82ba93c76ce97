# SPDX-License-Identifier: Apache-2.0
"""The table of neighbours in a report."""

import unittest

from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page

NAME = "disk.fio.randread.iops"


class NeighboursTestCase(unittest.TestCase):
    """Figures are shown next to each other, with limits or without."""

    def read(self, limits):
        """Return the run and the text of its page, from the table on."""
        records = made.few(made.records(count=3, warmup=0))
        shown = made.run_of(made.with_neighbours(records, 0.8), limits)
        text = test_page.Reader(page.standalone([shown])).text
        self.assertIn("1 guest, the last, with stress_ng", text)
        return shown, text[text.index("Without neighbours") :]

    def test_without_limits(self):
        """Metrics without limits are shown nevertheless."""
        shown, text = self.read({"vmperf_overhead": made.LIMITS})
        self.assertNotIn("Neighbours", shown.judgements)
        self.assertIn("20.0 % 20.0 to 20.0 %", text[text.index(NAME) :][:200])

    def test_with_limits(self):
        """The verdict is that of the judgement."""
        limits = {"vmperf_neighbours": {"max_percent": {"disk.*": 10}}}
        shown, text = self.read(limits)
        self.assertEqual("failed", shown.judgements["Neighbours"].status)
        self.assertIn("failed", text[text.index(NAME) :][:400])

    def test_only_where_there_are_some(self):
        """Other runs have no such table."""
        shown = made.run_of(made.records(), {"vmperf_overhead": made.LIMITS})
        text = test_page.Reader(page.standalone([shown])).text
        self.assertNotIn("Without neighbours", text)
