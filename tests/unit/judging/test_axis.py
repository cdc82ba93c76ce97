# SPDX-License-Identifier: Apache-2.0
"""Tests of the judge of tuning."""

import dataclasses
import random
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.judging import gains
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import question as tuning
from tests.unit import made

RATE = sample.Metric(name="network.iperf3.rate", unit="bit/s", better="higher")
TIME = sample.Metric(name="disk.dd.time", unit="s", better="lower")


def condition(number, variant, values, **fields):
    """Return a condition with one guest and a value per metric."""
    return made.build_condition(
        number,
        {metric: [value] for metric, value in values.items()},
        {"variant": variant},
        machines=(f"g-{variant}",),
        **fields,
    )


def repetitions(*rows, findings=None, planned=None):
    """Return a repetition per row, a dict of values by variant.

    :param findings: The findings of conditions by variant.
    """
    metrics = tuple(next(iter(rows[0].values())))
    return [
        made.repetition(
            number,
            [
                condition(
                    number,
                    variant,
                    values,
                    findings=tuple((findings or {}).get(variant, ())),
                )
                for variant, values in row.items()
            ],
            planned_repetitions=planned or len(rows),
            expected_metrics=metrics,
            question="tuning",
        )
        for number, row in enumerate(rows, start=1)
    ]


def rows_of(factors, number=8, noise=0.01):
    """Return rows of values by variant: 1000 times its factor, with noise."""
    generator = random.Random(1)
    return [
        {
            variant: {
                metric: 1000
                * (factor if metric.better == "higher" else 1 / factor)
                * generator.lognormvariate(0, noise)
                for metric in (RATE, TIME)
            }
            for variant, factor in factors.items()
        }
        for _ in range(number)
    ]


def create_judge(criterion=tuning.TUNING, **options):
    """Return a judge with these options."""
    return criterion.parse(options).create_judge()


def judge(rows, findings=None, criterion=tuning.TUNING, **options):
    """Return the judgement on rows."""
    judge_ = create_judge(criterion, **options)
    for repetition_ in repetitions(*rows, findings=findings):
        judge_.add(repetition_)
    return judge_.judgement()


NOT_APPLIED = finding.Finding(
    "variant_not_applied", "g2", "hw_x=y was requested, g2 has z"
)


