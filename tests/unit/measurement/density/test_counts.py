# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from tests.unit import made

COUNTS = {made.COUNT: {1: [0.0], 2: [0.0, 1.0], 3: [0.0, 2.0, 900.0]}}


def levels(by_metric=COUNTS, count=3):
    """Return repetitions without noise, which a count has not."""
    return made.levels(by_metric, count, noise=(1.0,))


@ddt.ddt
class CountsTestCase(unittest.TestCase):
    """Retransmits and loss are held to absolute limits, level by level."""

    @ddt.data(
        ({"*": 1000}, "all", {1: "passed", 2: "passed", 3: "passed"}),
        ({"*": 500}, "all", {1: "passed", 2: "passed", 3: "failed"}),
        ({"*": 0}, [2], {2: "failed"}),
        ({"*": 5}, [2, 4], {2: "passed", 4: "inconclusive"}),
    )
    @ddt.unpack
    def test_the_worst_guest_of_each_level(self, limit, at, statuses):
        """A mean over guests would spread what one of them suffers."""
        got = made.degradation(levels(), {}, max=limit, levels=at)
        self.assertEqual(
            statuses, {row.guests: row.status for row in got.absolute}
        )
        self.assertEqual([], got.curves)

    def test_without_a_limit(self):
        """They are shown, and a limit on losses does not go with them."""
        got = made.degradation(levels(), {"*": 5})
        self.assertEqual(
            [0, 1, 900], [x.figure.estimate().value for x in got.absolute]
        )
        self.assertEqual(("*",), got.unmatched)
        self.assertFalse(got.passed)

    def test_beside_losses(self):
        """A time may have both kinds of limit."""
        both = {made.TIME: {1: [10.0], 2: [11.0, 11.0]}, **COUNTS}
        curves = made.levels(both, noise=(1.0,))
        got = made.degradation(
            curves, {made.TIME.name: 15}, max={made.TIME.name: 10.5}, levels=2
        )
        (lost,) = got.curves
        time, count = got.absolute
        self.assertEqual({2: "inconclusive"}, lost.statuses)
        self.assertEqual((made.TIME, made.COUNT), (time.metric, count.metric))
        self.assertEqual((2, None), (time.guests, count.status))
        self.assertIsNotNone(time.figure.estimate().low)

    def test_a_level_that_means_nothing(self):
        """The others stand; a finding of the whole run voids them all."""
        curves = levels()
        bad = finding.Finding(kind="guest_rebooted", subject="g3", detail="x")
        last = dataclasses.replace(curves[0].conditions[2], findings=(bad,))
        curves[0] = dataclasses.replace(
            curves[0], conditions=(*curves[0].conditions[:2], last)
        )
        got = made.degradation(curves, {}, max={"*": 1000})
        self.assertEqual(
            ["passed", "passed", "void"], [x.status for x in got.absolute]
        )
        moved = dataclasses.replace(bad, kind="guest_host_changed")
        every = [
            dataclasses.replace(level, findings=(moved,)) for level in levels()
        ]
        got = made.degradation(every, {}, max={"*": 1000})
        self.assertEqual({"void"}, {x.status for x in got.absolute})

    def test_a_level_that_was_skipped_once(self):
        """It ran in lucky repetitions only: it may fail, and not pass."""
        curves = levels(count=4)
        last = dataclasses.replace(
            curves[3].conditions[2],
            state="skipped",
            skip_reason="beyond",
            observations=(),
        )
        curves[3] = dataclasses.replace(
            curves[3], conditions=(*curves[3].conditions[:2], last)
        )
        for limit, status in ((1000, "inconclusive"), (500, "failed")):
            got = made.degradation(
                curves, {}, max={"*": limit}, levels=3, on_inconclusive="pass"
            )
            self.assertEqual([status], [x.status for x in got.absolute])
            self.assertFalse(got.passed)
