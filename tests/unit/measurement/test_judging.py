# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import repetition
from tests.unit import made


@ddt.ddt
class StatusTestCase(unittest.TestCase):
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

    def test_warm_ups_are_not_judged(self):
        warm = made.build_repetition(0, {made.IOPS: 100.0}, counted=False)
        got = made.judgement([warm, *made.several(made.NEAR)])
        self.assertEqual("passed", got.status)
        self.assertEqual(4, got.rows[0].comparison.guest_repetitions)

    def test_metric_without_a_limit(self):
        got = made.judgement(made.several(made.BOTH), {"disk.*": 15})
        self.assertEqual(["passed", None], [r.status for r in got.rows])
        self.assertEqual("passed", got.status)

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


class LimitTestCase(unittest.TestCase):
    def test_the_pattern_of_the_limit(self):
        """It is the metric's own name, or the most exact glob."""
        limits = {"*": 15, "cpu.*": 10.5, made.IOPS.name: 10.6}
        rows = made.judgement(made.several(made.BOTH), limits).rows
        self.assertEqual(
            [
                (10.6, made.IOPS.name, "inconclusive"),
                (10.5, "cpu.*", "failed"),
            ],
            [(row.limit, row.pattern, row.status) for row in rows],
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
            not strictness, any(finding.omitted for finding in got.findings)
        )

    @ddt.data((3, 1), (4, 1, 2), (7, 1, 2), (5, 1, 2, 3, 4, 5))
    def test_too_many_void_the_run(self, entry):
        judgement = self.rebooted(*entry)
        self.assertEqual("void", judgement.status, judgement.sentence())
        self.assertEqual((), judgement.omitted)


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
