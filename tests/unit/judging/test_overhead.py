# SPDX-License-Identifier: Apache-2.0
"""Tests of the judge of overhead: several guests, no bare metal."""

import dataclasses
import typing
import unittest

import ddt

from rally_vmperf.judging.results import result
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from tests.unit import made

SPREAD = (0.999, 1.0, 1.001, 1.0005, 0.9995)
BARE = tuple(10000 * share for share in SPREAD)


def judge(losses, limit, overlap=None, **arguments):
    """Return the judgement on guests with these losses in percent.

    :param overlap: The share of the run in which all guests worked.
    """
    synchronisation = ()
    if overlap is not None:
        synchronisation = made.overlapping(overlap, made.IOPS)
    reference = made.reference({made.IOPS: BARE}, copies=len(losses))
    entries = []
    for number, share in enumerate(SPREAD, start=1):
        rates = [10000 * (1 - loss / 100) * share for loss in losses]
        condition = made.build_condition(
            number,
            {made.IOPS: rates},
            planned_repetitions=5,
            reference=reference,
            synchronisation=synchronisation,
        )
        entries.append(
            made.repetition(number, [condition], planned_repetitions=5)
        )
    return made.judgement(entries, {"*": limit}, **arguments)


@ddt.ddt
class TestSeveralGuests(unittest.TestCase):
    """One slow guest next to good ones."""

    def test_the_mean_passes_with_a_warning(self):
        judgement = judge((1, 1, 30, 1), 10)
        self.assertEqual("passed", judgement.status)
        self.assertIn("guests_differ", judgement.headline())
        (row,) = judgement.limited
        beyond = row.figure.contrast.list_beyond(10)
        self.assertEqual((["g3"], 4), ([*beyond], row.figure.guest_count))
        self.assertAlmostEqual(30, beyond["g3"].overhead_percent)

    @ddt.data((1, 1, 9, 1), (30, 30, 30, 30), (30,))
    def test_guests_that_do_not_differ(self, losses):
        """Within the limit, or as the mean guest."""
        self.assertNotIn("guests_differ", judge(losses, 10).headline())

    @ddt.data((30, "failed", 4, 0.9875), (5, "passed", 1, 0.95))
    @ddt.unpack
    def test_the_worst(self, loss, status, count, confidence):
        """Only a failure is corrected for the number of guests."""
        judgement = judge((1, 1, loss, 1), 10, statistic="worst")
        self.assertEqual(status, judgement.status)
        (row,) = judgement.limited
        decisive, guests = row.figure.find_decisive(row.status)
        self.assertEqual(
            ("g3", count), (row.figure.contrast.find_worst(status), guests)
        )
        self.assertAlmostEqual(confidence, decisive.confidence)
        self.assertAlmostEqual(loss, row.to_value().value)
        self.assertNotIn("guests_differ", judgement.headline())

    def test_the_worst_includes_the_overlap(self):
        """A loss of 20 % with an overlap of 0.91 may be one of 22 %."""
        for statistic, limit, status in (
            ("mean", 21, "inconclusive"),
            ("worst", 21, "inconclusive"),
            ("worst", 23, "passed"),
        ):
            judgement = judge(
                (20, 20, 20, 20), limit, 0.91, statistic=statistic
            )
            with self.subTest(statistic=statistic, limit=limit):
                self.assertEqual(status, judgement.status)

    def test_a_failure_needs_a_corrected_interval(self):
        """A guest alone would fail at 95 %."""
        rows = judge((1, 1, 30, 1), 10, statistic="worst").rows
        losses = rows[0].figure.contrast
        limit = (losses.each["g3"].low + losses.corrected["g3"].low) / 2
        judgement = judge((1, 1, 30, 1), limit, statistic="worst")
        self.assertEqual("inconclusive", judgement.status)
        _, guests = judgement.rows[0].figure.find_decisive("inconclusive")
        self.assertEqual(4, guests)

    @ddt.data((1, "void"), (20, "passed"))
    @ddt.unpack
    def test_a_fast_guest_by_chance(self, number, status):
        """One of many metrics can be faster than bare metal by chance."""
        bare = (99.0, 100.0, 101.0, 100.5, 99.5)
        first, *others = (
            dataclasses.replace(made.EVENTS, name=f"cpu.x{place}.rate")
            for place in range(number)
        )
        slow = tuple(0.95 * rate for rate in bare)
        values = {first: (106.0, 107.0, 108.0, 107.5, 106.5)}
        values.update(dict.fromkeys(others, slow))
        reference = made.reference(dict.fromkeys(values, bare))
        entries = made.several(values, reference=reference)
        judgement = made.judgement(entries, {first.name: 5})
        self.assertEqual(status, judgement.status, judgement.sentence())

    def test_a_finding_about_a_metric(self):
        """It voids no other metric of the same component."""
        other = dataclasses.replace(made.IOPS, name="disk.other.iops")
        values = {**made.NEAR, other: made.NEAR[made.IOPS]}
        bare = dict.fromkeys(values, made.BARE[made.IOPS])
        entries = made.several(
            values,
            reference=made.reference(bare),
            findings=made.build_findings(
                "swap_or_oom", other.name, (other.name,)
            ),
        )
        judgement = made.judgement(entries, {"*": 15})
        self.assertEqual("void", judgement.status)
        self.assertEqual(
            {made.IOPS: "passed", other: "void"},
            {row.metric: row.status for row in judgement.limited},
        )

    @ddt.data(((), "inconclusive"), (("fixed_rate",), "passed"))
    @ddt.unpack
    def test_a_rate_of_a_policy(self, kinds, status):
        """A guest without the policy can lose more, unless it asks for it."""
        rate = sample.Metric("network.x.rate", "bit/s", "higher")
        findings = [
            found
            for kind in kinds
            for found in made.build_findings(kind, "x", (rate.name,))
        ]
        values = (0.945e9, 0.948e9, 0.942e9)
        entries = [
            dataclasses.replace(
                made.changed(entry, findings=tuple(findings)),
                rate_limits=(rate_caps.network(1e9, "policy gold"),),
            )
            for entry in made.several(
                {rate: values}, reference=made.reference({rate: values})
            )
        ]
        judgement = made.judgement(entries, {"*": 5})
        self.assertEqual(status, judgement.status, judgement.sentence())

    @ddt.unpack
    @ddt.data(
        # Four operations per request of 16 KiB.
        ("randread", 250, 4096, "inconclusive"),
        ("randread", 250, 0, "passed"),
        ("randread", 1000, 0, "inconclusive"),
        ("randread", 1000, 4096, "passed"),
        # The kernel may merge them, so that the policy may limit them.
        ("read", 1000, 0, "inconclusive"),
        ("randwrite", 1000, 0, "passed"),
        ("randwrite", 250, 4096, "passed"),
    )
    def test_a_policy_of_reads(self, pattern, rate, request_bytes, status):
        """It limits reads only, and a large one as several operations."""
        name = f"disk.fio.{pattern}"
        rates = {
            sample.Metric(f"{name}.{quantity}", unit, "higher"): [
                rate * size * share for share in (0.999, 1.0, 1.001)
            ]
            for quantity, unit, size in (
                ("iops", "ops/s", 1),
                ("bandwidth", "B/s", 16384),
            )
        }
        bare = {
            metric: tuple(1.01 * value for value in values)
            for metric, values in rates.items()
        }
        policy = rate_caps.disk(
            1000,
            "ops/s",
            "volume type ssd",
            direction="read",
            request_bytes=request_bytes,
        )
        entries = [
            dataclasses.replace(entry, rate_limits=(policy,))
            for entry in made.several(rates, reference=made.reference(bare))
        ]
        judgement = made.judgement(entries, {"*": 10})
        self.assertEqual(status, judgement.status, judgement.sentence())

    def test_a_policy_of_operations_of_an_unknown_size(self):
        """It is named, and not applied as if each request were one."""
        policy = rate_caps.disk(
            1000,
            "ops/s",
            "volume type ssd",
            direction="read",
            request_bytes=4096,
        )
        rates = {
            sample.Metric("disk.fio.randread.iops", "ops/s", "higher"): (
                *(999.0, 1000.0, 1001.0),
            )
        }
        entries = [
            dataclasses.replace(entry, rate_limits=(policy,))
            for entry in made.several(rates, reference=made.reference(rates))
        ]
        judgement = made.judgement(entries, {"*": 10})
        self.assertEqual("passed", judgement.status, judgement.sentence())
        self.assertEqual(
            [
                (
                    "volume type ssd",
                    "whether it limits disk.fio.randread.iops is not judged: "
                    "a request larger than size_iops_sec counts as several "
                    "operations, and the size of the requests is not known "
                    "without a bandwidth",
                )
            ],
            [
                (each.finding.subject, each.finding.detail)
                for each in judgement.findings
                if each.finding.kind == "promise_not_checked"
            ],
        )

    @ddt.data((15, ["guest varies in 1 metric"]), (95, []))
    @ddt.unpack
    def test_unstable(self, limit, expected):
        """Only a limit that is undecided makes it worth a warning."""
        entries = made.several({made.IOPS: (11000.0, 9000.0, 12500.0, 1e4)})
        details = [
            found.finding.detail.partition(" without")[0]
            for found in made.judgement(entries, {"*": limit}).findings
            if found.finding.kind == "unstable"
        ]
        self.assertEqual(expected, details)

    def test_a_finding_about_bare_metal(self):
        """It voids the loss, and not the limits on values."""
        findings = made.build_findings("bare_metal_busy")
        entries = made.several(made.NEAR, findings=findings)
        judgement = made.judgement(entries, {}, min={"*": 10900})
        self.assertEqual("passed", judgement.status)
        judgement = made.judgement(entries, {"*": 15}, min={"*": 10900})
        self.assertEqual("void", judgement.status)
        self.assertEqual(
            ["void", "passed"], [row.status for row in judgement.limited]
        )

    def test_one_guest(self):
        """It is the mean and the worst one."""
        mean, worst = (
            judge((5,), 10, statistic=name).rows[0].to_value()
            for name in ("mean", "worst")
        )
        self.assertEqual(mean, worst)


