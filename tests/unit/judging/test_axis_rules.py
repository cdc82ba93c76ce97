# SPDX-License-Identifier: Apache-2.0
"""Verdicts on what guests lose to their neighbours."""

import dataclasses
import unittest

from rally_vmperf.measurement import repetition
from rally_vmperf.questions import table
from rally_vmperf.questions.common import neighbours
from tests.unit import made

NAME = made.IOPS.name
#: From repetition to repetition the machine is another; the loss is 10 %.
QUIET = (1000.0, 2000.0, 4000.0)
LOUD = (900.0, 1801.0, 3599.0)


def entries(quiet=QUIET, loud=LOUD, metric=made.IOPS, **changes):
    """Return repetitions with both conditions; changes are of the loud one."""
    return [
        made.repetition(
            number,
            [
                made.build_condition(
                    number, {metric: [values[0]]}, axes={"neighbours": 0}
                ),
                made.build_condition(
                    number,
                    {metric: [values[1]]},
                    axes={"neighbours": 2},
                    **changes,
                ),
            ],
            expected_metrics=(metric,),
            question="overhead",
        )
        for number, values in enumerate(zip(quiet, loud, strict=True), 1)
    ]


def judgement(repetitions, **arguments):
    """Return the verdict on repetitions."""
    judge = neighbours.CRITERION.parse(arguments).create_judge()
    return made.feed_judge(judge, repetitions).judgement()


class TestLoss(unittest.TestCase):
    """Both sides are compared in pairs."""

    def test_in_pairs(self):
        """Machines that change from one to the next do not blur it."""
        judged = judgement(entries(), max_percent={"disk.*": 12})
        (row,) = judged.limited
        self.assertEqual("passed", row.status)
        self.assertTrue(row.comparison.paired)
        self.assertAlmostEqual(10.0, row.comparison.overhead_percent, 1)

    def test_more_time_is_a_loss(self):
        """As of overhead: in percent of the time without."""
        judged = judgement(
            entries((1.0, 2.0, 3.0), (1.5, 3.0, 4.5), made.LATENCY)
        )
        (row,) = judged.rows
        self.assertAlmostEqual(50.0, row.comparison.overhead_percent)

    def test_one_side_only(self):
        """A repetition without its other half is not a pair."""
        repetitions = entries()
        lone = dataclasses.replace(
            repetitions[0], conditions=repetitions[0].conditions[:1]
        )
        (row,) = judgement([lone, *repetitions[1:]]).rows
        self.assertEqual(2, row.comparison.guest_repetitions)
        judged = judgement([lone], max_percent={"*": 5})
        self.assertEqual("void", judged.status)
        (row,) = judged.limited
        self.assertEqual(
            "no counted repetition has it with and without neighbours",
            row.reason,
        )

    def test_few(self):
        """Fewer than three pairs have no interval."""
        judged = judgement(entries(QUIET[:2], LOUD[:2]), max_percent={"*": 99})
        self.assertEqual("inconclusive", judged.status)
        (few,) = judged.findings
        self.assertEqual(
            ("too_few_repetitions", "2 pairs"),
            (few.finding.kind, few.finding.detail),
        )


def curve(losses, metric=made.IOPS, **changes):
    """Return repetitions of some numbers of guests.

    :param losses: The share of the rate that neighbours leave by number of
        guests.
    :param changes: Other fields of the conditions with neighbours.
    """
    repetitions = []
    for number, rate in enumerate(QUIET, 1):
        there = [
            made.build_condition(
                number,
                {
                    metric: [
                        left * (rate + place / 100) / guests
                        for place in range(guests)
                    ]
                },
                axes={"guests": guests, "neighbours": neighbours},
                **(changes if neighbours else {}),
            )
            for guests, share in losses.items()
            for neighbours, left in ((0, 1), (2, share))
        ]
        repetitions.append(
            made.repetition(
                number,
                there,
                expected_metrics=(metric,),
                question="density",
            )
        )
    return repetitions


def with_finding(repetitions, number, guests, neighbours, **changes):
    """Return repetitions, one condition of which has a finding that voids."""
    axes = {"guests": guests, "neighbours": neighbours}
    return [
        dataclasses.replace(
            entry,
            conditions=tuple(
                dataclasses.replace(
                    condition,
                    findings=made.build_findings("guest_rebooted", **changes),
                )
                if entry.number == number and condition.axes == axes
                else condition
                for condition in entry.conditions
            ),
        )
        for entry in repetitions
    ]


