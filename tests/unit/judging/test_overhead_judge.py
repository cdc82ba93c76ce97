"""Tests of the judge of overhead with several guests."""

import unittest

import ddt

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
        condition = made.taken(
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
    """One guest in trouble beside good ones."""

    def test_the_mean_passes_with_a_warning(self):
        judgement = judge((1, 1, 30, 1), 10)
        self.assertEqual("passed", judgement.status)
        self.assertIn("guests_differ", judgement.headline())
        (detail,) = (
            run_finding.finding.detail
            for run_finding in judgement.findings
            if run_finding.finding.kind == "guests_differ"
        )
        self.assertRegex(
            detail,
            r"^1 of 4 guests beyond the limit of 10 %: g3 loses 30\.0 % "
            r"\(95 % interval 29\.\d to 30\.\d %\)$",
        )

    @ddt.data((1, 1, 9, 1), (30, 30, 30, 30), (30,))
    def test_guests_that_do_not_differ(self, losses):
        """Within the limit, or as the mean guest."""
        self.assertNotIn("guests_differ", judge(losses, 10).headline())

    def test_the_worst_fails(self):
        judgement = judge((1, 1, 30, 1), 10, statistic="worst")
        self.assertEqual("failed", judgement.status)
        self.assertRegex(
            judgement.sentence(),
            r"bare metal 10\.0 kops/s, worst of 4 guests \(g3\) 7\.00 kops/s, "
            r"overhead 30\.0 % \(98\.75 % interval, as one of 4 guests, "
            r"29\.\d to 30\.\d %\), limit 10 % \(\*\): failed",
        )
        self.assertNotIn("guests_differ", judgement.headline())

    def test_the_worst_passes(self):
        judgement = judge((1, 1, 5, 1), 10, statistic="worst")
        self.assertEqual("passed", judgement.status)
        self.assertIn("worst of 4 guests (g3) 5.0 %", judgement.sentence())
        self.assertNotIn("as one of 4 guests", judgement.sentence())

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
        losses = rows[0].by_guest
        limit = (losses.each["g3"].low + losses.corrected["g3"].low) / 2
        judgement = judge((1, 1, 30, 1), limit, statistic="worst")
        self.assertEqual("inconclusive", judgement.status)
        self.assertIn("98.75 % interval, as one of 4", judgement.sentence())

    def test_one_guest(self):
        """It is the mean and the worst one."""
        mean, worst = (
            judge((5,), 10, statistic=name).sentence()
            for name in ("mean", "worst")
        )
        self.assertEqual(mean, worst)
