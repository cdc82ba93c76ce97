# SPDX-License-Identifier: Apache-2.0
"""Tests of results as numbers."""

import unittest

import ddt

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import source_judge
from tests.unit.questions import golden_runs


@ddt.ddt
class TestResult(unittest.TestCase):
    """The numbers are those of the verdicts."""

    @ddt.data(*golden_runs.journals())
    def test_golden_runs(self, name):
        """Limit, status and value agree with the expected verdicts."""
        run = source_judge.judge_by_file(
            golden_runs.source(name), str(golden_runs.limits(name))
        )
        criteria = golden_runs.expected(name)["criteria"]
        for heading, judgement in run.judgements.items():
            values = [
                (row.metric.name, row.to_value()) for row in judgement.limited
            ]
            rows = criteria[heading]["rows"]
            self.assertEqual(len(rows), len(values))
            for (metric, value), row in zip(values, rows, strict=True):
                self.assertEqual(row["metric"], metric)
                self.assertEqual(row["status"], value.status)
                self.assertEqual(row["limit"], value.limit)
                expected = row["value"]
                if value.name == "index" and expected is not None:
                    expected = fairness.index(expected)
                self.assertEqual(expected is None, value.value is None)
                if expected is not None:
                    self.assertAlmostEqual(expected, value.value, 2)
                if value.low is not None:
                    self.assertLessEqual(value.low, value.value)
                    self.assertGreaterEqual(value.high, value.value)


class TestPercentSign(unittest.TestCase):
    """Numbers in percent have one sign, whatever shows them."""

    def test_value_in_percent(self):
        """The unit of the metric is in the number already."""
        figure = absolute_value.AbsoluteValue(
            metric=guest_metrics.STEAL_PERCENT, side="max", guest=()
        )
        shown = figure.show(units.Estimate(3.2, 2.9, 3.5), 10)
        self.assertEqual(("3.2 %", "2.9 to 3.5 %"), shown)
        self.assertEqual("limit 10 %", figure.show_limit(10))
