import dataclasses
import subprocess
import sys
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judging
from rally_vmperf.measurement import repetition
from tests.unit.measurement import made

NEAR = {made.RATE: (11000.0, 11050.0, 10980.0, 11020.0)}  # overhead 10.6 %
FAR = {made.RATE: (9000.0, 9050.0, 8980.0, 9020.0)}  # overhead 26.8 %
BOTH = {**NEAR, made.TIME: (13.0, 13.02, 12.98, 13.01)}  # overhead 30 %


def judge(entries, max_percent=None, **arguments):
    """Return a judge that was given these repetitions."""
    limits = {"*": 15} if max_percent is None else max_percent
    got = judging.OverheadJudge(limits, **arguments)
    for entry in entries:
        got.add(entry)
    return got


def judgement(entries, max_percent=None, **arguments):
    return judge(entries, max_percent, **arguments).judgement()


def seen(kind, subject="guest-0"):
    return (finding.Finding(kind=kind, subject=subject, seen="so it is"),)


GAP = (repetition.Missing(what="fio", source="guest-0", reason="gone"),)


@ddt.ddt
class StatusTestCase(unittest.TestCase):
    @ddt.data(
        ("passed", made.several(NEAR), {"*": 15}, True),
        ("failed", made.several(FAR), {"*": 15}, False),
        ("inconclusive", made.several(NEAR), {"*": 10.6}, False),
        ("failed", made.several(BOTH), {"*": 15}, False),
        ("void", [], {"*": 15}, False),
        ("void", [None], {"*": 15}, False),
        ("inconclusive", made.several(NEAR), {}, False),
        ("inconclusive", made.several(NEAR), {"*": 15, "x.*": 1}, False),
        ("inconclusive", made.several(NEAR)[:2], {"*": 15}, False),
        ("inconclusive", made.several(NEAR, planned=5), {"*": 15}, False),
        ("inconclusive", [*made.several(NEAR), None], {"*": 15}, False),
    )
    @ddt.unpack
    def test_overall(self, status, entries, max_percent, passed):
        got = judgement(entries, max_percent)
        self.assertEqual(status, got.status)
        self.assertEqual(passed, got.passed)
        self.assertTrue(got.sentence().startswith(f"{status}: "))

    def test_failed_outweighs_void(self):
        void = seen("guest_rebooted", made.RATE.name)
        got = judgement(made.several(BOTH, findings=void))
        self.assertEqual(["void", "failed"], [r.status for r in got.rows])
        self.assertEqual("failed", got.status)

    def test_warm_ups_are_not_judged(self):
        warm = made.one(0, {made.RATE: 100.0}, counted=False)
        got = judgement([warm, *made.several(NEAR)])
        self.assertEqual("passed", got.status)
        self.assertEqual(4, got.rows[0].comparison.guest_repetitions)

    def test_metric_without_a_limit(self):
        got = judgement(made.several(BOTH), {"disk.*": 15})
        self.assertEqual(["passed", None], [r.status for r in got.rows])
        self.assertEqual("passed", got.status)
        self.assertIn("no limit", got.rows[1].sentence())

    def test_on_inconclusive(self):
        entries = made.several(NEAR)
        got = judgement(entries, {"*": 10.6}, on_inconclusive="pass")
        self.assertEqual("inconclusive", got.status)
        self.assertTrue(got.passed)

    def test_on_inconclusive_forgives_no_failure(self):
        entries = made.several(BOTH)
        got = judgement(
            entries, {"disk.*": 10.6, "cpu.*": 1}, on_inconclusive="pass"
        )
        self.assertFalse(got.passed)

    @ddt.data([], [None, None], made.several(NEAR, observations=()))
    def test_nothing_measured_never_passes(self, entries):
        got = judgement(entries, on_inconclusive="pass")
        self.assertEqual("void", got.status)
        self.assertFalse(got.passed)
        self.assertIn("nothing was measured", got.sentence())

    @hypothesis.settings(deadline=None, max_examples=30)
    @hypothesis.given(
        strategies.integers(0, 3),
        strategies.sampled_from(["incomplete", "interrupted", None]),
        strategies.floats(-90, 1e6),
    )
    def test_missing_never_passes(self, place, state, limit):
        entries = made.several(NEAR)
        entries[place] = state and dataclasses.replace(
            entries[place], state=state, missing=GAP, observations=()
        )
        got = judgement(entries, {"*": limit})
        self.assertFalse(got.passed)
        self.assertTrue(got.missing)


