# SPDX-License-Identifier: Apache-2.0
"""Tests that a record counts once, however often it is handed over."""

import dataclasses
import unittest

from tests.unit import made


class TestRepeated(unittest.TestCase):
    """Repetitions are unique by run and number."""

    def kinds(self, got):
        return {finding.finding.kind for finding in got.findings}

    def describe(self, got, kind):
        """Return kind, subject and detail of the findings of a kind."""
        return [
            (found.finding.kind, found.finding.subject, found.finding.detail)
            for found in got.findings
            if found.finding.kind == kind
        ]

    def test_one_record_three_times(self):
        """It is one repetition of three, and the verdict says so."""
        (entry,) = made.several({made.IOPS: (11000.0,)}, planned_repetitions=3)
        got = made.judgement([entry] * 3)
        self.assertEqual("inconclusive", got.status)
        self.assertEqual((1, 2), (got.missing.complete, got.missing.absent))
        self.assertEqual(
            [
                (
                    "repetition_duplicated",
                    "repetition 1",
                    "recorded 3 times, counted once",
                )
            ],
            self.describe(got, "repetition_duplicated"),
        )

    def test_figures_are_those_of_each_once(self):
        """Also of what a merged judge was given too."""
        entries = made.several(made.NEAR)
        first = made.judge(entries)
        second = made.judge([])
        second.add(entries[0])
        first.merge(second)
        got, once = first.judgement(), made.judgement(entries)
        self.assertEqual(
            [row.to_value() for row in once.rows],
            [row.to_value() for row in got.rows],
        )
        self.assertEqual("passed", got.status)
        self.assertIn("repetition_duplicated", self.kinds(got))
        self.assertNotIn("repetition_duplicated", self.kinds(once))

    def test_two_records_of_one_repetition(self):
        """Neither counts, in any order: the right one is not known."""
        entries = made.several(made.NEAR)
        other = dataclasses.replace(
            made.several(made.FAR)[0], number=entries[0].number
        )
        got = made.judgement([*entries, other])
        self.assertEqual(
            [
                (
                    "records_contradict",
                    "repetition 1",
                    "recorded 2 times, counted once; the records differ",
                )
            ],
            self.describe(got, "records_contradict"),
        )
        self.assertEqual((1,), got.omitted)
        self.assertEqual(got, made.judgement([other, *entries]))

    def test_two_runs(self):
        """Stand as no one run."""
        first, two = (
            [
                dataclasses.replace(entry, run=run)
                for entry in made.several(made.NEAR)
            ]
            for run in ("run-a", "run-b")
        )
        got = made.judgement([*first, *two])
        self.assertEqual("void", got.status)
        self.assertEqual(
            [
                (
                    "records_contradict",
                    "run",
                    "repetitions of runs run-a, run-b",
                )
            ],
            self.describe(got, "records_contradict"),
        )


class TestCurves(unittest.TestCase):
    """The same holds of repetitions with several numbers of guests."""

    def setUp(self):
        self.entries = made.levels({made.EVENTS: made.SHARED}, count=5)
        loss = {made.EVENTS: {1: [312.0], 2: [150.0, 149.0]}}
        (self.other, *_) = made.levels(loss, count=5)

    def test_many_contradict(self):
        """Or runs are mixed: the curve is of no run, and never passes."""
        again = [
            dataclasses.replace(self.other, number=number)
            for number in (1, 2, 3)
        ]
        mixed = [
            *self.entries[:3],
            *(dataclasses.replace(x, run="b") for x in self.entries[3:]),
        ]
        for entries in ([*self.entries, *again], mixed):
            got = made.degradation(entries, {"*": 40}, max={"*": 1e9})
            self.assertEqual("void", got.status)
            self.assertEqual(
                {"void"},
                {
                    status
                    for row in got.limited
                    for status in (
                        row.status,
                        *getattr(row, "statuses", {}).values(),
                    )
                },
            )
            kinds = {found.finding.kind for found in got.findings}
            self.assertIn("records_contradict", kinds)
            self.assertIsNone(got.curves[0].max_guests)