class TestCurve(unittest.TestCase):
    """Each number of guests has a loss of its own."""

    def test_losses(self):
        """And the limit is held at each of them."""
        judged = judgement(
            curve({1: 0.95, 2: 0.7}), max_percent={"disk.*": 12}
        )
        self.assertEqual("failed", judged.status)
        for row, guests, status in zip(
            judged.limited, (1, 2), ("passed", "failed"), strict=True
        ):
            self.assertEqual((guests, status), (row.guests, row.status))
        self.assertAlmostEqual(
            30, judged.limited[1].comparison.overhead_percent, 1
        )

    def test_a_finding_of_one_number_of_guests(self):
        """It voids the loss there, with or without neighbours, not others."""
        for number_of_neighbours, count in ((0, 1), (2, 3)):
            repetitions = curve({1: 0.95, 2: 0.95, 3: 0.95})
            for number in range(1, count + 1):
                repetitions = with_finding(
                    repetitions, number, 2, number_of_neighbours
                )
            judged = judgement(repetitions, max_percent={"disk.*": 12})
            self.assertEqual(
                ["passed", "void", "passed"],
                [row.status for row in judged.limited],
            )
            self.assertEqual("void", judged.status)
            self.assertEqual((), judged.omitted)
            self.assertEqual(
                [False, True, False],
                [bool(row.void_reasons()) for row in judged.limited],
            )
            self.assertEqual(
                "at 2 guests: so it is", judged.findings[0].finding.detail
            )
            (reason,) = judged.reasons()
            self.assertIn("at 2 guests: so it is", reason)

    def test_a_finding_about_a_metric_at_one_number_of_guests(self):
        """It voids this metric there, and no other."""
        repetitions = with_finding(
            curve({1: 0.95, 2: 0.95}), 1, 2, 2, subject=NAME, metrics=(NAME,)
        )
        judged = judgement(repetitions, max_percent={"disk.*": 12})
        self.assertEqual(
            [("passed", False), ("void", True)],
            [(row.status, bool(row.void_reasons())) for row in judged.limited],
        )
        repetitions = with_finding(
            curve({1: 0.95, 2: 0.95}), 1, 2, 2, metrics=("other",)
        )
        judged = judgement(repetitions, max_percent={"disk.*": 12})
        self.assertEqual("passed", judged.status)

    def test_a_finding_of_a_repetition(self):
        """It voids all of it, at each number of guests, and no warm-up's."""
        repetitions = curve({1: 0.95, 2: 0.95})
        repetitions[0] = dataclasses.replace(
            repetitions[0], findings=made.build_findings("guest_rebooted")
        )
        judged = judgement(repetitions, max_percent={"disk.*": 12})
        self.assertEqual({"void"}, {row.status for row in judged.limited})
        warmup = dataclasses.replace(
            repetitions[0],
            counted=False,
            conditions=tuple(
                dataclasses.replace(condition, counted=False)
                for condition in repetitions[0].conditions
            ),
        )
        more = [
            dataclasses.replace(repetition, number=repetition.number + 1)
            for repetition in curve({1: 0.95, 2: 0.95})
        ]
        judged = judgement([warmup, *more], max_percent={"disk.*": 12})
        self.assertEqual("passed", judged.status)

    def test_a_level_that_was_not_run(self):
        """It breaks no limit: the stop rule left it out."""
        repetitions = curve({1: 0.95, 2: 0.95})
        repetitions = [
            dataclasses.replace(
                repetition,
                conditions=tuple(
                    dataclasses.replace(
                        x,
                        state="skipped",
                        skip_reason="enough",
                        observations=(),
                    )
                    if x.axes["guests"] == 2
                    else x
                    for x in repetition.conditions
                ),
            )
            for repetition in repetitions
        ]
        judged = judgement(repetitions, max_percent={"disk.*": 12})
        self.assertEqual([1], [row.guests for row in judged.limited])
        self.assertEqual("passed", judged.status)

    def test_degradation(self):
        """It is that without neighbours, whatever befell the others."""
        repetitions = curve(
            {1: 0.5, 2: 0.1}, findings=made.build_findings("guest_rebooted")
        )
        criterion = table.criteria()["vmperf_degradation"]
        judge = made.feed_judge(
            criterion.parse({"max_percent": {"disk.*": 51}}).create_judge(),
            repetitions,
        )
        judged = judge.judgement()
        (row,) = judged.curves
        self.assertEqual("passed", judged.status)
        self.assertAlmostEqual(50, row.point(2).loss.overhead_percent, 1)
        kinds = {finding.finding.kind for finding in judged.findings}
        self.assertNotIn("guest_rebooted", kinds)

    def test_what_the_others_lack(self):
        """The repetition is not complete, and the curve is undecided."""
        gap = repetition.Missing(
            name=NAME, machine="g9", reason="neighbour g9: it ended"
        )
        repetitions = curve({1: 1, 2: 1}, state="incomplete", missing=(gap,))
        criterion = table.criteria()["vmperf_degradation"]
        judge = made.feed_judge(
            criterion.parse({"max_percent": {"disk.*": 51}}).create_judge(),
            repetitions,
        )
        judged = judge.judgement()
        self.assertEqual("inconclusive", judged.status)
        self.assertEqual((gap.sentence(),), judged.missing.reasons)


class TestOthers(unittest.TestCase):
    """Other judges are given what was measured without neighbours."""

    def test_overhead(self):
        """And what befell the other condition is not theirs."""
        repetitions = entries(
            findings=made.build_findings("guest_rebooted"),
            state="incomplete",
        )
        criterion = table.criteria()["vmperf_overhead"]
        judge = made.feed_judge(
            criterion.parse({}).create_judge(), repetitions
        )
        judged = judge.judgement()
        row = next(row for row in judged.rows if row.metric == made.IOPS)
        self.assertEqual(
            list(QUIET), [sampled.values[0] for sampled in row.figure.sides[1]]
        )
        kinds = {finding.finding.kind for finding in judged.findings}
        self.assertNotIn("guest_rebooted", kinds)

    def test_validity(self):
        """It is about both."""
        repetitions = entries(findings=made.build_findings("guest_rebooted"))
        judge = made.feed_judge(
            table.VALID.parse({}).create_judge(), repetitions
        )
        judged = judge.judgement()
        self.assertEqual("void", judged.status)
        self.assertEqual(
            {"guest_rebooted"},
            {finding.finding.kind for finding in judged.refused},
        )
