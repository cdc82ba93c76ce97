# SPDX-License-Identifier: Apache-2.0
"""Tests of the simulation of audits."""

import contextlib
import io
import pathlib
import tempfile
import unittest

from tests.bench import audit


class TestSimulation(unittest.TestCase):
    """Few trials of each fleet."""

    def test_healthy_hosts(self):
        """They are not named, and pass."""
        healthy = audit.Fleet(name="", hosts=10)
        counts = audit.simulate(healthy, 3)
        self.assertEqual((0, 3), (counts["healthy"], counts["passed"]))
        self.assertEqual(3, counts["decided"])

    def test_slow_hosts(self):
        """They are all named, and no other."""
        slow = audit.Fleet(name="", hosts=4, odd={0: 0.8, 1: 0.8})
        counts = audit.simulate(slow, 3)
        self.assertEqual((3, 0), (counts["slow"], counts["healthy"]))
        self.assertEqual(0, counts["passed"])

    def test_fast_host(self):
        """It is not named, and condemns no other."""
        fast = audit.Fleet(name="", hosts=5, odd={0: 1.5})
        counts = audit.simulate(fast, 3)
        self.assertEqual((0, 3), (counts["healthy"], counts["passed"]))

    def test_two_hosts(self):
        """They differ."""
        pair = audit.Fleet(name="", hosts=2, odd={0: 0.8})
        counts = audit.simulate(pair, 3)
        self.assertEqual((3, 0), (counts["differ"], counts["slow"]))

    def test_erratic_host(self):
        """It is undecided, and no other."""
        fleet = audit.Fleet(name="", hosts=10, erratic={0: 0.3})
        counts = audit.simulate(fleet, 3)
        self.assertEqual((3, 0), (counts["decided"], counts["passed"]))

    def test_chance(self):
        """A margin that hosts exceed is noticed."""
        wide = audit.Fleet(name="", hosts=10, spread=0.2)
        self.assertEqual(3, audit.simulate(wide, 3)["healthy"])

    def test_shipped_task(self):
        """Its limits decide, and other metrics do not."""
        fleet, *_ = audit.list_shipped()
        self.assertIn("disk.fio.randread.iops", fleet.limited)
        self.assertLess(len(fleet.limited), len(fleet.metrics))
        self.assertEqual(3, audit.simulate(fleet, 3)["passed"])

    def test_cost(self):
        """The command reads the journals, and names the slow host."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            audit.print_cost(9)
        self.assertIn("compute0007  worse", printed.getvalue())
        self.assertRegex(
            printed.getvalue(),
            r"9 hosts, 20 metrics: exit code 2, [0-9.]+ CPU s, [0-9]+ MiB, "
            r"page [0-9]+ kB",
        )

    def test_journals(self):
        """They have a host each."""
        with tempfile.TemporaryDirectory() as name:
            audit.write_journals(pathlib.Path(name), 2)
            self.assertEqual(2, len([*pathlib.Path(name).glob("*.jsonl")]))