@ddt.ddt
class TestWithoutBareMetal(unittest.TestCase):
    """The values of guests are figures, and absolute limits judge them."""

    RATES: typing.ClassVar = {made.IOPS: (11000.0, 11050.0, 10980.0, 11020.0)}
    VALUES: typing.ClassVar = {
        **RATES,
        made.TIME: (13.0, 13.02, 12.98, 13.01),
        made.COUNT: (0.0, 2.0, 1.0, 0.0),
    }

    def judge(self, values=None, max_percent=None, **arguments):
        """Return the judgement on guests that have no baseline."""
        entries = made.several(
            values or self.VALUES, reference=repetition.NO_REFERENCE
        )
        return made.judgement(entries, max_percent or {}, **arguments)

    def test_each_metric_has_one_figure(self):
        """With an interval, and without a word on bare metal."""
        judgement = self.judge()
        self.assertEqual(
            [
                ("min", 11012.4696),
                ("max", 13.0025),
                ("max", 2.0),
            ],
            [
                (value.name, round(value.value, 4))
                for value in map(result.Result.to_value, judgement.rows)
            ],
        )
        for row in judgement.rows[:2]:
            estimate = row.figure.estimate()
            self.assertLess(estimate.low, estimate.value)
            self.assertIsNone(row.figure.bare_value)
        self.assertEqual((), judgement.compared)

    def test_a_limit_in_percent(self):
        """It is not decided, and values remain."""
        judgement = self.judge(max_percent={"disk.*": 5})
        (row,) = judgement.limited
        self.assertEqual("inconclusive", row.status)
        self.assertEqual(
            "the guests have no baseline to compare with", row.reason
        )
        self.assertFalse(judgement.passed)
        self.assertEqual(3, len(judgement.absolute))

    @ddt.data(
        ((11000.0, 11001.0), "too_few_repetitions", "2 of the guest"),
        (
            tuple(11000.0 + 20 * number for number in range(12)),
            "drifting",
            "the guest: ",
        ),
    )
    @ddt.unpack
    def test_findings_on_the_values(self, values, kind, detail):
        """Guests are judged with the same cautions as against bare metal."""
        judgement = self.judge({made.IOPS: values}, max={"*": 11150})
        (value_finding,) = (
            run_finding.finding
            for run_finding in judgement.findings
            if run_finding.finding.kind == kind
        )
        self.assertEqual(made.IOPS.name, value_finding.subject)
        self.assertTrue(
            value_finding.detail.startswith(detail), value_finding.detail
        )
        self.assertNotIn("bare metal", value_finding.detail)
        self.assertNotIn("guest_faster", judgement.headline())

    def test_one_boot(self):
        """The interval is that of this boot; with reboots it is not."""
        (boot_finding,) = self.judge(self.RATES).findings
        self.assertEqual(
            ("interval_one_session", "guests"),
            (boot_finding.finding.kind, boot_finding.finding.subject),
        )

    def test_unmeasured_guests(self):
        """Whether there is a baseline is unknown: the figure is the loss."""
        entry = made.build_repetition(
            1, {}, expected_metrics=(made.IOPS,), observations=()
        )
        (row,) = made.judgement([entry], {}).rows
        self.assertEqual("overhead", row.figure.name)
