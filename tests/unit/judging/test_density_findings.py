# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from tests.unit import made

CPU = {made.EVENTS: made.SHARED}
STEAL = finding.Finding(kind="steal_time", subject="g1", detail="9 %")


def with_finding(curves, guests, finding=STEAL):
    """Return the curves with a finding at levels with so many guests."""
    return [
        dataclasses.replace(
            curve,
            conditions=tuple(
                dataclasses.replace(level, findings=(finding,))
                if level.axes["guests"] in guests
                else level
                for level in curve.conditions
            ),
        )
        for curve in curves
    ]


def seen(curves, kind, **arguments):
    arguments.setdefault("max_percent", {"*": 50})
    return [
        finding
        for finding in made.degradation(curves, **arguments).findings
        if finding.finding.kind == kind
    ]


@ddt.ddt
class LevelsTestCase(unittest.TestCase):
    @ddt.data(
        ({3}, "at 3 guests: 9 %"),
        ({2, 3}, "at 2, 3 guests: 9 %"),
        ({1}, "at 1 guest: 9 %"),
        ({1, 2, 3}, "9 %"),
    )
    @ddt.unpack
    def test_which_level(self, guests, detail):
        (finding_of_level,) = seen(
            with_finding(made.levels(CPU), guests), "steal_time"
        )
        self.assertEqual(detail, finding_of_level.finding.detail)
        self.assertEqual((1, 2, 3), finding_of_level.repetitions)

    def test_levels_of_warm_ups_are_not_asked(self):
        warm = with_finding(made.levels(CPU, 1, counted=False), {3})
        self.assertEqual([], seen([*warm, *made.levels(CPU)], "steal_time"))

    def test_warm_ups_void_nothing(self):
        """Whether a level of theirs has the finding, or all of them."""
        later = [
            dataclasses.replace(curve, number=curve.number + 1)
            for curve in made.levels(CPU)
        ]
        (warm,) = made.levels(CPU, 1, counted=False)
        rebooted = made.build_findings("guest_rebooted")
        warm = dataclasses.replace(warm, counted=False, findings=rebooted)
        got = made.degradation([warm, *later], {"*": 95}, max={"*": 1e9})
        self.assertEqual("passed", got.status)
        counted = dataclasses.replace(warm, counted=True)
        got = made.degradation([counted, *later[:2]], {"*": 95})
        self.assertEqual("void", got.status)

    def test_of_the_whole_run(self):
        curves = made.levels(CPU)
        curves[1] = dataclasses.replace(curves[1], findings=(STEAL,))
        (finding_of_run,) = seen(curves, "steal_time")
        self.assertEqual(
            ((2,), "9 %"),
            (finding_of_run.repetitions, finding_of_run.finding.detail),
        )


class FiguresTestCase(unittest.TestCase):
    def test_too_few_samples(self):
        (few_samples,) = seen(made.levels(CPU, 2), "too_few_repetitions")
        self.assertEqual("2 of 1, 2, 3 guests", few_samples.finding.detail)
        self.assertEqual([], seen(made.levels(CPU), "too_few_repetitions"))

    def test_unstable(self):
        """Only a limit that is undecided makes it worth a warning."""
        bare = {made.EVENTS: [330.0, 331.0, 329.0]}
        curves = made.levels(CPU, noise=(1.0, 1.3, 0.8), bare=bare)
        self.assertEqual([], seen(curves, "unstable"))
        got = seen(curves, "unstable", compare_to="bare_metal")
        self.assertEqual(
            [
                "with 1 guest they vary by 27.5 %",
                "with 2 guests they vary by 27.5 %",
                "with 3 guests they vary by 27.5 %",
            ],
            [unstable.finding.detail for unstable in got],
        )

    def test_values_coarse(self):
        self.assertTrue(
            seen(made.levels(CPU, noise=(1.0,)), "values_quantised")
        )
        self.assertFalse(seen(made.levels(CPU), "values_quantised"))

    def test_guests_differ(self):
        """One of three guests loses 60 % in company, the mean less."""
        rates = {1: [300.0], 2: [290.0] * 2, 3: [290.0, 290.0, 120.0]}
        curves = made.levels({made.EVENTS: rates}, 5)
        judgement = made.degradation(curves, {"*": 50})
        self.assertEqual("passed", judgement.status)
        self.assertIn("guests_differ", judgement.headline())
        (difference,) = seen(curves, "guests_differ")
        self.assertEqual(
            "with 3 guests: 1 of 3 guests beyond the limit of 50 %: g3 loses "
            "60.0 % (95 % interval 60.0 to 60.0 %)",
            difference.finding.detail,
        )
        for arguments in (
            {"max_percent": {"*": 70}},
            {"max_percent": {"*": 20}},
            {"levels": 2},
            {"statistic": "worst"},
        ):
            with self.subTest(arguments):
                differences = seen(curves, "guests_differ", **arguments)
                self.assertEqual([], differences)

    def test_another_baseline(self):
        bare = {made.EVENTS: [330.0, 331.0, 329.0]}
        curves = made.levels(CPU, bare=bare)
        later = made.levels(CPU, bare={made.EVENTS: [1.0, 2.0, 3.0]})
        mixed = [*curves[:2], later[2]]
        self.assertTrue(
            seen(mixed, "baseline_changed", compare_to="bare_metal")
        )
        self.assertEqual(
            "void",
            made.degradation(mixed, {"*": 50}, compare_to="bare_metal").status,
        )
        self.assertFalse(seen(mixed, "baseline_changed"))

    def test_conditional_on_the_session(self):
        bare = {made.EVENTS: [330.0, 331.0, 329.0]}
        curves = made.levels(CPU, bare=bare)
        self.assertTrue(
            seen(curves, "interval_one_session", compare_to="bare_metal")
        )
        self.assertFalse(seen(curves, "interval_one_session"))
