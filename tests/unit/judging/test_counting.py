# SPDX-License-Identifier: Apache-2.0
"""Tests of what counts of a run."""

import dataclasses
import unittest

import ddt

from rally_vmperf.judging import counting
from rally_vmperf.measurement import finding
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
