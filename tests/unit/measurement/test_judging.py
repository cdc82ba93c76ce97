import dataclasses
import re
import unittest

import ddt

from rally_vmperf.measurement import repetition
from tests.unit import made

ONE_SESSION = "interval_one_session"


@ddt.ddt
class StatusTestCase(unittest.TestCase):
    @ddt.data(
        ("failed", made.several(made.BOTH), {"*": 15}, False),
        ("inconclusive", made.several(made.NEAR), {}, False),
        (
            "inconclusive",
            made.several(made.NEAR, planned_repetitions=5),
            {"*": 15},
            False,
        ),
    )
    @ddt.unpack
    def test_overall(self, status, entries, max_percent, passed):
        got = made.judgement(entries, max_percent)
        self.assertEqual(status, got.status)
        self.assertEqual(passed, got.passed)
        self.assertTrue(got.sentence().startswith(f"{status}: "))

    def test_failed_outweighs_void(self):
        void = made.build_findings(
            "tool_version_differs", metrics=(made.IOPS.name,)
        )
        got = made.judgement(made.several(made.BOTH, findings=void))
        self.assertEqual(["void", "failed"], [r.status for r in got.rows])
        self.assertEqual("failed", got.status)

    def test_a_finding_voids_the_metrics_that_it_concerns(self):
        void = made.build_findings(
            "tool_version_differs", metrics=(made.TIME.name,)
        )
        got = made.judgement(
            made.several(made.BOTH, findings=void), {"disk.*": 15}
        )
        self.assertEqual(["passed", None], [r.status for r in got.rows])
        # What is void is never a pass.
        self.assertEqual("void", got.status)
        got = made.judgement(made.several(made.BOTH, findings=void))
        self.assertEqual(
            {made.IOPS.name: "passed", made.TIME.name: "void"},
            {row.metric.name: row.status for row in got.rows},
        )
        self.assertEqual("void", got.status)
        self.assertEqual(1, got.sentence().count("(g1: so it is)"))

    def test_warm_ups_are_not_judged(self):
        warm = made.build_repetition(0, {made.IOPS: 100.0}, counted=False)
        got = made.judgement([warm, *made.several(made.NEAR)])
        self.assertEqual("passed", got.status)
        self.assertEqual(4, got.rows[0].comparison.guest_repetitions)

    def test_metric_without_a_limit(self):
        got = made.judgement(made.several(made.BOTH), {"disk.*": 15})
        self.assertEqual(["passed", None], [r.status for r in got.rows])
        self.assertEqual("passed", got.status)
        self.assertIn("no limit", got.rows[1].sentence())

    @ddt.data((made.several(made.NEAR)[:2], 3), (made.several(made.NEAR), 2))
    @ddt.unpack
    def test_on_inconclusive_forgives_no_missing_interval(self, entries, bare):
        """Fewer than three on either side could not have failed."""
        few = made.reference({made.IOPS: made.BARE[made.IOPS][:bare]})
        planned = len(entries)
        entries = [
            dataclasses.replace(
                made.changed(repetition, reference=few),
                planned_repetitions=planned,
            )
            for repetition in entries
        ]
        for limit in (10.6, 99):
            got = made.judgement(entries, {"*": limit}, on_inconclusive="pass")
            self.assertEqual("inconclusive", got.status)
            self.assertFalse(got.missing)
            self.assertFalse(got.passed, got.sentence())


