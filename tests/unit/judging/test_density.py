# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from tests.unit import made

CPU = {made.EVENTS: made.SHARED}
TRIPLED = {made.TIME: {1: [1.0], 2: [3.0, 3.0]}}
BARE = {made.EVENTS: [330.0, 331.0, 329.0]}


@ddt.ddt
class StatusTestCase(unittest.TestCase):
    @ddt.data(
        ("failed", CPU, {"max_percent": {"*": 5}}, {2: "passed", 3: "failed"}),
        (
            "passed",
            CPU,
            {"max_percent": {"*": 95}},
            {2: "passed", 3: "passed"},
        ),
        ("passed", CPU, {"max_percent": {"*": 5}, "levels": 2}, {2: "passed"}),
        (
            "failed",
            CPU,
            {"max_percent": {"*": 5}, "levels": [3]},
            {3: "failed"},
        ),
        (
            "inconclusive",
            CPU,
            {"max_percent": {"*": 34.6}},
            {2: "passed", 3: "inconclusive"},
        ),
        (
            "inconclusive",
            CPU,
            {"max_percent": {"*": 50}, "levels": [2, 5]},
            {2: "passed", 5: "inconclusive"},
        ),
        # Three times the time is a loss of 67 % of the rate.
        ("passed", TRIPLED, {"max_percent": {"*": 95}}, {2: "passed"}),
        ("failed", TRIPLED, {"max_percent": {"*": 66}}, {2: "failed"}),
        (
            "inconclusive",
            {made.EVENTS: {1: [1.0]}},
            {"max_percent": {"*": 50}},
            {},
        ),
        (
            "inconclusive",
            {made.EVENTS: {2: [9.0] * 2, 3: [8.0] * 3}},
            {"max_percent": {"*": 50}},
            {2: "inconclusive", 3: "inconclusive"},
        ),
        ("inconclusive", CPU, {"max_percent": {}}, None),
        ("inconclusive", CPU, {"max_percent": {"*": 95, "x.*": 1}}, None),
    )
    @ddt.unpack
    def test_verdict(self, status, by_metric, arguments, statuses):
        curves = made.levels(by_metric, apart=True)
        got = made.degradation(curves, **arguments)
        self.assertEqual(status, got.status)
        self.assertEqual(status == "passed", got.passed)
        if statuses is not None:
            self.assertEqual(statuses, got.curves[0].statuses)

    @ddt.data(
        ("mean", 34.8, "inconclusive"),
        ("mean", 35.2, "passed"),
        ("worst", 34.8, "inconclusive"),
        ("worst", 34.45, "inconclusive"),
        ("worst", 33.0, "failed"),
        ("worst", 36.5, "passed"),
        ("mean", 33.0, "failed"),
    )
    @ddt.unpack
    def test_of(self, of, limit, status):
        noise = (1.0, 1.004, 0.994, 1.002, 0.997)
        rates = {made.EVENTS: {**made.SHARED, 1: [312.0] * 3}}
        curves = made.levels(rates, 5, apart=True, noise=noise, batches={1: 3})
        got = made.degradation(curves, {"*": limit}, statistic=of)
        self.assertEqual(status, got.status)

    def test_what_disturbs_a_repetition_is_in_both(self):
        """Level and solo guest of one repetition are a pair."""
        noise = (1.0, 1.2, 0.8, 1.1, 0.9)
        curves = made.levels(CPU, 5, noise=noise)
        got = made.degradation(curves, {"*": 36})
        self.assertEqual("passed", got.status, got.sentence())
        (row,) = got.curves
        self.assertTrue(row.points[-1].compared("mean", "solo_guest").paired)

    @ddt.data("mean", "worst")
    def test_a_level_in_two_states(self, of):
        """It is named, and its interval decides."""
        noise = (1.0, 1.002, 0.998, 1.001, 0.999)
        rates = {made.EVENTS: {1: [312.0] * 3, 2: [310.0] * 2}}
        curves = made.levels(rates, 5, apart=True, noise=noise, batches={1: 3})
        slow = (300.0, 300.3, 299.8, 300.2, 240.0)
        curves = [
            dataclasses.replace(
                curve,
                conditions=(
                    *curve.conditions,
                    made.level(curve.number, 3, {made.EVENTS: [rate] * 3}),
                ),
            )
            for curve, rate in zip(curves, slow, strict=True)
        ]
        got = made.degradation(curves, {"*": 50}, statistic=of)
        (row,) = got.curves
        compared = row.points[-1].compared(of, "solo_guest")
        limit = compared.high + 0.01
        bimodal = [x for x in got.findings if x.finding.kind == "bimodal"]
        self.assertEqual(
            ["with 3 guests: the ratios: 1 and 4"],
            [finding.finding.detail.partition(",")[0] for finding in bimodal],
        )
        got = made.degradation(curves, {"*": limit}, statistic=of)
        self.assertEqual({2: "passed", 3: "passed"}, got.curves[0].statuses)

    @ddt.data(
        ((1.0,) * 5, made.EVENTS, "passed", None),
        ((0.92,) * 5, made.TIME, "passed", None),
        ((0.92,) * 5, made.EVENTS, "inconclusive", ("92.0", "1.09")),
        (
            (0.98, 0.98, 0.9, 0.9, 0.9),
            made.EVENTS,
            "inconclusive",
            ("93.0", "1.07"),
        ),
    )
    @ddt.unpack
    def test_guests_that_worked_together_for_a_part(
        self, shares, metric, status, figures
    ):
        """A loss of 9 % passes 9.5 % only if it also does so corrected.

        :param shares: The overlap of each repetition.
        :param metric: The metric of the command that overlapped.
        :param figures: The overlap in percent and the factor of the loss.
        """
        curves = [
            made.repetition(
                number,
                [
                    made.level(number, 1, {made.EVENTS: [100.0 + number]}),
                    made.level(
                        number,
                        2,
                        {
                            made.EVENTS: [
                                0.91 * (100 + number + noise)
                                for noise in (0.01, -0.01)
                            ]
                        },
                        synchronisation=made.overlapping(share, metric),
                    ),
                ],
            )
            for number, share in enumerate(shares, 1)
        ]
        got = made.degradation(curves, {"*": 9.5})
        self.assertEqual({2: status}, got.curves[0].statuses)
        details = [
            finding.finding.detail
            for finding in got.findings
            if finding.finding.kind == "loss_understated"
        ]
        expected = (
            "with 2 guests: the guests: all worked during {} % of the run; "
            "the loss may be {} times as large"
        )
        self.assertEqual(
            [expected.format(*figures)] if figures else [], details
        )
        self.assertEqual(
            [], [finding for finding in got.findings if finding.voids]
        )

    def test_a_level_that_varies_more(self):
        """Needs more to pass where the mean is judged, not each guest."""
        steps = (1, 2, 0, -1, -2)
        curves = [
            made.repetition(
                number,
                [
                    made.level(
                        number, 1, {made.EVENTS: [alone] * 2}, batches=2
                    ),
                    made.level(
                        number, 2, {made.EVENTS: [90 * 1.01**step] * 2}
                    ),
                ],
                planned_repetitions=5,
            )
            for number, (alone, step) in enumerate(
                zip((100.0, 100.02, 100.01, 99.98, 99.99), steps, strict=True),
                1,
            )
        ]
        for of, limit, status in (
            ("mean", 12, "inconclusive"),
            ("mean", 13, "passed"),
            ("worst", 12, "passed"),
        ):
            got = made.degradation(curves, {"*": limit}, statistic=of)
            self.assertEqual(status, got.status, got.sentence())

    def test_a_level_that_is_skipped_now_and_then(self):
        """Ran in lucky repetitions only: it may fail, and not pass."""
        curves = made.levels(CPU, 5, apart=True)
        last = curves[-1].conditions[-1]
        skipped = dataclasses.replace(
            last, state="skipped", skip_reason="beyond", observations=()
        )
        curves[-1] = dataclasses.replace(
            curves[-1], conditions=(*curves[-1].conditions[:-1], skipped)
        )
        got = made.degradation(curves, {"*": 50})
        self.assertEqual(
            {2: "passed", 3: "inconclusive"}, got.curves[0].statuses
        )
        self.assertEqual([0, 1], [row.skipped for row in got.limited])
        self.assertEqual("failed", made.degradation(curves, {"*": 20}).status)

    def test_among_many_some_guest_is_last(self):
        """One of 8 that is beyond at 95 % is not at 99.4 %."""
        noise = (1.0, 1.02, 0.98, 1.01, 0.99)
        rates = {made.EVENTS: {1: [100.0] * 8, 8: [95.0] * 7 + [86.5]}}
        curves = made.levels(rates, 5, noise=noise, apart=True, batches={1: 8})
        worst_judgement = made.degradation(
            curves, {"*": 10}, statistic="worst"
        )
        point = worst_judgement.curves[0].points[1]
        last = point.compared("worst", "solo_guest")
        self.assertGreater(last.low, 10)
        self.assertEqual(
            "inconclusive", worst_judgement.status, worst_judgement.sentence()
        )
        far = made.degradation(curves, {"*": 5}, statistic="worst")
        self.assertEqual("failed", far.status)

    def test_each_guest_is_put_to_itself_alone(self):
        """One that is slow for good loses nothing; a faster one can."""
        slow = [100.0, 80.0, 100.0, 90.0]
        starved = [100.0, 80.0, 85.0, 90.0]
        for together, status in ((slow, "passed"), (starved, "failed")):
            rates = {made.EVENTS: {1: slow, 4: together}}
            curves = made.levels(rates, 5, batches={1: 4})
            got = made.degradation(curves, {"*": 5}, statistic="worst")
            self.assertEqual(status, got.status, got.sentence())
            lone, four = got.curves[0].points
            self.assertIsNone(lone.fairness)
            self.assertAlmostEqual(4, four.total / lone.total, delta=0.4)
        (row,) = got.limited
        self.assertEqual("g3", row.figure.contrast.find_worst("failed"))
        self.assertAlmostEqual(15, row.to_value().value)

    def test_who_was_never_alone(self):
        """It has no solo rate, and another's is not its own: no figure."""
        slow = [100.0, 80.0, 100.0, 90.0]
        rates = {made.EVENTS: {1: [100.0], 4: slow}}
        curves = made.levels(rates, 5)
        for judged in (
            made.degradation(curves, {"*": 5}, statistic="worst"),
            made.degradation(
                curves, {"*": 5}, statistic="worst", on_inconclusive="pass"
            ),
        ):
            self.assertEqual("inconclusive", judged.status)
            self.assertFalse(judged.passed)
            (row,) = judged.limited
            self.assertTrue(row.reason)
            self.assertIsNone(row.to_value().value)

    def test_a_slow_host_is_put_to_its_own_lone_guest(self):
        """Guests of a host that is a fifth slower lose nothing there."""
        both = [100.0, 80.0, 100.0, 80.0]
        rates = {made.EVENTS: {1: both, 2: both}}
        hosts = {"g1": "a", "g2": "b", "g3": "a", "g4": "b"}
        curves = [
            dataclasses.replace(repetition, hosts=hosts)
            for repetition in made.levels(rates, 5)
        ]
        got = made.degradation(curves, {"*": 1}, statistic="worst")
        self.assertEqual("passed", got.status, got.sentence())

    def test_a_victim_that_rotates(self):
        """The worst guest of each repetition is beyond the limit."""
        curves = [
            made.repetition(
                place,
                [
                    made.level(place, 1, {made.EVENTS: [100.0 + place]}),
                    made.level(
                        place,
                        4,
                        {
                            made.EVENTS: [
                                10.0 if guest == place % 4 else 100.0 + place
                                for guest in range(4)
                            ]
                        },
                    ),
                ],
                planned_repetitions=8,
            )
            for place in range(1, 9)
        ]
        for limit, of, status, is_named in (
            (60, "mean", "passed", True),
            (60, "worst", "inconclusive", False),
            (95, "mean", "passed", False),
        ):
            got = made.degradation(curves, {"*": limit}, statistic=of)
            self.assertEqual(status, got.status)
            differing = [
                found.finding.detail
                for found in got.findings
                if found.finding.kind == "guests_differ"
            ]
            self.assertEqual(is_named, bool(differing), (limit, of))
            if is_named:
                self.assertIn(
                    "with 4 guests: the worst guest of each repetition loses "
                    "90.4 % in the mean, 90.7 % at worst (g1 in repetition 8)",
                    *differing,
                )

    @ddt.data((1, "void"), (20, "passed"))
    @ddt.unpack
    def test_a_slow_solo_guest_by_chance(self, number, status):
        """One of many metrics and levels can be faster by chance."""
        first, *others = (
            dataclasses.replace(made.EVENTS, name=f"cpu.x{place}.rate")
            for place in range(number)
        )
        steady = {metric: [100.0, 99.0] for metric in others}
        entries = [
            made.repetition(
                place,
                [
                    made.level(
                        place,
                        1,
                        {
                            metric: [100 + place / 100]
                            for metric in (first, *others)
                        },
                    ),
                    made.level(place, 2, {first: [rate, rate], **steady}),
                ],
                planned_repetitions=6,
            )
            for place, rate in enumerate((105, 103, 106, 103.5, 105.5, 103), 1)
        ]
        judged = made.degradation(entries, {first.name: 5})
        self.assertEqual(status, judged.status, judged.sentence())
        self.assertEqual(
            status == "void", "solo_guest_slow" in str(judged.findings)
        )

    def test_against_bare_metal(self):
        curves = made.levels(CPU, bare=BARE)
        got = made.degradation(curves, {"*": 10}, compare_to="bare_metal")
        self.assertEqual(
            {1: "passed", 2: "passed", 3: "failed"}, got.curves[0].statuses
        )
        self.assertEqual(2, got.curves[0].max_guests.tested)

    def test_the_interval_of_the_worst_that_decides(self):
        """A failure needs an interval corrected for the number of guests."""
        curves = made.levels(CPU, bare=BARE)
        for limit, confidence in ((30, 1 - 0.05 / 3), (50, 0.95)):
            got = made.degradation(
                curves,
                {"*": limit},
                statistic="worst",
                compare_to="bare_metal",
                levels=3,
            )
            (row,) = got.limited
            decisive, _ = row.figure.find_decisive(row.status)
            self.assertAlmostEqual(confidence, decisive.confidence)
            value = row.to_value()
            self.assertEqual(
                ("worst_loss_to_bare_metal", decisive.low, decisive.high),
                (value.name, value.low, value.high),
            )

    def test_against_bare_metal_that_is_not_there(self):
        got = made.degradation(
            made.levels(CPU), {"*": 10}, compare_to="bare_metal"
        )
        self.assertEqual("inconclusive", got.status)
        self.assertEqual(
            [None] * 3, [row.to_value().value for row in got.limited]
        )

    def test_guests_that_beat_bare_metal(self):
        slow = {made.EVENTS: [250.0, 251.0, 249.0]}
        curves = made.levels(CPU, bare=slow)
        got = made.degradation(curves, {"*": 30}, compare_to="bare_metal")
        self.assertEqual(
            {1: "void", 2: "void", 3: "passed"}, got.curves[0].statuses
        )
        self.assertEqual("void", got.status)
        self.assertEqual(
            [
                "with 1 guest: the guest is 24.8 % better than bare metal",
                "with 2 guests: the guest is 23.0 % better than bare metal",
            ],
            [found.finding.detail for found in got.findings if found.voids],
        )
        judgement = made.degradation(
            curves,
            {"*": 30},
            compare_to="bare_metal",
            tolerate=["guest_faster"],
        )
        self.assertTrue(judgement.passed)

    @ddt.data((1, "void"), (20, "passed"))
    @ddt.unpack
    def test_a_guest_that_beats_bare_metal_by_chance(self, number, status):
        """One of many metrics can be faster by chance."""
        metrics = [
            dataclasses.replace(made.EVENTS, name=f"cpu.x{place}.rate")
            for place in range(number)
        ]
        first, bare = metrics[0], [99.0, 100.0, 101.0, 100.5, 99.5]
        curves = made.levels(
            {
                metric: {1: [106.6 if metric == first else 95.0]}
                for metric in metrics
            },
            count=len(bare),
            noise=(0.993, 1.003, 1.007, 0.997, 1.0),
            bare=dict.fromkeys(metrics, bare),
        )
        judged = made.degradation(
            curves, {first.name: 5}, compare_to="bare_metal"
        )
        self.assertEqual(status, judged.status, judged.sentence())
        self.assertEqual(
            status == "void",
            any(
                found.finding.kind == "guest_faster"
                for found in judged.findings
            ),
        )

    @ddt.data(
        ("swap_or_oom", (), "void"),
        ("swap_or_oom", ("swap_or_oom",), "passed"),
        ("bare_metal_busy", (), "passed"),
    )
    @ddt.unpack
    def test_a_finding_about_values(self, kind, tolerate, status):
        """It voids their limits, unless it is tolerated or on bare metal."""
        curves = [
            dataclasses.replace(curve, findings=made.build_findings(kind))
            for curve in made.levels(CPU, bare=BARE)
        ]
        got = made.degradation(
            curves,
            {},
            max={"*": 1000},
            tolerate=tolerate,
            compare_to="bare_metal",
        )
        self.assertEqual({status}, {row.status for row in got.limited})

    def test_a_policy_of_the_other_direction(self):
        """It does not limit the rate."""
        rate = sample.Metric("disk.fio.randwrite.iops", "ops/s", "higher")
        for direction, status in (
            ("write", "inconclusive"),
            ("read", "passed"),
        ):
            policy = rate_caps.disk(1000, "ops/s", "m1", direction=direction)
            curves = [
                dataclasses.replace(curve, rate_limits=(policy,))
                for curve in made.levels(
                    {rate: {1: [1000.0]}},
                    bare={rate: [1009.0, 1010.0, 1011.0]},
                )
            ]
            got = made.degradation(curves, {"*": 20}, compare_to="bare_metal")
            self.assertEqual(status, got.status)

    def test_a_policy_that_is_tolerated(self):
        """The guest has the rate of the policy, which is accepted."""
        rate = sample.Metric("network.x.rate", "bit/s", "higher")
        curves = [
            dataclasses.replace(
                curve, rate_limits=(rate_caps.network(1e9, "policy gold"),)
            )
            for curve in made.levels(
                {rate: {1: [0.945e9]}},
                bare={rate: [0.945e9, 0.948e9, 0.942e9]},
            )
        ]
        for tolerate, status in (
            ((), "inconclusive"),
            (("bottleneck_outside_guest",), "passed"),
        ):
            got = made.degradation(
                curves, {"*": 5}, compare_to="bare_metal", tolerate=tolerate
            )
            self.assertEqual(status, got.status)

    def test_counts_have_no_losses(self):
        curves = made.levels(
            {
                made.EVENTS: made.SHARED,
                made.COUNT: {n: [0.0] * n for n in (1, 2, 3)},
            }
        )
        got = made.degradation(curves, {"*": 95})
        self.assertEqual([made.EVENTS], [row.metric for row in got.curves])
        self.assertEqual("passed", got.status)
        got = made.degradation(curves, {"network.*": 95, "cpu.*": 95})
        self.assertEqual(("network.*",), got.unmatched)
        self.assertFalse(got.passed)


