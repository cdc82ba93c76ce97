# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

from tests.unit import made


class FindingsTestCase(unittest.TestCase):
    def test_each_once(self):
        entries = made.several(
            made.NEAR, findings=made.build_findings("steal_time")
        )
        first, *_ = made.judgement(entries).findings
        self.assertEqual("steal_time", first.finding.kind)
        self.assertEqual((1, 2, 3, 4), first.repetitions)

    def test_too_fast_to_be_true(self):
        fast = {made.IOPS: (22000.0, 22100.0, 22050.0)}
        got = made.judgement(made.several(fast))
        self.assertEqual("void", got.rows[0].status)
        self.assertEqual("guest_faster", got.findings[0].finding.kind)
        judgement = made.judgement(
            made.several(fast), tolerate=["guest_faster"]
        )
        self.assertTrue(judgement.passed)

    def test_another_baseline(self):
        entries = made.several(made.NEAR)
        later = dataclasses.replace(
            entries[0].condition.reference, recorded_at="2026-02-02T00:00:00Z"
        )
        entries[2] = made.changed(entries[2], reference=later)
        judgement = made.judgement(entries)
        self.assertEqual("void", judgement.status)
        changed = judgement.findings[0].finding
        self.assertEqual(
            (
                "baseline_changed",
                "r740",
                "'r740' recorded 2026-01-02T03:04:05Z, later 'r740' recorded "
                "2026-02-02T00:00:00Z",
            ),
            (changed.kind, changed.subject, changed.detail),
        )

    def test_boots_make_it_unconditional(self):
        """Each repetition is another boot, on both sides or on one."""
        plain = made.several(made.NEAR)
        reference = plain[0].condition.reference
        boots = dataclasses.replace(
            reference,
            boots=tuple(
                f"s-{number}" for number in range(len(reference.repetitions))
            ),
        )
        session = (
            "bare metal: 1 session, recorded 2026-01-02T03:04:05Z on compute-1"
        )
        guests = "guests: no reboot between repetitions"
        for rebooted, bare, expected in (
            (True, boots, []),
            (True, reference, [session]),
            (False, boots, [guests]),
            (False, reference, [f"{guests}; {session}"]),
        ):
            entries = [
                dataclasses.replace(
                    made.changed(repetition, reference=bare), rebooted=rebooted
                )
                for repetition in plain
            ]
            details = [
                finding.finding.detail
                for finding in made.judgement(entries).findings
            ]
            self.assertEqual(expected, details)
