# SPDX-License-Identifier: Apache-2.0
"""Tests of what counts of a run."""

import dataclasses
import unittest

import ddt

from rally_vmperf.judging import counting
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from tests.unit import made


def entries(kinds, count=8, metrics=()):
    """Return repetitions, of which the first ones have findings.

    :param kinds: The kind of the finding of each of the first repetitions.
    """
    found = []
    for number in range(1, count + 1):
        findings = ()
        if number <= len(kinds):
            kind = kinds[number - 1]
            findings = (finding.Finding(kind, "g1", "x", metrics=metrics),)
        found.append(
            made.repetition(
                number,
                [made.build_condition(number, {made.IOPS: [100.0 + number]})],
                findings=findings,
            )
        )
    return found


@ddt.ddt
class TestCount(unittest.TestCase):
    """Void repetitions do not count, unless they are many."""

    @ddt.data(
        (["guest_rebooted"], (), {1}),
        (["guest_rebooted"] * 2, (), {1, 2}),
        # More than a quarter: the cause may have affected the others.
        (["guest_rebooted"] * 3, (), set()),
        (["guest_rebooted"] * 3, ("guest_rebooted",), set()),
        (["guest_rebooted", "clock_wrong"], ("clock_wrong",), {1}),
        # A change of the baseline voids the run.
        (["baseline_changed"], (), set()),
        (["emulated_guest"], (), set()),
    )
    @ddt.unpack
    def test_omitted(self, kinds, tolerate, omitted):
        counted = counting.count(entries(kinds), tolerate)
        self.assertEqual(omitted, counted.omitted)
        self.assertEqual(8, len(counted.repetitions))
        self.assertEqual(8 - len(omitted), len(counted.judged))
        self.assertEqual(
            kinds, [found.kind for found, _ in counted.occurrences]
        )

    def test_few(self):
        """At least three must remain."""
        counted = counting.count(entries(["guest_rebooted"], count=3), ())
        self.assertEqual(frozenset(), counted.omitted)

    def test_duplicates(self):
        """A repetition that was recorded twice counts once."""
        all_entries = entries([])
        counted = counting.count([*all_entries, all_entries[2]], ())
        self.assertEqual(all_entries, counted.judged)
        ((found, number),) = counted.occurrences
        self.assertEqual(("repetition_duplicated", 3), (found.kind, number))


@ddt.ddt
class TestCollectSamples(unittest.TestCase):
    """The samples by condition and metric."""

    def collect(self, *arguments, tolerate=(), **options):
        """Return the samples, absences and omissions of repetitions."""
        return counting.collect_samples(
            entries(*arguments, **options),
            lambda condition, metric: frozenset(tolerate),
        )

    def test_samples(self):
        samples, absences, omissions = self.collect(["guest_rebooted"])
        self.assertEqual(7, len(samples["", made.IOPS]))
        self.assertEqual({}, absences)
        numbers, findings = omissions[""]
        self.assertEqual(1, len(numbers))
        self.assertEqual(
            ["guest_rebooted"], [found.finding.kind for found in findings]
        )

    @ddt.data((), ("swap_or_oom",))
    def test_void_metric(self, tolerate):
        """A finding about a metric voids it, unless its SLA tolerates it."""
        samples, absences, _ = self.collect(
            ["swap_or_oom"], metrics=(made.IOPS.name,), tolerate=tolerate
        )
        self.assertEqual(bool(tolerate), ("", made.IOPS) in samples)
        self.assertEqual(not tolerate, ("", made.IOPS) in absences)

    def test_warmup(self):
        """Its findings void nothing, and its metrics are not missing."""
        first, *others = entries(["guest_rebooted"])
        first = dataclasses.replace(
            made.changed(
                first,
                counted=False,
                observations=made.observations(["g1"], {made.TIME: [1.0]}),
            ),
            counted=False,
        )
        samples, absences, omissions = counting.collect_samples(
            [first, *others], lambda condition, metric: frozenset()
        )
        self.assertEqual(7, len(samples["", made.IOPS]))
        self.assertEqual(({}, {}), (absences, omissions))

    def test_bare_metal(self):
        """Guests are compared with guests."""
        samples, *_ = self.collect(["bare_metal_busy"] * 8)
        self.assertEqual(8, len(samples["", made.IOPS]))


