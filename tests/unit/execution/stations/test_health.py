# SPDX-License-Identifier: Apache-2.0
"""Tests of what befalls machines while they measure."""

import asyncio
import dataclasses
import unittest
from unittest import mock

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import local
from rally_vmperf.measurement import guest_metrics

TEXT = """\
3f2c9c56-0000-4000-8000-000000000000
cpu  100 0 50 800 5 0 1 {steal} 0 0
cpu0 100 0 50 800 5 0 1 {steal} 0 0
ctxt 12345
pswpin {swap}
pswpout 0
oom_kill {killed}
"""


def look(steal=0, swap=0, killed=0):
    """Return the counters of a machine."""
    return health.parse(TEXT.format(steal=steal, swap=swap, killed=killed))


@ddt.ddt
class TestCompare(unittest.TestCase):
    """Each mishap is one finding."""

    @ddt.data(
        ({}, []),
        ({"steal": 2}, ["steal_time"]),
        ({"swap": 1}, ["swap_or_oom"]),
        ({"killed": 1}, ["swap_or_oom"]),
    )
    @ddt.unpack
    def test_counters(self, changes, kinds):
        """A counter that has grown causes a finding."""
        findings = health.compare({"g1": look()}, {"g1": look(**changes)})
        self.assertEqual(kinds, [finding.kind for finding in findings])

    def test_reboot(self):
        """Another boot voids the repetition, whatever the counters say."""
        other = health.parse(
            TEXT.replace("3f2c", "aaaa").format(steal=9, swap=9, killed=9)
        )
        findings = health.compare({"g1": look()}, {"g1": other})
        self.assertEqual(
            ["guest_rebooted"], [finding.kind for finding in findings]
        )

    @ddt.data((0, 0.0), (25, 25 / 25))
    @ddt.unpack
    def test_cpu_time(self, steal, share):
        """The share of the time that the guest requested."""
        times = health.count_cpu_time(
            {"g1": look()}, {"g1": look(steal=steal)}
        )
        self.assertEqual(
            {"g1": steal}, {n: t.stolen for n, t in times.items()}
        )
        self.assertEqual(share, times["g1"].stolen_share)

    def test_used_cpu_time(self):
        """Interrupts are used time; idle, I/O and guests of a guest add none.

        The available time is that of the clock: a kernel without steal omits
        the ticks in which its vCPUs did not run.
        """
        before, after = (
            health.parse(f"boot\n{uptime} 7.00\ncpu {ticks}\ncpu0 1\ncpu1 2\n")
            for uptime, ticks in (
                ("100.00", "100 10 50 800 5 1 2 30 40 5"),
                ("110.00", "400 20 150 1000 15 11 22 130 340 15"),
            )
        )
        times = health.count_cpu_time({"g1": before}, {"g1": after})
        self.assertEqual(
            guest_metrics.CpuTime(stolen=100, requested=540, available=2000.0),
            times["g1"],
        )
        self.assertEqual(0.22, times["g1"].used_share)

    def test_cpu_time_of_another_boot(self):
        """Counters of two boots have no difference."""
        other = health.parse(
            TEXT.replace("3f2c", "aaaa").format(steal=9, swap=0, killed=0)
        )
        self.assertEqual(
            {}, health.count_cpu_time({"g1": look()}, {"g1": other})
        )

    def test_silent_machine(self):
        """One that did not answer both times is not judged."""
        self.assertEqual([], health.compare({"g1": look()}, {}))

    @ddt.data("pswpin \u00b2", "pswpin " + "9" * 5000, "cpu \u0663 1 1")
    def test_digits_that_are_no_number(self, line):
        """A guest cannot make the controller stumble."""
        self.assertEqual(0, health.parse(f"boot\n{line}\n").swapped)

    @hypothesis.given(strategies.text())
    def test_any_text(self, text):
        """Any text is parsed to counters."""
        self.assertIsInstance(health.parse(text), health.Counters)


@ddt.ddt
class TestClock(unittest.TestCase):
    """A machine's own time, and the controller's, over ten minutes."""

    def kinds(self, seconds, before=(0.0, 0.1), after=(600.0, 600.1)):
        """Return the findings, where a machine counted so many seconds."""
        text = TEXT.format(steal=0, swap=0, killed=0)
        looks = [
            dataclasses.replace(
                health.parse(f"{text}\n{up:.2f} 7.00\n"),
                requested_at=requested_at,
                answered_at=answered_at,
            )
            for up, (requested_at, answered_at) in (
                (100, before),
                (100 + seconds, after),
            )
        ]
        findings = health.compare({"g1": looks[0]}, {"g1": looks[1]})
        return [finding.kind for finding in findings]

    @ddt.data(600.0, 603.0, 597.0)
    def test_right(self, seconds):
        """Half a percent and the round trips cause no finding."""
        self.assertEqual([], self.kinds(seconds))

    @ddt.data(604.0, 595.0, 0.0)
    def test_wrong(self, seconds):
        """More is one, and so is a guest that was paused."""
        self.assertEqual(["clock_wrong"], self.kinds(seconds))

    @ddt.data(580.0, 590.0, 600.0)
    def test_a_slow_answer_before(self, seconds):
        """A reading at any time in the round trip causes no finding."""
        self.assertEqual([], self.kinds(seconds, before=(0.0, 20.0)))

    @ddt.data(600.0, 610.0, 620.0)
    def test_a_slow_answer_after(self, seconds):
        """A slow answer at the end causes no finding."""
        self.assertEqual([], self.kinds(seconds, after=(600.0, 620.0)))

    def test_a_machine_that_does_not_tell(self):
        """Its clock is not judged."""
        self.assertEqual([], health.compare({"g1": look()}, {"g1": look()}))

    def test_a_real_machine(self):
        """This computer's clock is right; one that is an hour ahead is not."""
        machine = local.Local("g1")
        place = roles.Station(name="g1", machine=machine, role="guest")
        with mock.patch.object(local.Local, "shares_clock", False):
            before = asyncio.run(health.read_counters([place]))
            after = asyncio.run(health.read_counters([place]))
        kinds = [finding.kind for finding in health.compare(before, after)]
        self.assertNotIn("clock_wrong", kinds)
        fast = dataclasses.replace(after["g1"], up=after["g1"].up + 3600)
        kinds = [
            finding.kind for finding in health.compare(before, {"g1": fast})
        ]
        self.assertIn("clock_wrong", kinds)
