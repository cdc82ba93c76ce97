"""Tests of the verdict on variants of a guest."""

import unittest

from rally_vmperf.judging import tuning_judge
from rally_vmperf.measurement import finding
from tests.unit import made
from tests.unit.runs import fakes

RATE = fakes.RATE
NOISE = (0.99, 1.0, 1.01, 1.005, 0.995, 1.0)
SPEEDS = {"e1000": 100.0, "virtio": 300.0, "same": 100.5}


def add(judge, findings=None, speeds=SPEEDS):
    """Have a judge six repetitions of each variant.

    :param findings: variant -> the findings on its guest
    """
    for number, noise in enumerate(NOISE, 1):
        judge.add(
            made.repetition(
                number,
                [
                    made.taken(
                        number,
                        {RATE: [speed * noise * (1 + number % 2 / 200)]},
                        {"variant": name},
                        planned_repetitions=6,
                        findings=tuple((findings or {}).get(name, ())),
                    )
                    for name, speed in speeds.items()
                ],
                planned_repetitions=6,
                expected_metrics=(RATE,),
            )
        )
    return judge.judgement()


class TestTuning(unittest.TestCase):
    """Each variant is compared with the first condition."""

    def test_gain(self):
        """It must reach the limit as a whole."""
        for gain, status in ((190, "passed"), (210, "failed")):
            judge = tuning_judge.TuningJudge(
                min_gain_percent={"virtio": {"*": gain}}
            )
            self.assertEqual(status, add(judge).status, gain)

    def test_loss(self):
        """A loss may not exceed its limit."""
        for loss, status in ((70, "passed"), (60, "failed")):
            judge = tuning_judge.TuningJudge(
                max_loss_percent={"slow": {RATE.name: loss}}
            )
            speeds = {"fast": 300.0, "slow": 100.0}
            self.assertEqual(status, add(judge, speeds=speeds).status, loss)

    def test_void_variant(self):
        """A variant that was not applied is void, another one is not."""
        finding_ = finding.Finding("variant_not_applied", "g2", "g2 has x")
        judge = tuning_judge.TuningJudge(
            min_gain_percent={"virtio": {"*": 190}},
            max_loss_percent={"same": {"*": 10}},
        )
        judgement = add(judge, {"same": [finding_]})
        self.assertEqual(
            [("virtio", "passed"), ("same", "void")],
            [(row.variant, row.status) for row in judgement.rows],
        )
        self.assertEqual("void", judgement.status)
        self.assertIn("same: g2 has x", " ".join(judgement.reasons()))

    def test_void_reference(self):
        """Nothing can be compared with a reference that is void."""
        finding_ = finding.Finding("variant_not_applied", "g1", "g1 has x")
        judge = tuning_judge.TuningJudge(
            max_loss_percent={"same": {"*": 10}, "virtio": {"*": 10}}
        )
        judgement = add(judge, {"e1000": [finding_]})
        self.assertEqual({"void"}, {row.status for row in judgement.rows})

    def test_sentences(self):
        """The variant with the largest gain is the first."""
        first, second = add(tuning_judge.TuningJudge()).describe_variants()
        self.assertRegex(
            first,
            rf"^virtio instead of e1000: {RATE.name} \+200\.0 % \(.* %\)$",
        )
        self.assertRegex(second, "^same instead of e1000: ")

    def test_confidence(self):
        """It is corrected for the number of variants."""
        row, *_ = add(tuning_judge.TuningJudge()).rows
        self.assertAlmostEqual(0.975, row.confidence)

    def test_unmatched(self):
        """A pattern of no metric leaves the verdict open."""
        judge = tuning_judge.TuningJudge(
            max_loss_percent={"virtio": {"disk.*": 5}}
        )
        self.assertEqual(("disk.*",), add(judge).unmatched)

    def test_other_question(self):
        """Conditions without a variant are not judged."""
        judge = tuning_judge.TuningJudge()
        judge.add(made.repetition(1, [made.taken(1, {RATE: [1.0]})]))
        self.assertEqual("void", judge.judgement().status)
