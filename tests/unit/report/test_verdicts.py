# SPDX-License-Identifier: Apache-2.0
"""Tests of the banners of a run."""

import dataclasses
import unittest

from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.records import sources
from rally_vmperf.report import page
from rally_vmperf.report import verdicts
from tests.unit import made
from tests.unit.report import test_page

LIMITS = {"vmperf_overhead": made.LIMITS}


def read(shown):
    """Return the text of the page of a run."""
    return test_page.Reader(page.standalone([shown])).text


class VoidTestCase(unittest.TestCase):
    """A void run has its reasons before the number of metrics."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shown = made.run_of(test_page.move(3, 4), LIMITS)

    def test_reasons_and_remedies_are_first(self):
        kind = finding.KINDS["wrong_host"]
        (banner,) = verdicts.list_banners(self.shown)
        self.assertEqual(
            "Void: the samples do not measure what they claim.",
            banner.headline,
        )
        (reason,) = banner.reasons
        self.assertEqual(
            (f"{kind.title} (g1: on compute-9).", [kind.remedy]), reason
        )
        text = read(self.shown)
        places = [
            text.index(phrase)
            for phrase in (
                banner.headline,
                f"{reason[0]} What to do: {kind.remedy}",
                banner.count,
                "Figures",
            )
        ]
        self.assertEqual(sorted(places), places)

    def test_the_metrics_are_one_line(self):
        """Their figures are in the table only."""
        (banner,) = verdicts.list_banners(self.shown)
        self.assertEqual(
            "7 metrics cannot be judged: cpu.events.rate, cpu.latency.p95, "
            "memory.mbw.memcpy.bandwidth, and 4 more.",
            banner.count,
        )
        self.assertEqual([], banner.failures)

    def test_nothing_measured(self):
        """The headline is the reason."""
        (banner,) = verdicts.list_banners(made.run_of([None], LIMITS))
        self.assertEqual("", banner.count)
        self.assertIn("Void: nothing was measured.", banner.headline)


class SharedReasonTestCase(unittest.TestCase):
    """A reason that concerns several criteria stands once."""

    def test_overlap(self):
        """Both verdicts of density omit the same samples."""
        records = made.density_records((1, 3))
        overlap = made.build_findings("partial_overlap", made.IOPS.name)
        for place in (2, 3):
            records[place] = made.with_condition(
                records[place], 1, findings=overlap
            )
        shown = made.density_run(records, made.DENSITY_LIMITS)
        first, second = verdicts.list_banners(shown)
        ((reason, remedies),) = first.reasons
        self.assertIn("Void samples are omitted: ", reason)
        self.assertEqual([], remedies)
        self.assertFalse(first.has_repeated)
        self.assertEqual([], second.reasons)
        self.assertTrue(second.has_repeated)
        text = read(shown)
        self.assertEqual(1, text.count(reason))
        self.assertEqual(1, text.count("Reasons in the first verdict"))

    def test_a_missing_figure(self):
        """Metrics without a figure for one reason are one line."""
        limits = {"vmperf_fairness": {"min_index": {"*": 0.9}}}
        records = made.density_records((1,))
        shown = made.density_run(records, limits)
        failures = verdicts.list_failures(shown.judgements["Fairness"])
        texts = [failure.text for failure in failures]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertLess(
            len(failures), len(shown.judgements["Fairness"].limited)
        )

    def test_figures_are_not_joined(self):
        """Each metric that fails has its line, however equal figures are."""
        shown = made.run_of(
            made.records(), {"vmperf_overhead": {"max_percent": {"*": 0.01}}}
        )
        failures = verdicts.list_failures(shown.judgement)
        self.assertEqual(
            [
                row.metric_title
                for row in shown.judgement.limited
                if row.status == "failed"
            ],
            [each.metrics for each in failures if each.status == "failed"],
        )
        self.assertRegex(failures[0].text, r"^[0-9.]+ % \(limit 0.01 %\)$")


class EndTestCase(unittest.TestCase):
    """Rally's criteria and the version of the rules are at the end."""

    def test_rules(self):
        text = read(made.run_of(made.records(), LIMITS)).strip()
        self.assertTrue(text.endswith(summary.RULES))
        self.assertEqual(1, text.count("Judged by"))

    def test_criteria_of_rally(self):
        """One that failed is a verdict, and stays with the verdicts."""
        results = [
            sources.RallySlaResult(
                criterion=f"failure_{success}", success=success, detail="x"
            )
            for success in (True, False)
        ]
        shown = dataclasses.replace(
            made.run_of(made.records(), LIMITS), sla_results=tuple(results)
        )
        text = read(shown)
        self.assertLess(text.index("failure_False"), text.index("Figures"))
        self.assertGreater(text.index("failure_True"), text.index("Samples"))