class SentenceTestCase(unittest.TestCase):
    def test_order(self):
        entries = made.several(made.BOTH)
        text = made.judgement([*entries, None]).sentence()
        parts = [
            "failed: 1 of 2 metrics is beyond the limit",
            "cpu.bzip2.compress_time: bare metal 10.0 s, guest 13.0 s",
            "without a readable record: 1",
            "passed: disk.fio.randread.iops overhead 10.6 %",
        ]
        places = [text.find(fragment) for fragment in parts]
        self.assertNotIn(-1, places, text)
        self.assertEqual(sorted(places), places, text)

    def test_five_lines(self):
        """The verdict, what is not passed, and the place of the rest."""
        metrics = [
            dataclasses.replace(made.IOPS, name=f"disk.fio.p{number}.iops")
            for number in range(9)
        ]
        good = dataclasses.replace(made.IOPS, name="disk.fio.good.iops")
        bare = dict.fromkeys([*metrics, good], made.BARE[made.IOPS])
        entries = made.several(
            {
                **dict.fromkeys(metrics, made.FAR[made.IOPS]),
                good: made.NEAR[made.IOPS],
            },
            reference=made.reference(bare),
        )
        lines = made.judgement(entries).lines()
        self.assertEqual(5, len(lines))
        self.assertTrue(lines[0].startswith("failed: 9 of 10 metrics "))
        for number, line in enumerate(lines[1:4]):
            self.assertTrue(line.startswith(f"disk.fio.p{number}.iops: bare"))
        self.assertRegex(
            lines[4], "^6 more reasons and all figures: rally-vmperf judge. "
        )
        self.assertNotIn("good", " ".join(lines))

    def test_the_pattern_of_the_limit(self):
        """It is named, unless it is the metric's own name."""
        entries = made.several(made.BOTH)
        limits = {"*": 15, "cpu.*": 10.5, made.IOPS.name: 10.6}
        rows = made.judgement(entries, limits).rows
        self.assertEqual(
            ["limit 10.6 %: inconclusive", "limit 10.5 % (cpu.*): failed"],
            [
                re.search(r"limit [^:]*: \w+", row.sentence())[0]
                for row in rows
            ],
        )

    def test_passed(self):
        text = made.judgement(made.several(made.NEAR)).sentence()
        self.assertEqual(
            "passed: 1 of 1 metric is within the limit, with 1 warning: "
            "interval_one_session. "
            "passed: disk.fio.randread.iops overhead 10.6 % (95 % interval "
            "10.2 to 11.0 %, limit 15 %).",
            text,
        )


@ddt.ddt
class LeftOutTestCase(unittest.TestCase):
    """The repetitions and metrics that a finding voids."""

    def rebooted(self, total, *numbers, counted=True):
        """Return a judgement of repetitions with reboots in some of them."""
        series = {made.IOPS: [11000.0 + number for number in range(total)]}
        entries = made.several(series)
        for number in numbers:
            entries[number - 1] = dataclasses.replace(
                made.changed(
                    entries[number - 1],
                    findings=made.build_findings("guest_rebooted"),
                    counted=counted,
                ),
                counted=counted,
            )
        return made.judgement(entries)

    def test_one_of_five_is_left_out(self):
        judgement = self.rebooted(5, 2)
        self.assertEqual("passed", judgement.status, judgement.sentence())
        self.assertEqual((2,), judgement.omitted)
        self.assertEqual(4, judgement.rows[0].comparison.guest_repetitions)
        self.assertIn(
            "1 repetition of 5 is void and omitted (2): ", judgement.sentence()
        )
        self.assertIn("(g1: so it is)", judgement.sentence())
        self.assertEqual(
            [], [finding for finding in judgement.findings if finding.voids]
        )

    def test_what_a_void_one_lacks_is_not_missing(self):
        """A reboot cuts a command off; the same gap elsewhere counts."""
        entries = made.several(
            {made.IOPS: [11000.0, 11001.0, 11002.0, 11003.0]}
        )
        gap = repetition.Missing(
            name=made.IOPS.name, machine="g1", reason="it broke"
        )
        for kinds, expected in (
            (("guest_rebooted",), "passed"),
            ((), "inconclusive"),
        ):
            short = made.changed(
                entries[1],
                state="incomplete",
                observations=(),
                missing=(gap,),
                findings=tuple(
                    x for k in kinds for x in made.build_findings(k)
                ),
            )
            judgement = made.judgement([entries[0], short, *entries[2:]])
            self.assertEqual(expected, judgement.status, judgement.sentence())

    @ddt.data(
        (1.0, "passed", ()),
        (0.9, "inconclusive", ()),
        (0.9, "passed", ("partial_overlap",)),
    )
    @ddt.unpack
    def test_guests_that_worked_together_for_a_part(
        self, share, status, tolerate
    ):
        """A loss of 10.6 % may be one of 11.7 %, unless this is tolerated."""
        entries = [
            made.repetition(
                number,
                [
                    made.build_condition(
                        number,
                        {made.IOPS: [10999.0 + number, 11001.5 + number]},
                        synchronisation=made.overlapping(share, made.IOPS),
                        reference=made.reference(made.BARE),
                    )
                ],
            )
            for number in (1, 2, 3, 4)
        ]
        got = made.judgement(entries, {"*": 11.4}, tolerate=tolerate)
        self.assertEqual(status, got.status, got.sentence())
        kinds = {finding.finding.kind for finding in got.findings}
        is_corrected = share < 1 and not tolerate
        self.assertEqual(is_corrected, "loss_understated" in kinds)

    @ddt.data(
        ((2,), {}, 4, "passed"),
        ((2, 4), {}, 3, "passed"),
        ((2, 3, 4), {}, 2, "inconclusive"),
        ((1, 2, 3, 4, 5), {}, None, "inconclusive"),
        ((2,), {"tolerate": ["partial_overlap"]}, 5, "passed"),
    )
    @ddt.unpack
    def test_a_late_command_voids_its_own_samples(
        self, late, strictness, judged, status
    ):
        entries = made.several(
            {
                made.IOPS: [11000.0 + number for number in range(5)],
                made.TIME: [13.0 + number / 1e2 for number in range(5)],
            }
        )
        for number in late:
            findings = made.build_findings("partial_overlap", made.IOPS.name)
            findings += made.build_findings(
                "partial_overlap", "a.percentile_p99_99"
            )
            entries[number - 1] = made.changed(
                entries[number - 1], findings=findings
            )
        got = made.judgement(entries, {"*": 50}, **strictness)
        rows = {row.metric: row for row in got.rows}
        self.assertEqual("passed", rows[made.TIME].status)
        self.assertEqual(5, rows[made.TIME].comparison.guest_repetitions)
        self.assertEqual(status, rows[made.IOPS].status)
        self.assertEqual(status, got.status, got.sentence())
        compared = rows[made.IOPS].comparison
        self.assertEqual(judged, compared and compared.guest_repetitions)
        self.assertEqual(
            not strictness, "void samples are omitted" in got.sentence()
        )

    @ddt.data((3, 1), (4, 1, 2), (7, 1, 2), (5, 1, 2, 3, 4, 5))
    def test_too_many_void_the_run(self, entry):
        judgement = self.rebooted(*entry)
        self.assertEqual("void", judgement.status, judgement.sentence())
        self.assertEqual((), judgement.omitted)

    def test_a_warmup_voids_nothing(self):
        judgement = self.rebooted(4, 1, counted=False)
        self.assertEqual((), judgement.omitted)
        self.assertEqual(["passed"], [row.status for row in judgement.rows])