@ddt.ddt
class TuningTestCase(unittest.TestCase):
    """Variants are compared with the first one."""

    ROWS = rows_of({"e1000": 1, "virtio": 3, "same": 1})

    def test_gains(self):
        judgement = judge(self.ROWS)
        found = {
            (change.variant, change.metric): change
            for change in gains.list_changes(judgement.rows, 0.95)
        }
        for variant, metric, loss, is_better in (
            ("virtio", RATE, -200, True),
            ("virtio", TIME, -67, True),
            ("same", RATE, 0, False),
            ("same", TIME, 0, False),
        ):
            change = found.pop((variant, metric))
            percent = change.comparison.overhead_percent
            self.assertAlmostEqual(loss, percent, delta=1)
            status = changes.classify(change)
            self.assertEqual(is_better, status == "better", status)
        self.assertEqual({}, found)
        self.assertEqual(4, len(judgement.rows))
        self.assertEqual((), judgement.limited)

    @ddt.data(slice(1, 2), slice(1, 3))
    def test_a_repetition_without_the_reference(self, others):
        """The first repetition was interrupted before its first variant."""
        first, *rest = repetitions(*self.ROWS)
        first = dataclasses.replace(
            first, state="incomplete", conditions=first.conditions[others]
        )
        run_judge = create_judge(min_gain_percent={"virtio": {RATE.name: 150}})
        for repetition_ in (first, *rest):
            run_judge.add(repetition_)
        judgement = run_judge.judgement()
        (row,) = judgement.limited
        self.assertEqual(("e1000", "virtio"), row.figure.names[:2])
        self.assertEqual("passed", row.status, judgement.sentence())

    def test_equal_samples_are_of_the_reference(self):
        """A sentence on quantised values does not speak of bare metal."""
        rows = [{"a": {RATE: 1000.0}, "b": {RATE: 1100.0}}] * 6
        judgement = judge(rows, min_gain_percent={"b": {"*": 5}})
        sentence = judgement.sentence()
        self.assertIn("all 6 samples of the reference gave the", sentence)
        self.assertNotIn("bare metal", sentence)

    def test_a_reference_in_a_void_repetition_only(self):
        """A variant without a pair is not compared, with the reason."""
        void = finding.Finding("clock_wrong", "g1", "10 s behind")
        run_judge = create_judge(min_gain_percent={"virtio": {"*": 10}})
        for repetition_ in repetitions(*self.ROWS):
            first = repetition_.number == 1
            run_judge.add(
                dataclasses.replace(
                    repetition_,
                    state="complete" if first else "incomplete",
                    conditions=repetition_.conditions[0 if first else 1 :],
                    findings=(void,) * first,
                )
            )
        judgement = run_judge.judgement()
        self.assertIn(
            "virtio instead of e1000: not compared: no counted repetition",
            judgement.sentence(),
        )
        self.assertEqual("void", judgement.status)

    @ddt.data(
        ("min_gain_percent", 250, "failed"),
        ("max_loss_percent", 5, "passed"),
    )
    @ddt.unpack
    def test_limits(self, key, limit, status):
        judgement = judge(self.ROWS, **{key: {"virtio": {"network.*": limit}}})
        (row,) = judgement.limited
        self.assertEqual(status, row.status)
        self.assertEqual(status, judgement.status)
        least = limit if key.startswith("min") else -limit
        value = row.to_value()
        self.assertEqual("gain_over_e1000", value.name)
        self.assertEqual("virtio", value.variant)
        self.assertEqual(least, value.limit)
        self.assertLess(value.low, value.value)
        self.assertLess(value.value, value.high)

    def test_a_void_variant_voids_itself_only(self):
        limits = {"max_loss_percent": {"same": {"*": 20}}}
        findings = {"virtio": [NOT_APPLIED]}
        judgement = judge(self.ROWS, findings, **limits)
        self.assertEqual("passed", judgement.status)
        changed = gains.list_changes(judgement.rows, 0.95)
        self.assertEqual(
            {"virtio"}, {change.variant for change in changed if change.reason}
        )
        limits["max_loss_percent"]["virtio"] = {"*": 20}
        judgement = judge(self.ROWS, findings, **limits)
        self.assertEqual("void", judgement.status)
        self.assertEqual(
            {"same": "passed", "virtio": "void"},
            {row.variant: row.status for row in judgement.limited},
        )

    def test_a_void_reference_voids_all(self):
        judgement = judge(
            self.ROWS,
            {"e1000": [NOT_APPLIED]},
            max_loss_percent={"same": {"*": 20}},
        )
        self.assertEqual("void", judgement.status)
        for change in gains.list_changes(judgement.rows, 0.95):
            self.assertTrue(change.reason)

    def test_a_lost_variant(self):
        """The other variants are judged, and the verdict names the gap."""
        judge_ = create_judge(max_loss_percent={"same": {"*": 20}})
        for original in repetitions(*self.ROWS):
            conditions = [
                condition(
                    original.number,
                    "virtio",
                    {},
                    state="incomplete",
                    missing=(
                        repetition.Missing(
                            name="iperf3", machine="g2", reason="lost"
                        ),
                    ),
                )
                if entry.axes["variant"] == "virtio"
                else entry
                for entry in original.conditions
            ]
            judge_.add(
                dataclasses.replace(
                    original, state="incomplete", conditions=tuple(conditions)
                )
            )
        judgement = judge_.judgement()
        self.assertEqual("passed", judgement.status)
        self.assertEqual(("iperf3 of g2: lost",), judgement.missing.reasons)

    def test_a_limit_of_zero(self):
        (row, _) = judge(
            rows_of({"a": 1, "b": 3}), max_loss_percent={"b": {"*": 0}}
        ).limited
        self.assertEqual("passed", row.status)
        self.assertEqual("0.0", str(row.to_value().limit))

    def test_a_metric_without_pairs(self):
        """It has a limit with the sign of others, and is not equal."""
        rows = rows_of({"a": 1, "b": 3})
        for row in rows:
            del row["b"][TIME]
        judgement = judge(rows, max_loss_percent={"b": {"disk.*": 5}})
        (row,) = judgement.limited
        value = row.to_value()
        self.assertEqual((-5, None), (value.limit, value.value))
        self.assertEqual("gain_over_a", value.name)

    def test_a_variant_that_is_missing(self):
        """Its limit is named, and hides no failure of the others."""
        missing = {"absent": {"*": 1}}
        for limit, status in ((250, "failed"), (150, "inconclusive")):
            judgement = judge(
                self.ROWS,
                min_gain_percent={"virtio": {"network.*": limit}, **missing},
            )
            self.assertEqual(status, judgement.status)
            self.assertEqual(("absent: *",), judgement.unmatched)

    @ddt.data(
        ("absent", "names no variant of this run (a, virtio)"),
        (
            "a",
            "is for the reference, which has no gain or loss against itself; "
            "set it for another variant (virtio)",
        ),
    )
    @ddt.unpack
    def test_a_limit_of_no_compared_variant(self, variant, reason):
        """It names the variants of the run, and never passes."""
        judgement = judge(
            rows_of({"a": 1, "virtio": 3}),
            min_gain_percent={variant: {"*": 1}, "virtio": {"network.*": 5}},
        )
        self.assertEqual("inconclusive", judgement.status)
        self.assertEqual(
            [f"limit '{variant}: *' {reason}"],
            [
                sentence
                for sentence in judgement.reasons()
                if "limit" in sentence
            ],
        )

    def test_the_reference_alone(self):
        judgement = judge(rows_of({"a": 1}))
        self.assertEqual("void", judgement.status)
        self.assertEqual((), judgement.rows)


