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

    def test_about_a_guest_voids_all(self):
        got = made.judgement(
            made.several(made.BOTH, findings=made.build_findings("wrong_host"))
        )
        self.assertEqual({"void"}, {row.status for row in got.rows})
        self.assertEqual("void", got.status)
        self.assertIn("g1: so it is", got.sentence())

    def test_headline_of_a_void_run(self):
        """It counts void metrics with a limit, and never none of them."""
        for metrics, limits, headline in (
            (
                (made.TIME.name,),
                {"disk.*": 20},
                f"{made.TIME.name}, which has no limit, is void",
            ),
            ((made.IOPS.name,), {"*": 99}, "1 metric cannot be judged"),
            ((), {"*": 99}, "2 metrics cannot be judged"),
            ((), {"disk.*": 99}, "1 metric cannot be judged"),
        ):
            findings = made.build_findings("wrong_host", metrics=metrics)
            entries = made.several(made.BOTH, findings=findings)
            got = made.judgement(entries, limits)
            self.assertEqual("void", got.status)
            self.assertTrue(
                got.headline().startswith(f"void: {headline}"), got.headline()
            )

    def test_too_fast_to_be_true(self):
        fast = {made.IOPS: (22000.0, 22100.0, 22050.0)}
        got = made.judgement(made.several(fast))
        self.assertEqual("void", got.rows[0].status)
        self.assertIn("significantly faster", got.sentence())
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
        self.assertEqual("void", made.judgement(entries).status)

    def test_the_interval_is_conditional(self):
        kinds = [
            finding.finding.kind
            for finding in made.judgement(made.several(made.NEAR)).findings
        ]
        self.assertEqual(["interval_one_session"], kinds)

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
        for rebooted, bare, fragments in (
            (True, boots, []),
            (True, reference, ["bare metal: 1 session, recorded"]),
            (False, boots, ["guests: no reboot between repetitions"]),
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
            self.assertEqual(len(fragments), len(details))
            for word, detail in zip(fragments, details, strict=True):
                self.assertTrue(detail.startswith(word), detail)
                self.assertNotIn("; ", detail)
