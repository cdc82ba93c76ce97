import subprocess
import sys
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement import overhead_judge
from tests.unit import made


@ddt.ddt
class StatusTestCase(unittest.TestCase):
    @ddt.data(
        ("passed", made.several(made.NEAR), {"*": 15}, True),
        ("failed", made.several(made.FAR), {"*": 15}, False),
        ("inconclusive", made.several(made.NEAR), {"*": 10.6}, False),
        ("failed", made.several(made.BOTH), {"*": 15}, False),
        ("void", [], {"*": 15}, False),
        ("void", [None], {"*": 15}, False),
        ("inconclusive", made.several(made.NEAR), {}, False),
        ("inconclusive", made.several(made.NEAR), {"*": 15, "x.*": 1}, False),
        ("inconclusive", made.several(made.NEAR)[:2], {"*": 15}, False),
        ("inconclusive", made.several(made.NEAR, planned=5), {"*": 15}, False),
        ("inconclusive", [*made.several(made.NEAR), None], {"*": 15}, False),
    )
    @ddt.unpack
    def test_overall(self, status, entries, max_percent, passed):
        got = made.judgement(entries, max_percent)
        self.assertEqual(status, got.status)
        self.assertEqual(passed, got.passed)
        self.assertTrue(got.sentence().startswith(f"{status}: "))

    def test_failed_outweighs_void(self):
        void = made.seen("guest_rebooted", made.IOPS.name)
        got = made.judgement(made.several(made.BOTH, findings=void))
        self.assertEqual(["void", "failed"], [r.status for r in got.rows])
        self.assertEqual("failed", got.status)

    def test_warm_ups_are_not_judged(self):
        warm = made.one(0, {made.IOPS: 100.0}, counted=False)
        got = made.judgement([warm, *made.several(made.NEAR)])
        self.assertEqual("passed", got.status)
        self.assertEqual(4, got.rows[0].comparison.guest_repetitions)

    def test_metric_without_a_limit(self):
        got = made.judgement(made.several(made.BOTH), {"disk.*": 15})
        self.assertEqual(["passed", None], [r.status for r in got.rows])
        self.assertEqual("passed", got.status)
        self.assertIn("no limit", got.rows[1].sentence())

    def test_on_inconclusive(self):
        entries = made.several(made.NEAR)
        got = made.judgement(entries, {"*": 10.6}, on_inconclusive="pass")
        self.assertEqual("inconclusive", got.status)
        self.assertTrue(got.passed)

    def test_on_inconclusive_forgives_no_failure(self):
        entries = made.several(made.BOTH)
        got = made.judgement(
            entries, {"disk.*": 10.6, "cpu.*": 1}, on_inconclusive="pass"
        )
        self.assertFalse(got.passed)

    @ddt.data([], [None, None], made.several(made.NEAR, observations=()))
    def test_nothing_measured_never_passes(self, entries):
        got = made.judgement(entries, on_inconclusive="pass")
        self.assertEqual("void", got.status)
        self.assertFalse(got.passed)
        self.assertIn("nothing was measured", got.sentence())

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(
        strategies.integers(0, 3),
        strategies.sampled_from(["incomplete", "interrupted", None]),
        strategies.floats(-90, 1e6),
    )
    def test_missing_never_passes(self, place, state, limit):
        entries = made.several(made.NEAR)
        entries[place] = state and made.changed(
            entries[place], state=state, missing=made.GAP, observations=()
        )
        got = made.judgement(entries, {"*": limit})
        self.assertFalse(got.passed)
        self.assertTrue(got.missing)


class MergeTestCase(unittest.TestCase):
    @hypothesis.settings(max_examples=30)
    @hypothesis.given(strategies.randoms(), strategies.integers(0, 5))
    def test_same_as_single_in_any_order(self, chance, cut):
        entries = [*made.several(made.BOTH), None]
        single = made.judgement(entries)
        chance.shuffle(entries)
        left, right = made.judge(entries[:cut]), made.judge(entries[cut:])
        left.merge(right)
        self.assertEqual(single, left.judgement())
        self.assertEqual(single.sentence(), left.judgement().sentence())


class SentenceTestCase(unittest.TestCase):
    def test_order(self):
        entries = made.several(made.BOTH)
        text = made.judgement([*entries, None]).sentence()
        parts = [
            "failed: 1 of 2 metrics is beyond the limit",
            "cpu.bzip2.compress_time: bare metal 10.0 s, guest 13.0 s",
            "without a readable record: 1",
            "passed: disk.fio.randread.iops.",
        ]
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places, text)
        self.assertEqual(sorted(places), places, text)

    def test_passed(self):
        text = made.judgement(made.several(made.NEAR)).sentence()
        self.assertEqual(
            "passed: 1 of 1 metric is within the limit. "
            "passed: disk.fio.randread.iops.",
            text,
        )


@ddt.ddt
class ArgumentsTestCase(unittest.TestCase):
    @ddt.data(
        ({"confidence": 95}, "confidence is 95"),
        ({"on_inconclusive": "maybe"}, "use fail or pass"),
        ({"tolerate": ["haunted"]}, "Unknown kind of finding 'haunted'"),
    )
    @ddt.unpack
    def test_refused(self, arguments, message):
        with self.assertRaisesRegex(ValueError, message):
            overhead_judge.OverheadJudge({"*": 1}, **arguments)


class ImportTestCase(unittest.TestCase):
    def test_stays_cheap(self):
        """Listing plugins must not wait for scientific libraries."""
        program = (
            "import sys, rally_vmperf.measurement.overhead_judge;"
            "print({'numpy', 'scipy', 'rally'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("set()", done.stdout.strip())
