# SPDX-License-Identifier: Apache-2.0
"""The table of spread in a report."""

import unittest

from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page

RATE = "cpu.events.rate"
LIMITS = {
    "vmperf_overhead": made.LIMITS,
    "vmperf_spread": {
        "max_cv_percent": {"*": 1, "cpu.events.rate": 0.01},
        "max_range_percent": {"disk.*": 9},
    },
}


def read(records, limits):
    shown = made.run_of(records, limits)
    return shown, test_page.Reader(page.standalone([shown])).text


class SpreadTestCase(unittest.TestCase):
    def test_figures_agree_with_the_judgement(self):
        shown, text = read(made.records(guests=2), LIMITS)
        table = text[text.index("Coefficient of variation") :]
        judged = shown.judgements["Spread"]
        self.assertEqual(6, len(judged.by_metric))
        for name, rows in judged.by_metric.items():
            line = table[table.index(name) :]
            for row in rows:
                for values in (row.figure.guest, row.figure.bare):
                    figure = row.show(row.figure.of(values))
                    self.assertIn(figure, line[:500], (name, row.figure.name))
            self.assertIn(rows[1].show_interval(), line[:500])
            for row in rows:
                if row.limit is not None:
                    limit_text = row.figure.show_limit(row.limit)
                    self.assertIn(limit_text, line[:500])
        self.assertIn("limit 0.01 % failed", " ".join(table.split()))

    def test_each_verdict_has_its_words(self):
        shown, text = read(made.records(), LIMITS)
        self.assertEqual("failed", shown.status)
        for judgement in shown.judgements.values():
            for status, metric, figure in page.list_failures(judgement):
                self.assertIn(f"{status} {metric}: {figure}", text)

    def test_only_with_its_limits(self):
        limits = {"vmperf_overhead": made.LIMITS}
        _, text = read(made.records(), limits)
        self.assertNotIn("Spread", text)

    def test_alone(self):
        """Overhead has figures then, and no verdict."""
        only = {"vmperf_spread": LIMITS["vmperf_spread"]}
        shown, text = read(made.records(), only)
        self.assertEqual("failed", shown.status)
        self.assertIn("Coefficient of variation", text)

    def test_a_missing_figure_has_its_reason(self):
        records = made.records(count=1, warmup=0)
        shown, text = read(records, LIMITS)
        for row in shown.judgements["Spread"].limited:
            self.assertIn(row.reason, text)
        self.assertIn("inconclusive", text)

    def test_without_bare_metal(self):
        """Without the metric in the baseline, the guest's figure remains."""
        others = set(made.METRICS) - {RATE}
        records = [
            made.with_fields(
                record, bare_metal=made.few(record, others).bare_metal
            )
            for record in made.records()
        ]
        shown, text = read(records, LIMITS)
        row = shown.judgements["Spread"].by_metric[RATE][1]
        self.assertEqual("failed", row.status)
        self.assertIn("has no such metric", text)
