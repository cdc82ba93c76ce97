# SPDX-License-Identifier: Apache-2.0
"""Tests of when no more guests are added."""

import unittest

import ddt

from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density import levels
from rally_vmperf.questions.density import run
from tests.unit import made

RATE = sample.Metric(name="cpu.rate", unit="1/s", better="higher")
TIME = sample.Metric(name="cpu.time", unit="s", better="lower")
LATENCY = sample.Metric(name="disk.latency", unit="s", better="lower")
LOST = sample.Metric(
    name="network.lost", unit="1", better="lower", scale="count"
)


def level(metric, *values):
    """Return a level: its number of guests, and a value of each."""
    return levels.Level(
        len(values),
        [
            sample.Observation(
                source=f"g{number}",
                sample=sample.Sample(metric=metric, value=value),
            )
            for number, value in enumerate(values, 1)
        ],
    )


class TestLevelsThatCount(unittest.TestCase):
    """Levels whose conditions are selected."""

    def test_load_of_unmeasured_guests(self):
        """It reduces the rates, and ends no curve."""
        measured = [
            made.build_condition(
                1, {RATE: rates}, axes={"guests": n, "neighbours": neighbours}
            )
            for n, neighbours, rates in (
                (1, 0, [100.0]),
                (1, 2, [10.0]),
                (2, 0, [90.0, 90.0]),
                (2, 2, [1.0, 1.0]),
            )
        ]
        rule = levels.StopRule(max_percent=verdict.Limits({"*": 50}))
        self.assertIn("lost", run.find_stop_reason(rule, [measured]))
        self.assertEqual(
            "", run.find_stop_reason(rule, [measured], neighbours=False)
        )


@ddt.ddt
class TestStop(unittest.TestCase):
    """The rule compares the last level with the previous ones."""

    @ddt.data(
        (RATE, (100.0,), (51.0, 51.0), ""),
        (RATE, (100.0,), (49.0, 49.0), "lost 51.0% with 2 guests"),
        (TIME, (1.0,), (1.9, 1.9), ""),
        (TIME, (1.0,), (2.1, 2.1), "lost 52.4% with 2 guests"),
        (LOST, (1.0,), (9.0, 9.0), ""),
    )
    @ddt.unpack
    def test_limit(self, metric, first, second, reason):
        """A time counts as a rate; a count does not."""
        rule = levels.StopRule(max_percent=verdict.Limits({"*": 50}))
        stop_reason = rule.find_reason(
            [[level(metric, *first), level(metric, *second)]]
        )
        self.assertIn(reason, stop_reason)
        self.assertEqual(bool(reason), bool(stop_reason))

    @ddt.data(
        ((100.0,), (60.0, 60.0), ""),
        ((100.0,), (50.0, 50.0), "no total rises with 2 guests"),
        ((100.0,), (40.0, 50.0), "no total rises with 2 guests"),
    )
    @ddt.unpack
    def test_total(self, first, second, reason):
        """It must rise from level to level."""
        rule = levels.StopRule(total_falls=True)
        stop_reason = rule.find_reason(
            [[level(RATE, *first), level(RATE, *second)]]
        )
        self.assertEqual(reason, stop_reason)

    def test_totals_of_additive_metrics(self):
        """Latencies have no total; one that rises is enough to go on."""
        rule = levels.StopRule(total_falls=True)
        single, two = level(LATENCY, 1.0), level(LATENCY, 9.0, 9.0)
        self.assertEqual("", rule.find_reason([[single, two]]))
        other = sample.Metric(name="disk.rate", unit="1/s", better="higher")
        rising = [
            levels.Level(1, [*level(RATE, 9.0)[1], *level(other, 1.0)[1]]),
            levels.Level(
                2, [*level(RATE, 4.0, 4.0)[1], *level(other, 1.0, 1.0)[1]]
            ),
        ]
        self.assertEqual("", rule.find_reason([rising]))

    def test_the_first_level_stops_nothing(self):
        """There is nothing to compare it with."""
        rule = levels.StopRule(
            max_percent=verdict.Limits({"*": -1}), total_falls=True
        )
        self.assertEqual("", rule.find_reason([[level(RATE, 1.0)]]))

    def test_all_repetitions_so_far_decide(self):
        """An unlucky one ends no curve, and a lucky one prolongs none."""
        rule = levels.StopRule(max_percent=verdict.Limits({"*": 50}))
        good = [level(RATE, 100.0), level(RATE, 70.0, 70.0)]
        bad = [level(RATE, 100.0), level(RATE, 45.0, 45.0)]
        self.assertIn("with 2 guests", rule.find_reason([bad]))
        self.assertEqual("", rule.find_reason([good, good, bad]))
        self.assertEqual(
            "cpu.rate lost 50.5% with 2 guests, more than 50 % (*), over 3 "
            "repetitions",
            rule.find_reason(
                [bad, bad, [level(RATE, 100.0), level(RATE, 60.0, 60.0)]]
            ),
        )
        # A repetition without the level says nothing of it.
        self.assertIn("lost 55.0%", rule.find_reason([good[:1], bad]))

    def test_totals_of_all_repetitions(self):
        """If guests ran alone in turn, the total is that of one guest."""
        rule = levels.StopRule(total_falls=True)
        rise = [level(RATE, 100.0), level(RATE, 60.0, 60.0)]
        fall = [level(RATE, 100.0), level(RATE, 45.0, 45.0)]
        self.assertEqual("", rule.find_reason([rise, fall]))
        self.assertIn("no total", rule.find_reason([fall, fall, rise]))
        each = level(RATE, 100.0, 100.0)._replace(guests=1, turns=2)
        self.assertEqual("", rule.find_reason([[each, rise[1]]]))
        self.assertIn("no total", rule.find_reason([[each, fall[1]]]))