class MissingTestCase(unittest.TestCase):
    def test_half_a_repetition_gives_what_is_whole(self):
        entries = made.several(BOTH)
        gap = repetition.Missing(
            what=made.TIME.name, source="guest-0", reason="killed"
        )
        entries[3] = dataclasses.replace(
            entries[3],
            state="incomplete",
            missing=(gap,),
            observations=entries[3].observations[:1],
        )
        got = judgement(entries, {"*": 50})
        self.assertEqual(
            [4, 3], [row.comparison.guest_repetitions for row in got.rows]
        )
        self.assertEqual("inconclusive", got.status)
        self.assertEqual((4,), got.missing.incomplete)
        self.assertIn("cpu.compress.time of guest-0: killed", got.sentence())

    def test_a_guest_is_missing(self):
        entries = made.several(NEAR)
        more = made.observations("guest-1", {made.RATE: 11000.0})
        entries = [
            dataclasses.replace(e, observations=e.observations + more)
            for e in entries
        ]
        entries[0] = dataclasses.replace(
            entries[0],
            state="incomplete",
            observations=entries[0].observations[:1],
        )
        got = judgement(entries)
        self.assertEqual(
            [2, 3, 4], [gathered.number for gathered in got.rows[0].guest]
        )

    def test_a_copy_is_missing(self):
        entries = [
            dataclasses.replace(entry, observations=entry.observations * 2)
            for entry in made.several(NEAR)
        ]
        entries[0] = dataclasses.replace(
            entries[0],
            state="interrupted",
            observations=entries[0].observations[:1],
        )
        self.assertEqual(3, len(judgement(entries).rows[0].guest))

    def test_the_gap_is_the_metric_itself(self):
        gap = repetition.Missing(
            what=made.RATE.name, source="guest-0", reason="second copy died"
        )
        entries = made.several(NEAR)
        entries[0] = dataclasses.replace(
            entries[0], state="incomplete", missing=(gap,)
        )
        self.assertEqual(3, len(judgement(entries).rows[0].guest))

    def test_claims_to_be_complete(self):
        entries = made.several(NEAR, expected=(made.RATE, made.TIME))
        got = judgement(entries, {"disk.*": 15})
        self.assertEqual("inconclusive", got.status)
        self.assertIn("cpu.compress.time: nobody reported", got.sentence())

    def test_never_sampled(self):
        entries = made.several(NEAR, expected=(made.RATE, made.TIME))
        row = judgement(entries).rows[1]
        self.assertEqual("inconclusive", row.status)
        self.assertIsNone(row.comparison)
        self.assertIn("no counted repetition holds it", row.sentence())

    def test_baseline_lacks_it(self):
        base = made.reference({made.TIME: made.BARE[made.TIME]})
        row = judgement(made.several(NEAR, reference=base)).rows[0]
        self.assertIn("'r740' has no such metric", row.reason)
        self.assertIn("it has: cpu.compress.time", row.reason)

    def test_baseline_means_something_else(self):
        other = dataclasses.replace(made.RATE, unit="B/s")
        base = made.reference({other: (1.0, 2.0, 3.0)})
        row = judgement(made.several(NEAR, reference=base)).rows[0]
        self.assertIn("ratio in 'B/s'", row.reason)

    def test_baseline_too_short(self):
        base = made.reference({made.RATE: (12300.0, 12310.0)})
        got = judgement(made.several(NEAR, reference=base))
        self.assertEqual("inconclusive", got.status)
        self.assertIn("record a baseline with at least 3", got.sentence())

    def test_counts(self):
        entries = made.several(NEAR, planned=7)
        entries[0] = dataclasses.replace(entries[0], state="interrupted")
        got = judgement([*entries, None]).missing
        self.assertEqual(
            (7, 3, (1,), 1, 2),
            (
                got.planned,
                got.complete,
                got.interrupted,
                got.unreadable,
                got.absent,
            ),
        )


class FindingsTestCase(unittest.TestCase):
    def test_each_once(self):
        entries = made.several(NEAR, findings=seen("steal_time"))
        first, *_ = judgement(entries).findings
        self.assertEqual("steal_time", first.finding.kind)
        self.assertEqual((1, 2, 3, 4), first.repetitions)

    def test_about_a_guest_voids_all(self):
        got = judgement(made.several(BOTH, findings=seen("wrong_host")))
        self.assertEqual({"void"}, {row.status for row in got.rows})
        self.assertEqual("void", got.status)
        self.assertIn("guest-0: so it is", got.sentence())

    def test_tolerated(self):
        got = judgement(
            made.several(NEAR, findings=seen("wrong_host")),
            tolerate=["wrong_host"],
        )
        self.assertEqual("passed", got.status)
        self.assertTrue(got.findings[0].tolerated)

    def test_too_fast_to_be_true(self):
        fast = {made.RATE: (22000.0, 22100.0, 22050.0)}
        got = judgement(made.several(fast))
        self.assertEqual("void", got.rows[0].status)
        self.assertIn("significantly faster", got.sentence())
        told = judgement(made.several(fast), tolerate=["guest_faster"])
        self.assertTrue(told.passed)

    def test_another_baseline(self):
        entries = made.several(NEAR)
        later = dataclasses.replace(
            entries[0].reference, recorded_at="2026-02-02T00:00:00Z"
        )
        entries[2] = dataclasses.replace(entries[2], reference=later)
        self.assertEqual("void", judgement(entries).status)

    def test_the_interval_is_conditional(self):
        kinds = [
            one.finding.kind for one in judgement(made.several(NEAR)).findings
        ]
        self.assertEqual(["interval_one_session"], kinds)


