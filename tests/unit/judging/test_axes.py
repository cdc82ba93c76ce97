"""Verdicts on what guests lose to their neighbours."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import repetition
from rally_vmperf.questions import table
from rally_vmperf.questions.common import neighbours
from tests.unit import made

NAME = made.IOPS.name
#: From repetition to repetition the machine is another; the loss is 10 %.
QUIET = (1000.0, 2000.0, 4000.0)
LOUD = (900.0, 1801.0, 3599.0)


def entries(quiet=QUIET, loud=LOUD, metric=made.IOPS, **changes):
    """Return repetitions with both conditions; changes are of the loud one."""
    return [
        made.repetition(
            number,
            [
                made.taken(
                    number, {metric: [values[0]]}, axes={"neighbours": 0}
                ),
                made.taken(
                    number,
                    {metric: [values[1]]},
                    axes={"neighbours": 2},
                    **changes,
                ),
            ],
            expected_metrics=(metric,),
            question="overhead",
        )
        for number, values in enumerate(zip(quiet, loud, strict=True), 1)
    ]


def judgement(given, **arguments):
    """Return the verdict on repetitions."""
    judge = neighbours.CRITERION.parse(arguments).create_judge()
    return made.given(judge, given).judgement()


@ddt.ddt
class TestLoss(unittest.TestCase):
    """Both sides are compared in pairs."""

    @ddt.data((12, "passed"), (8, "failed"))
    @ddt.unpack
    def test_in_pairs(self, limit, status):
        """Machines that change from one to the next do not blur it."""
        found = judgement(entries(), max_percent={"disk.*": limit})
        (row,) = found.limited
        self.assertEqual((status, status), (row.status, found.status))
        self.assertTrue(row.comparison.paired)
        self.assertAlmostEqual(10.0, row.comparison.overhead_percent, 1)
        self.assertRegex(
            row.sentence(),
            "without neighbours .*, with neighbours .*, loss 10.0 %",
        )
        self.assertEqual("loss 10.0 %", row.cells().figure)

    def test_more_time_is_a_loss(self):
        """As of overhead: in percent of the time without."""
        found = judgement(
            entries((1.0, 2.0, 3.0), (1.5, 3.0, 4.5), made.LATENCY)
        )
        (row,) = found.rows
        self.assertAlmostEqual(50.0, row.comparison.overhead_percent)

    def test_one_side_only(self):
        """A repetition without its other half is no pair."""
        given = entries()
        lone = dataclasses.replace(
            given[0], conditions=given[0].conditions[:1]
        )
        (row,) = judgement([lone, *given[1:]]).rows
        self.assertEqual(2, row.comparison.guest_repetitions)
        found = judgement([lone], max_percent={"*": 5})
        self.assertEqual("void", found.status)
        self.assertIn("with and without neighbours", found.sentences()[1])

    def test_few(self):
        """Fewer than three pairs have no interval."""
        found = judgement(entries(QUIET[:2], LOUD[:2]), max_percent={"*": 99})
        self.assertEqual("inconclusive", found.status)
        kinds = [one.finding.kind for one in found.findings]
        self.assertIn("too_few_repetitions", kinds)


def curve(losses, metric=made.IOPS, **changes):
    """Return repetitions of some numbers of guests.

    :param losses: number of guests -> share of its rate that neighbours leave
    :param changes: of the conditions with neighbours
    """
    found = []
    for number, rate in enumerate(QUIET, 1):
        there = [
            made.taken(
                number,
                {
                    metric: [
                        left * (rate + place / 100) / guests
                        for place in range(guests)
                    ]
                },
                axes={"guests": guests, "neighbours": some},
                **(changes if some else {}),
            )
            for guests, share in losses.items()
            for some, left in ((0, 1), (2, share))
        ]
        found.append(
            made.repetition(
                number,
                there,
                expected_metrics=(metric,),
                question="density",
            )
        )
    return found


def with_finding(given, number, guests, neighbours, **changes):
    """Return repetitions, one condition of which has a finding that voids."""
    axes = {"guests": guests, "neighbours": neighbours}
    return [
        dataclasses.replace(
            entry,
            conditions=tuple(
                dataclasses.replace(
                    one, findings=made.seen("guest_rebooted", **changes)
                )
                if entry.number == number and one.axes == axes
                else one
                for one in entry.conditions
            ),
        )
        for entry in given
    ]


class TestCurve(unittest.TestCase):
    """Each number of guests has a loss of its own."""

    def test_losses(self):
        """And the limit is held at each of them."""
        found = judgement(curve({1: 0.95, 2: 0.7}), max_percent={"disk.*": 12})
        self.assertEqual("failed", found.status)
        for row, guests, status in zip(
            found.limited, (1, 2), ("passed", "failed"), strict=True
        ):
            self.assertEqual((guests, status), (row.guests, row.status))
            words = "1 guest" if guests == 1 else "2 guests"
            self.assertIn(f"{NAME} at {words}: without", row.sentence())
            self.assertRegex(row.cells().figure, f"^loss .* % at {words}$")
        self.assertAlmostEqual(
            30, found.limited[1].comparison.overhead_percent, 1
        )

    def test_a_finding_of_one_number_of_guests(self):
        """It voids the loss there, with or without neighbours, not others."""
        for some, count in ((0, 1), (2, 3)):
            given = curve({1: 0.95, 2: 0.95, 3: 0.95})
            for number in range(1, count + 1):
                given = with_finding(given, number, 2, some)
            found = judgement(given, max_percent={"disk.*": 12})
            self.assertEqual(
                ["passed", "void", "passed"],
                [row.status for row in found.limited],
            )
            self.assertEqual("void", found.status)
            self.assertEqual((), found.omitted)
            words = "The guest was rebooted during the run (g1: "
            told = [row.sentence() for row in found.limited]
            self.assertIn(words, told[1])
            self.assertNotIn("rebooted", told[0] + told[2])
            self.assertIn(f"{words}at 2 guests: ", found.sentence())

    def test_a_finding_about_a_metric_at_one_number_of_guests(self):
        """It voids this metric there, and no other."""
        given = with_finding(
            curve({1: 0.95, 2: 0.95}), 1, 2, 2, metrics=(NAME,)
        )
        found = judgement(given, max_percent={"disk.*": 12})
        self.assertEqual(
            ["passed", "void"], [row.status for row in found.limited]
        )
        given = with_finding(
            curve({1: 0.95, 2: 0.95}), 1, 2, 2, metrics=("other",)
        )
        found = judgement(given, max_percent={"disk.*": 12})
        self.assertEqual("passed", found.status)

    def test_a_finding_of_a_repetition(self):
        """It voids all of it, at each number of guests, and no warm-up's."""
        given = curve({1: 0.95, 2: 0.95})
        given[0] = dataclasses.replace(
            given[0], findings=made.seen("guest_rebooted")
        )
        found = judgement(given, max_percent={"disk.*": 12})
        self.assertEqual({"void"}, {row.status for row in found.limited})
        warmup = dataclasses.replace(
            given[0],
            counted=False,
            conditions=tuple(
                dataclasses.replace(one, counted=False)
                for one in given[0].conditions
            ),
        )
        more = [
            dataclasses.replace(one, number=one.number + 1)
            for one in curve({1: 0.95, 2: 0.95})
        ]
        found = judgement([warmup, *more], max_percent={"disk.*": 12})
        self.assertEqual("passed", found.status)

    def test_a_level_that_was_not_run(self):
        """It breaks no limit: the stop rule left it out."""
        given = curve({1: 0.95, 2: 0.95})
        given = [
            dataclasses.replace(
                one,
                conditions=tuple(
                    dataclasses.replace(
                        x,
                        state="skipped",
                        skip_reason="enough",
                        observations=(),
                    )
                    if x.axes["guests"] == 2
                    else x
                    for x in one.conditions
                ),
            )
            for one in given
        ]
        found = judgement(given, max_percent={"disk.*": 12})
        self.assertEqual([1], [row.guests for row in found.limited])
        self.assertEqual("passed", found.status)

    def test_degradation(self):
        """It is that without neighbours, whatever befell the others."""
        given = curve({1: 0.5, 2: 0.1}, findings=made.seen("guest_rebooted"))
        criterion = table.criteria()["vmperf_degradation"]
        judge = made.given(
            criterion.parse({"max_percent": {"disk.*": 51}}).create_judge(),
            given,
        )
        found = judge.judgement()
        (row,) = found.curves
        self.assertEqual("passed", found.status)
        self.assertAlmostEqual(50, row.point(2).loss.overhead_percent, 1)
        kinds = {one.finding.kind for one in found.findings}
        self.assertNotIn("guest_rebooted", kinds)

    def test_validity(self):
        """It is about all conditions."""
        given = curve({1: 1, 2: 1}, findings=made.seen("guest_rebooted"))
        judge = made.given(table.VALID.judge(), given)
        self.assertEqual("void", judge.judgement().status)

    def test_what_the_others_lack(self):
        """The repetition is not complete, and the curve is undecided."""
        gap = repetition.Missing(
            name=NAME, machine="g9", reason="neighbour g9: it ended"
        )
        given = curve({1: 1, 2: 1}, state="incomplete", missing=(gap,))
        criterion = table.criteria()["vmperf_degradation"]
        judge = made.given(
            criterion.parse({"max_percent": {"disk.*": 51}}).create_judge(),
            given,
        )
        found = judge.judgement()
        self.assertEqual("inconclusive", found.status)
        self.assertIn("neighbour g9", found.missing.sentence())


class TestOthers(unittest.TestCase):
    """Other judges are given what was measured without neighbours."""

    def test_overhead(self):
        """And what befell the other condition is not theirs."""
        given = entries(
            findings=made.seen("guest_rebooted"),
            state="incomplete",
        )
        criterion = table.criteria()["vmperf_overhead"]
        judge = made.given(criterion.judge(), given)
        found = judge.judgement()
        row = next(one for one in found.rows if one.metric == made.IOPS)
        self.assertEqual(
            list(QUIET), [one.values[0] for one in row.figure.sides[1]]
        )
        kinds = {one.finding.kind for one in found.findings}
        self.assertNotIn("guest_rebooted", kinds)

    def test_validity(self):
        """It is about both."""
        given = entries(findings=made.seen("guest_rebooted"))
        judge = made.given(table.VALID.judge(), given)
        found = judge.judgement()
        self.assertEqual("void", found.status)
        self.assertEqual(
            {"guest_rebooted"}, {one.finding.kind for one in found.refused}
        )
