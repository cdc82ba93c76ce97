# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math
import unittest

import ddt

from rally_vmperf.judging import density
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from tests.unit import made

GAP = (
    repetition.Missing(
        name=made.EVENTS.name, machine="g3", reason="connection lost"
    ),
)


def points(curves, metric=made.EVENTS, **strict):
    return density.build_points(
        metric, density.RunMetrics.collect(curves), **strict
    )


def changed(curves, number, guests, **changes):
    """Return the curves with a level's repetition changed."""
    changed_curves = []
    for curve in curves:
        levels = [
            dataclasses.replace(level, **changes)
            if (curve.number, level.axes["guests"]) == (number, guests)
            else level
            for level in curve.conditions
        ]
        changed_curves.append(
            dataclasses.replace(curve, conditions=tuple(levels))
        )
    return changed_curves


class FiguresTestCase(unittest.TestCase):
    def setUp(self):
        curves = made.levels(
            {made.EVENTS: made.SHARED},
            bare={made.EVENTS: [330.0, 331.0, 329.0]},
        )
        self.single, self.double, self.triple = points(curves)

    def test_one_guest(self):
        self.assertEqual(1, self.single.guests)
        self.assertIsNone(self.single.loss)
        self.assertIsNone(self.single.fairness)
        self.assertIsNone(self.single.spread_percent)
        self.assertAlmostEqual(self.single.mean, self.single.total)

    def test_mean_of_guests_then_of_repetitions(self):
        noise = (1.0 * 1.002 * 0.997) ** (1 / 3)
        self.assertAlmostEqual(
            (205.0 * 204.0 * 203.0) ** (1 / 3) * noise, self.triple.mean
        )
        self.assertAlmostEqual(612.0 * noise, self.triple.total)
        for got, factor in zip(
            self.triple.totals, (1.0, 1.002, 0.997), strict=True
        ):
            self.assertAlmostEqual(612.0 * factor, got)

    def test_loss_is_overhead_s_arithmetic(self):
        compared = loss.compare(
            made.EVENTS,
            [entry.values for entry in self.single.samples],
            [entry.values for entry in self.triple.samples],
            paired=True,
        )
        self.assertEqual(
            compared.overhead_percent, self.triple.loss.overhead_percent
        )
        self.assertEqual(
            (compared.low, compared.high),
            (self.triple.loss.low, self.triple.loss.high),
        )

    def test_slowest_guest_and_its_host(self):
        slowest = self.triple.slowest
        self.assertEqual(("g3", "host-2"), (slowest.guest, slowest.host))
        self.assertAlmostEqual(
            (1 - 203 / 312) * 100, slowest.loss.overhead_percent
        )
        self.assertLess(slowest.value, self.triple.mean)

    def test_fairness_is_that_of_the_mean_variation(self):
        self.assertAlmostEqual(
            612**2 / (3 * (205**2 + 204**2 + 203**2)), self.triple.fairness
        )
        self.assertAlmostEqual(
            sum(self.triple.spreads) / 3, self.triple.spread_percent
        )

    def test_bare_metal(self):
        bare = (330.0 * 331.0 * 329.0) ** (1 / 3)
        self.assertAlmostEqual(bare, self.triple.bare_mean)
        self.assertAlmostEqual(3 * bare, self.triple.bare_total)
        self.assertAlmostEqual(
            (1 - self.triple.mean / bare) * 100,
            self.triple.bare_loss.overhead_percent,
        )
        self.assertGreater(
            self.triple.compared("worst", "bare_metal").overhead_percent,
            self.triple.bare_loss.overhead_percent,
        )

    def test_which_loss(self):
        point = self.triple
        for of, against, expected in (
            ("mean", "solo_guest", point.loss),
            ("worst", "solo_guest", point.slowest.loss),
            ("mean", "bare_metal", point.bare_loss),
        ):
            self.assertEqual(expected, point.compared(of, against))