class EachVariantTestCase(unittest.TestCase):
    """Other judges judge each variant on its own."""

    def test_absolute_limits(self):
        judgement = judge(
            rows_of({"a": 1, "b": 3}),
            criterion=overhead.OVERHEAD,
            min={"network.*": 2000},
        )
        self.assertEqual(
            {"a": "failed", "b": "passed"},
            {row.variant: row.status for row in judgement.limited},
        )
        self.assertEqual("failed", judgement.status)

    def test_one_boot(self):
        """Variants have guests of their own, so that boots differ, too."""
        rows = [
            {"a": {RATE: value}, "b": {RATE: value + 9}}
            for value in (100.0, 101.0, 103.0)
        ]
        for rebooted, kinds in ((False, ["interval_one_session"]), (True, [])):
            judge_ = create_judge()
            for rebooted_repetition in repetitions(*rows):
                judge_.add(
                    dataclasses.replace(rebooted_repetition, rebooted=rebooted)
                )
            self.assertEqual(
                kinds,
                [
                    finding.finding.kind
                    for finding in judge_.judgement().findings
                ],
            )

    def test_findings_name_their_variant(self):
        judgement = judge(
            rows_of({"a": 1, "b": 3}),
            {"b": [NOT_APPLIED]},
            criterion=overhead.OVERHEAD,
            min={"network.*": 500},
        )
        self.assertEqual(
            {"a": "passed", "b": "void"},
            {row.variant: row.status for row in judgement.limited},
        )
        self.assertEqual(
            f"b: {NOT_APPLIED.detail}", judgement.findings[0].finding.detail
        )


def compare(values, other_values):
    """Return the change of the second variant."""
    rows = [
        {"a": {RATE: value}, "b": {RATE: other}}
        for value, other in zip(values, other_values, strict=True)
    ]
    (change,) = gains.list_changes(judge(rows).rows, 0.95)
    return change


VALUES = strategies.lists(
    strategies.floats(900, 1100), min_size=5, max_size=9, unique=True
)


class PropertiesTestCase(unittest.TestCase):
    """Properties of all samples."""

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(VALUES)
    def test_no_gain_over_equal_samples(self, values):
        change = compare(values, values)
        self.assertEqual(0, change.comparison.overhead_percent)
        self.assertNotIn(changes.classify(change), ("better", "worse"))

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(VALUES, strategies.floats(0.5, 2))
    def test_the_inverse_ratio_in_the_other_direction(self, values, factor):
        noise = [1.01, 0.99] * 5
        others = [
            value * factor * step
            for value, step in zip(values, noise, strict=False)
        ]
        there, back = compare(values, others), compare(others, values)
        ratio = 1 - there.comparison.overhead_percent / 100
        inverse = 1 - back.comparison.overhead_percent / 100
        self.assertAlmostEqual(1, ratio * inverse)
        opposite = {"better": "worse", "worse": "better"}
        status = changes.classify(there)
        self.assertEqual(opposite.get(status, status), changes.classify(back))

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(VALUES, strategies.floats(1.5, 3))
    def test_another_metric_does_not_change(self, values, factor):
        """The gain of a metric depends on its own samples only."""
        gains = []
        for scale in (1, factor):
            rows = [
                {
                    "a": {RATE: value, TIME: value},
                    "b": {
                        RATE: value * scale * (1 + 1e-3 * place),
                        TIME: 1000,
                    },
                }
                for place, value in enumerate(values)
            ]
            gains.append(
                {
                    row.metric: row.comparison.overhead_percent
                    for row in judge(rows).rows
                }
            )
        before, after = gains
        self.assertEqual(before[TIME], after[TIME])
        self.assertAlmostEqual(
            factor, (1 - after[RATE] / 100) / (1 - before[RATE] / 100)
        )