class MissingTestCase(unittest.TestCase):
    def test_half_a_repetition_gives_what_is_whole(self):
        entries = made.several(made.BOTH)
        gap = repetition.Missing(
            name=made.TIME.name, machine="g1", reason="killed"
        )
        entries[3] = made.changed(
            entries[3],
            state="incomplete",
            missing=(gap,),
            observations=entries[3].condition.observations[:1],
        )
        got = made.judgement(entries, {"*": 50})
        self.assertEqual(
            [4, 3], [row.comparison.guest_repetitions for row in got.rows]
        )
        self.assertEqual("inconclusive", got.status)
        self.assertEqual((4,), got.missing.incomplete)
        self.assertEqual((gap.sentence(),), got.missing.reasons)

    def test_a_guest_is_missing(self):
        entries = made.several(made.NEAR)
        more = made.observations(["g2"], {made.IOPS: [11000.0]})
        entries = [
            made.changed(e, observations=e.condition.observations + more)
            for e in entries
        ]
        entries[0] = made.changed(
            entries[0],
            state="incomplete",
            observations=entries[0].condition.observations[:1],
        )
        got = made.judgement(entries)
        self.assertEqual(
            [2, 3, 4],
            [samples.number for samples in got.rows[0].figure.sides[1]],
        )

    def test_a_copy_is_missing(self):
        entries = [
            made.changed(entry, observations=entry.condition.observations * 2)
            for entry in made.several(made.NEAR)
        ]
        entries[0] = made.changed(
            entries[0],
            state="interrupted",
            observations=entries[0].condition.observations[:1],
        )
        self.assertEqual(
            3, len(made.judgement(entries).rows[0].figure.sides[1])
        )

    def test_the_gap_is_the_metric_itself(self):
        gap = repetition.Missing(
            name=made.IOPS.name, machine="g1", reason="second copy died"
        )
        entries = made.several(made.NEAR)
        entries[0] = made.changed(
            entries[0], state="incomplete", missing=(gap,)
        )
        self.assertEqual(
            3, len(made.judgement(entries).rows[0].figure.sides[1])
        )

    def test_a_warmup_without_a_record(self):
        """A journal lacks its line; Rally knows that an iteration is lost."""
        entries = [
            dataclasses.replace(repetition, number=repetition.number + 2)
            for repetition in made.several(made.NEAR)
        ]
        first, second = (
            made.build_repetition(number, {made.IOPS: 100.0}, counted=False)
            for number in (1, 2)
        )
        for repetitions, warmups, unreadable in (
            ([first, second, *entries], 0, 0),
            ([second, *entries], 1, 0),
            (entries, 2, 0),
            ([None, second, *entries], 0, 1),
            ([None, *entries], 1, 1),
            ([second], 1, 0),
        ):
            got = made.judgement(repetitions)
            self.assertEqual(warmups, got.missing.warmups, repetitions)
            self.assertEqual(unreadable, got.missing.unreadable)
            self.assertEqual(not (warmups or unreadable), got.passed)

    def test_a_counted_one_that_is_lost_is_no_warmup(self):
        first, *others = made.several(made.NEAR)
        for repetitions in ([first, *others[1:]], others, [first]):
            got = made.judgement(repetitions).missing
            self.assertEqual(
                (0, 4 - len(repetitions)), (got.warmups, got.absent)
            )

    def test_claims_to_be_complete(self):
        entries = made.several(
            made.NEAR, expected_metrics=(made.IOPS, made.TIME)
        )
        got = made.judgement(entries, {"disk.*": 15})
        self.assertEqual("inconclusive", got.status)
        self.assertEqual(
            (f"{made.TIME.name}: not reported",), got.missing.reasons
        )

    def test_never_sampled(self):
        entries = made.several(
            made.NEAR, expected_metrics=(made.IOPS, made.TIME)
        )
        row = made.judgement(entries).rows[1]
        self.assertEqual("inconclusive", row.status)
        self.assertIsNone(row.comparison)
        self.assertEqual(gathering.NO_COMPLETE_SAMPLES, row.reason)

    def test_void_samples(self):
        """Each guest has it, and a finding voids it."""
        found = made.build_findings("partial_overlap", made.IOPS.name)
        run = [
            made.changed(measured, findings=found)
            for measured in made.several(made.NEAR)
        ]
        row, *_ = made.judgement(run, {"disk.*": 15}).rows
        self.assertEqual(
            f"{gathering.NO_COMPLETE_SAMPLES} without the finding "
            "partial_overlap",
            row.reason,
        )

    def test_baseline_lacks_it(self):
        """Metrics of the same tool are named, or the tools."""
        other = dataclasses.replace(made.IOPS, name="disk.fio.other.iops")
        unit = dataclasses.replace(made.IOPS, unit="B/s")
        for metrics, reason in (
            (
                [made.TIME],
                "has no such metric (it has: cpu.bzip2.*), measure it on bare "
                "metal, too",
            ),
            (
                [other, made.TIME],
                "has no such metric (it has: disk.fio.other.iops), measure it "
                "on bare metal, too",
            ),
            (
                [unit],
                "has it as ratio in 'B/s', higher is better, the guests as "
                "ratio in 'ops/s', higher is better, record the baseline "
                "again",
            ),
        ):
            base = made.reference(dict.fromkeys(metrics, (1.0, 2.0, 3.0)))
            entries = made.several(made.NEAR, reference=base)
            row = made.judgement(entries).rows[0]
            self.assertEqual(f"baseline 'r740' {reason}", row.reason)

    def test_baseline_too_short(self):
        base = made.reference({made.IOPS: (12300.0, 12310.0)})
        got = made.judgement(made.several(made.NEAR, reference=base))
        self.assertEqual("inconclusive", got.status)
        (row,) = got.rows
        self.assertEqual(
            verdict.more_repetitions(4, 2), row.figure.advise(row.limit)
        )

    def test_counts(self):
        entries = made.several(made.NEAR, planned_repetitions=7)
        entries[0] = made.changed(entries[0], state="interrupted")
        got = made.judgement([*entries, None]).missing
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

    def test_sentence(self):
        missing = counting.Shortfall(
            planned=9,
            complete=3,
            incomplete=(2, 4),
            interrupted=(5,),
            unreadable=1,
            absent=2,
            warmups=1,
            reasons=("a", "b", "c", "d", "e"),
        )
        self.assertEqual(
            "repetitions incomplete: 2, 4, interrupted: 5, without a readable "
            "record: 1, not started: 2, of the warm-up without a record: 1 "
            "(3 of 9 are complete): a; b; c; 2 more reasons",
            missing.sentence(),
        )
        nothing = counting.Shortfall(planned=1, complete=1)
        self.assertEqual("", nothing.sentence())
