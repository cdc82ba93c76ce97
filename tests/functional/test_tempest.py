# SPDX-License-Identifier: Apache-2.0
"""`tempest run` asks the same question, of guests on Tempest's credentials."""

from tests.functional import gate
from tests.functional import laboratory

#: The processor is within its limit, the memory beyond any, however much
#: the repetitions differ: the first allows a ratio of 1 to 10,000, the other
#: asks for one of 1,000.
LIMITS = {
    "vmperf_overhead": {
        "max_percent": {"cpu.*.rate": 99.99, "memory.*": -100000},
        "tolerate": [
            "guest_faster",
            "bare_metal_is_guest",
            "bare_metal_busy",
            "clock_wrong",
        ],
    }
}


class TestTempest(laboratory.Case):
    """One boot, one test that passes and one that says why it fails."""

    def test_wide_limits_pass_and_strict_ones_fail(self):
        """Verdict, records and reports are there, and nothing is left."""
        lab = self.laboratory
        task = laboratory.TASKS / "tempest.yaml"
        lab.record_baseline(
            "tempest",
            *("--task", str(task), "--flavor", "vmperf.tiny"),
        )
        before = lab.journals()
        there = gate.Workspace(lab, "tempest", LIMITS, baseline="tempest")
        process = there.run(
            *("run", "--serial", "--regex", r"vmperf.*test_(cpu|memory)")
        )
        output = process.stdout + process.stderr
        self.assertEqual(1, process.returncode, output[-4000:])
        self.assertRegex(output, r"TestOverhead\.test_cpu.*ok")
        self.assertRegex(output, r"TestOverhead\.test_memory.*FAILED")
        self.assertRegex(
            output, r"failed: \d+ of \d+ metrics with a limit are beyond"
        )
        self.assertIn("limit -100000 % (memory.*): failed", output)
        new = lab.journals() - before
        self.assertEqual(2, len(new), output[-4000:])
        for path in new:
            records = lab.records(path)
            self.assertEqual(
                ["complete"] * 3,
                [record.repetition.state for record in records],
            )
            self.assertTrue(path.with_suffix(".html").exists())
        self.assertEqual([], list((lab.journal_dir / "owners").glob("*.json")))