@ddt.ddt
class DoubtTestCase(unittest.TestCase):
    """A guest that is far faster than bare metal casts doubt on others."""

    FAST = (20000.0, 20010.0, 20020.0, 20010.0)

    @ddt.data(
        ("cpu", "disk", "void"),
        ("memory", "disk", "void"),
        ("disk", "disk", "void"),
        ("disk", "network", "passed"),
    )
    @ddt.unpack
    def test_other_metrics(self, fast, other, status):
        """It voids the machine, its part, or at least the pass."""
        quick = dataclasses.replace(made.IOPS, name=f"{fast}.x.fast")
        usual = dataclasses.replace(made.IOPS, name=f"{other}.x.usual")
        bare = made.BARE[made.IOPS]
        entries = made.several(
            {quick: self.FAST, usual: made.NEAR[made.IOPS]},
            reference=made.reference({quick: bare, usual: bare}),
        )
        judgement = made.judgement(entries, {"*": 15})
        rows = {row.metric.name: row.status for row in judgement.limited}
        self.assertEqual({quick.name: "void", usual.name: status}, rows)
        self.assertEqual("void", judgement.status, judgement.sentence())
        without_limit = made.judgement(entries, {usual.name: 15})
        self.assertEqual("passed", without_limit.status)
        self.assertIn("guest_faster", without_limit.headline())


class WarningsTestCase(unittest.TestCase):
    """Nothing passes in silence."""

    def test_kinds_and_numbers(self):
        kinds = ("steal_time", "governor_not_performance", ONE_SESSION)
        findings = (
            *made.build_findings(kinds[0], "g1"),
            *made.build_findings(kinds[0], "g2"),
            *made.build_findings(kinds[1], "bm"),
        )
        entries = made.several(made.NEAR, findings=findings)
        self.assertEqual(
            "passed: 1 of 1 metric is within the limit, with 4 warnings: "
            "governor_not_performance, steal_time (2), interval_one_session",
            made.judgement(entries).headline(),
        )
        quiet = made.judgement(entries, tolerate=kinds)
        self.assertEqual(
            "passed: 1 of 1 metric is within the limit", quiet.headline()
        )

    def test_differences_of_systems_are_one_warning(self):
        for kinds, text in (
            (
                ("kernel_differs", "mitigations_differ"),
                "guest's kernel and mitigations differ",
            ),
            (
                (
                    "instructions_differ",
                    "kernel_differs",
                    "mitigations_differ",
                ),
                "guest's kernel, mitigations and instructions differ",
            ),
            (("kernel_differs",), "guest's kernel differs"),
        ):
            findings = [
                finding_
                for kind in kinds
                for guest in ("g1", "g2")
                for finding_ in made.build_findings(kind, guest)
            ]
            entries = made.several(made.NEAR, findings=tuple(findings))
            headline = made.judgement(entries).headline()
            self.assertIn(
                f", with 2 warnings: {ONE_SESSION}, {text}", headline
            )