@ddt.ddt
class ForgivenTestCase(unittest.TestCase):
    """``on_inconclusive: pass`` forgives a limit inside its interval."""

    def judged(self, curves, limit=34.6, **arguments):
        """Return a judgement that is inconclusive."""
        got = made.degradation(
            curves, {"*": limit}, on_inconclusive="pass", **arguments
        )
        self.assertEqual("inconclusive", got.status, got.sentence())
        return got

    @ddt.data("mean", "worst")
    def test_the_limit_inside_the_interval(self, of):
        rates = {made.EVENTS: {**made.SHARED, 1: [312.0] * 3}}
        noise = (1.0, 1.004, 0.994, 1.002, 0.997)
        curves = made.levels(rates, 5, apart=True, noise=noise, batches={1: 3})
        self.assertTrue(self.judged(curves, 34.8, statistic=of).passed)

    def test_a_baseline_of_two(self):
        """Guests have repetitions enough, and bare metal has not."""
        for number in (2, 3):
            bare = {made.EVENTS: BARE[made.EVENTS][:number]}
            curves = made.levels(CPU, bare=bare, apart=True)
            got = made.degradation(
                curves,
                {"*": 50 if number == 2 else 38.2},
                compare_to="bare_metal",
                levels=3,
                on_inconclusive="pass",
            )
            self.assertEqual("inconclusive", got.status, got.sentence())
            self.assertEqual(number == 3, got.passed, got.sentence())

    def test_one_level_of_several_without_an_interval(self):
        """The others pass, and it ran in two of three repetitions."""
        curves = made.levels(CPU, apart=True)
        curves[2] = dataclasses.replace(
            curves[2], conditions=curves[2].conditions[:2]
        )
        got = self.judged(curves, 50)
        self.assertEqual("passed", got.curves[0].statuses[2])
        self.assertFalse(got.passed)

    def test_a_level_that_is_not_there(self):
        curves = made.levels(CPU, apart=True)
        self.assertFalse(self.judged(curves, 50, levels=[2, 5]).passed)
        alone = made.levels({made.EVENTS: {1: [312.0]}})
        self.assertFalse(self.judged(alone, 50).passed)

    @ddt.data(34.6, 50)
    def test_a_level_that_is_skipped_now_and_then(self, limit):
        curves = made.levels(CPU, 5, apart=True)
        self.assertEqual(limit < 50, self.judged_or_passed(curves, limit))
        first, second, third = curves[-1].conditions
        skipped = dataclasses.replace(
            third, state="skipped", skip_reason="beyond", observations=()
        )
        curves[-1] = dataclasses.replace(
            curves[-1], conditions=(first, second, skipped)
        )
        self.assertFalse(self.judged(curves, limit).passed)

    def judged_or_passed(self, curves, limit):
        """Return whether it takes forgiving to pass."""
        got = made.degradation(curves, {"*": limit}, on_inconclusive="pass")
        self.assertTrue(got.passed, got.sentence())
        return got.status == "inconclusive"

    @ddt.data((1, False), (2, False), (4, True))
    @ddt.unpack
    def test_fairness(self, count, passed):
        rates = {made.EVENTS: {2: [100.0, 90.0]}}
        curves = made.levels(rates, count, apart=True)
        got = made.fairness(curves, on_inconclusive="pass")
        point = got.curves[0].points[0]
        got = made.fairness(
            curves, {"*": point.fairness}, on_inconclusive="pass"
        )
        self.assertEqual("inconclusive", got.status, got.sentence())
        self.assertEqual(passed, got.passed)


