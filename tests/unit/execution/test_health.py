"""Tests of what befalls machines while they measure."""

import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.execution import health

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
        """A counter that has grown tells."""
        found = health.compare({"g1": look()}, {"g1": look(**changes)})
        self.assertEqual(kinds, [one.kind for one in found])

    def test_reboot(self):
        """Another boot voids the repetition, whatever the counters say."""
        other = health.parse(
            TEXT.replace("3f2c", "aaaa").format(steal=9, swap=9, killed=9)
        )
        found = health.compare({"g1": look()}, {"g1": other})
        self.assertEqual(["guest_rebooted"], [one.kind for one in found])

    def test_silent_machine(self):
        """One that did not answer both times is not judged."""
        self.assertEqual([], health.compare({"g1": look()}, {}))

    @ddt.data("pswpin \u00b2", "pswpin " + "9" * 5000, "cpu \u0663 1 1")
    def test_digits_that_are_no_number(self, line):
        """A guest cannot make the controller stumble."""
        self.assertEqual(0, health.parse(f"boot\n{line}\n").swapped)

    @hypothesis.given(strategies.text())
    def test_any_text(self, text):
        """Whatever a guest prints, counters come out."""
        self.assertIsInstance(health.parse(text), health.Look)