@ddt.ddt
class CountsTestCase(unittest.TestCase):
    @ddt.data(
        ((0.0, 1.0, 2.0), 2, "passed", 2.0),
        ((0.0, 3.0, 0.0), 2, "failed", 3.0),
        ((0.0, 0.0, 0.0), 0, "passed", 0.0),
        ((9.0,), 2, "failed", 9.0),
        ((0.0, 0.0), 2, "inconclusive", 0.0),
    )
    @ddt.unpack
    def test_worst_repetition(self, values, limit, status, worst):
        got = judgement(
            made.several({made.COUNT: values}), {}, max_count={"*": limit}
        )
        self.assertEqual(status, got.status)
        self.assertEqual(worst, got.counts[0].worst)
        self.assertEqual(1.0, got.counts[0].bare_worst)
        self.assertIn(f": {status}", got.counts[0].sentence())

    def test_percentages_are_not_for_counts(self):
        entries = made.several({made.COUNT: (0.0,) * 3})
        got = judgement(entries, {"network.*": 15})
        self.assertEqual(("network.*",), got.unmatched)
        self.assertFalse(got.passed)


class MergeTestCase(unittest.TestCase):
    @hypothesis.settings(deadline=None, max_examples=30)
    @hypothesis.given(strategies.randoms(), strategies.integers(0, 5))
    def test_same_as_single_in_any_order(self, chance, cut):
        entries = [*made.several(BOTH), None]
        single = judgement(entries)
        chance.shuffle(entries)
        left, right = judge(entries[:cut]), judge(entries[cut:])
        left.merge(right)
        self.assertEqual(single, left.judgement())
        self.assertEqual(single.sentence(), left.judgement().sentence())


@ddt.ddt
class BeyondReturnTestCase(unittest.TestCase):
    @ddt.data(
        ("far beyond", made.several(FAR), True),
        ("within", made.several(NEAR), False),
        ("too early", made.several(FAR)[:2], False),
        ("nothing", [], False),
        ("only unreadable", [None] * 5, False),
        (
            "much to come",
            made.several(
                {made.RATE: (9000.0, 9050.0, 11300.0, 9020.0)}, planned=90
            ),
            False,
        ),
        (
            "without meaning",
            made.several(FAR, findings=seen("wrong_host")),
            False,
        ),
    )
    @ddt.unpack
    def test_overhead(self, name, entries, beyond):
        self.assertEqual(beyond, judge(entries).failed_beyond_return())

    def test_undecided(self):
        entries = made.several(NEAR)
        self.assertFalse(judge(entries, {"*": 10.6}).failed_beyond_return())

    def test_failed_but_not_for_sure(self):
        entries = made.several(NEAR)
        limit = judgement(entries).rows[0].comparison.low - 0.01
        got = judge(entries, {"*": limit})
        self.assertEqual("failed", got.judgement().status)
        self.assertFalse(got.failed_beyond_return())

    def test_count(self):
        entries = made.several({made.COUNT: (0.0, 9.0, 0.0)}, planned=9)
        got = judge(entries, {}, max_count={"*": 2})
        self.assertTrue(got.failed_beyond_return())


class SentenceTestCase(unittest.TestCase):
    def test_order(self):
        entries = made.several(BOTH)
        text = judgement([*entries, None]).sentence()
        parts = [
            "failed: 1 of 2 metrics is beyond the limit",
            "cpu.compress.time: bare metal 10.0 s, guest 13.0 s",
            "without a readable record: 1",
            "passed: disk.randread.iops.",
        ]
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places, text)
        self.assertEqual(sorted(places), places, text)

    def test_passed(self):
        text = judgement(made.several(NEAR)).sentence()
        self.assertEqual(
            "passed: 1 of 1 metric is within the limit. "
            "passed: disk.randread.iops.",
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
            judging.OverheadJudge({"*": 1}, **arguments)


class ImportTestCase(unittest.TestCase):
    def test_stays_cheap(self):
        """Listing plugins must not wait for scientific libraries."""
        program = (
            "import sys, rally_vmperf.measurement.judging;"
            "print({'numpy', 'scipy', 'rally'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("set()", done.stdout.strip())