class LoneGuestTestCase(unittest.TestCase):
    """One alone that is slow flatters every level."""

    SLOW = {  # noqa: RUF012
        made.EVENTS: {1: [100.0], 2: [130.0, 130.2], 3: [91.0, 91.0, 91.0]}
    }

    def test_void(self):
        got = made.degradation(made.levels(self.SLOW), {"*": 10})
        self.assertEqual("void", got.status, got.sentence())
        self.assertEqual("void", got.curves[0].statuses[3])
        self.assertEqual(
            [("solo_guest_slow", "with 2 guests each does 30.1 % more")],
            [
                (found.finding.kind, found.finding.detail)
                for found in got.findings
                if found.voids
            ],
        )

    def test_boots_that_differ_a_little(self):
        little = {made.EVENTS: {1: [100.0], 2: [101.0, 101.2]}}
        got = made.degradation(made.levels(little), {"*": 10})
        self.assertEqual("passed", got.status, got.sentence())


class MissingTestCase(unittest.TestCase):
    def test_guest_that_died(self):
        got = made.degradation(made.killed(), {"*": 95})
        self.assertEqual({2: "passed", 3: "void"}, got.curves[0].statuses)
        self.assertEqual("void", got.status)
        self.assertEqual((2,), got.missing.incomplete)
        (reason,) = got.missing.reasons
        self.assertEqual(made.LEVEL_GAP[0].sentence(), reason)
        self.assertIn(reason, got.limited[-1].void)
        self.assertEqual(2, got.curves[0].max_guests.low)
        self.assertIsNone(got.curves[0].max_guests.tested)

    def test_skipped_level_is_no_pass(self):
        curves = [
            made.with_level(
                made.levels(CPU),
                number,
                made.level(number, 3, {}, skip_reason="the total fell"),
            )[number - 1]
            for number in (1, 2, 3)
        ]
        got = made.degradation(curves, {"*": 95})
        self.assertEqual(
            {2: "passed", 3: "inconclusive"}, got.curves[0].statuses
        )
        self.assertFalse(got.limited[-1].measured)
        self.assertFalse(got.missing)
        self.assertTrue(made.degradation(curves, {"*": 95}, levels=2).passed)
