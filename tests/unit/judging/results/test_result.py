"""Tests of results as numbers."""

import unittest

import ddt

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import loss_figure
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import source_judge
from tests.unit import made
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


@ddt.ddt
class TestSentence(unittest.TestCase):
    """A sentence has the sides, the loss, the limit and the verdict."""

    @ddt.data(
        (
            [12300.0, 12310.0, 12290.0],
            [9870.0, 9840.0, 9900.0],
            15,
            "bare metal 12.3 kops/s, guest 9.87 kops/s, overhead 19.8 % "
            "(95 % interval 19.2 to 20.3 %), limit 15 %: failed",
        ),
        (
            [12300.0, 12310.0, 12290.0],
            [9870.0, 9840.0, 9900.0],
            20,
            "bare metal 12.3 kops/s, guest 9.87 kops/s, overhead 19.8 % "
            "(95 % interval 19.2 to 20.3 %; to pass 20.7 % counts, as the "
            "guest varies more), limit 20 %: inconclusive, more repetitions "
            "on both sides narrow the interval",
        ),
        (
            [100.0] * 3,
            [90.0],
            20,
            "bare metal 100 ops/s, guest 90.0 ops/s, overhead 10.0 % (no "
            "interval), limit 20 %: inconclusive, at least 5 repetitions are "
            "needed to say",
        ),
    )
    @ddt.unpack
    def test_loss(self, bare, guest, limit, expected):
        """The sentence of an inconclusive loss says what would decide."""
        reference, other = (
            sample.create_samples(made.IOPS, [[value] for value in values])
            for values in (bare, guest)
        )
        contrast = contrasts.Contrast(
            metric=made.IOPS, reference=reference, other=other
        )
        figure = loss_figure.Loss(metric=made.IOPS, contrast=contrast)
        judged = result.Result(figure=figure, limit=limit)
        self.assertEqual(
            f"{made.IOPS.name}: {expected}",
            judged.with_verdict((), void=False).sentence(),
        )


class TestPercentSign(unittest.TestCase):
    """Numbers in percent have one sign, whatever shows them."""

    def test_value_in_percent(self):
        """The unit of the metric is in the number already."""
        figure = absolute_value.AbsoluteValue(
            metric=guest_metrics.STEAL_PERCENT, side="max", guest=()
        )
        number = figure.show(3.2, (), 10)
        self.assertEqual("3.20 %", f"{number}{figure.percent_sign}")
        self.assertEqual("limit 10.0 %", figure.show_limit(10))