@ddt.ddt
class PointsTestCase(unittest.TestCase):
    def test_time_is_lost_as_its_rate(self):
        """Twice the time is half the work: a loss of 50 %, not of 100 %."""
        _, two = points(
            made.levels({made.TIME: {1: [10.0], 2: [20.0, 20.0]}}), made.TIME
        )
        self.assertAlmostEqual(50.0, two.loss.overhead_percent)
        self.assertAlmostEqual(20.0, two.mean, delta=0.1)
        self.assertAlmostEqual(0.1, two.total, delta=0.001)
        self.assertEqual("g1", two.slowest.guest)

    def test_slowest_of_times_is_the_longest(self):
        _, two = points(
            made.levels({made.TIME: {1: [10.0], 2: [20.0, 21.0]}}), made.TIME
        )
        self.assertEqual("g2", two.slowest.guest)

    def test_latency_has_no_total(self):
        _, two = points(
            made.levels({made.LATENCY: {1: [1.0], 2: [2.0, 2.0]}}),
            made.LATENCY,
        )
        self.assertIsNone(two.total)
        self.assertEqual((), two.totals)
        self.assertAlmostEqual(50.0, two.loss.overhead_percent)

    def test_no_lone_guest(self):
        _, three = points(
            made.levels({made.EVENTS: {2: [9.0] * 2, 3: [8.0] * 3}})
        )
        self.assertIsNone(three.loss)
        self.assertIsNone(three.slowest.loss)
        self.assertAlmostEqual(24.0, three.total, delta=0.1)

    def test_no_bare_metal(self):
        three = points(made.levels({made.EVENTS: made.SHARED}))[-1]
        self.assertIsNone(three.bare_mean)
        self.assertIsNone(three.bare_total)
        self.assertIsNone(three.bare_loss)

    def test_two_repetitions_have_no_interval(self):
        three = points(made.levels({made.EVENTS: made.SHARED}, count=2))[-1]
        self.assertIsNone(three.loss.low)

    def test_warm_ups_are_not_taken(self):
        curves = made.levels({made.EVENTS: made.SHARED})
        warm = made.levels(
            {made.EVENTS: {n: [1.0] * n for n in (1, 2, 3)}},
            count=1,
            counted=False,
        )
        self.assertEqual(points(curves), points([*warm, *curves]))

    def test_incomplete_level(self):
        curves = made.levels({made.EVENTS: made.SHARED})
        (level,) = curves[1].select(guests=3).conditions
        got = points(
            changed(
                curves,
                2,
                3,
                state="incomplete",
                missing=GAP,
                observations=level.observations[:2],
            )
        )
        self.assertEqual(["", "", got[2].void], [point.void for point in got])
        self.assertIn(GAP[0].sentence(), got[2].void)
        self.assertEqual([1, 3], [sample.number for sample in got[2].samples])
        self.assertFalse(got[2].usable)

    def test_skipped_level(self):
        curves = made.levels({made.EVENTS: made.SHARED})
        skipped = [
            dataclasses.replace(
                curve,
                conditions=(
                    *curve.conditions[:2],
                    made.level(
                        curve.number, 3, {}, skip_reason="the total fell"
                    ),
                ),
            )
            for curve in curves
        ]
        three = points(skipped)[-1]
        self.assertTrue(three.reason)
        self.assertIsNone(three.mean)
        self.assertEqual("", three.void)

    @ddt.data(
        ("of a workload", "sysbench", "partial_overlap", 3, False),
        ("of a percentile", "a.b.latency_p99", "partial_overlap", 3, False),
        ("of a guest", "g1", "guest_rebooted", 3, True),
        ("of this metric", made.EVENTS.name, "partial_overlap", 3, True),
        ("of another metric", made.TIME.name, "partial_overlap", 3, False),
        ("a warning", "g1", "clock_not_correctable", 3, False),
    )
    @ddt.unpack
    def test_void(self, name, subject, kind, guests, void):
        curves = made.levels(
            {
                made.EVENTS: made.SHARED,
                made.TIME: {1: [1.0], 2: [1.0] * 2, 3: [1.0] * 3},
            }
        )
        findings = (finding.Finding(kind=kind, subject=subject, detail="so"),)
        got = points(changed(curves, 2, guests, findings=findings))
        self.assertEqual(
            [False, False, void], [bool(point.void) for point in got]
        )
        tolerated = points(
            changed(curves, 2, guests, findings=findings), tolerate=(kind,)
        )
        self.assertFalse(any(point.void for point in tolerated))

    def test_finding_of_the_whole_run_voids_all(self):
        curves = made.levels({made.EVENTS: made.SHARED})
        findings = (
            finding.Finding(kind="wrong_host", subject="g2", detail="host-9"),
        )
        curves[0] = dataclasses.replace(
            curves[0],
            findings=findings,
        )
        got = points(curves)
        self.assertTrue(all(point.void for point in got))
        self.assertIn("g2: host-9", got[0].void)

    def test_finding_about_some_metrics_voids_these(self):
        for metric, void in ((made.EVENTS.name, True), ("disk.x.y", False)):
            curves = made.levels({made.EVENTS: made.SHARED})
            findings = made.build_findings(
                "tool_version_differs", metrics=(metric,)
            )
            curves[0] = dataclasses.replace(curves[0], findings=findings)
            self.assertEqual({void}, {bool(x.void) for x in points(curves)})

    def test_curve_cut_off(self):
        curves = made.levels({made.EVENTS: made.SHARED})
        curves[2] = dataclasses.replace(
            curves[2], conditions=curves[2].conditions[:1]
        )
        point_1, _, three = points(curves)
        self.assertEqual(3, len(point_1.samples))
        self.assertEqual(2, len(three.samples))
        self.assertTrue(math.isfinite(three.loss.overhead_percent))
        self.assertIsNone(three.loss.low)

    def test_nothing(self):
        self.assertEqual((), points([]))
