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
        """They are not named."""
        healthy = audit.Fleet(name="", hosts=10)
        self.assertEqual((3, 0), audit.simulate(healthy, 3))

    def test_slow_hosts(self):
        """They are all named."""
        slow = audit.Fleet(name="", hosts=4, slow={0: 0.8, 1: 0.8})
        self.assertEqual((3, 0), audit.simulate(slow, 3))

    def test_chance(self):
        """A margin that hosts exceed is noticed."""
        wide = audit.Fleet(name="", hosts=10, spread=0.2)
        self.assertEqual(3, audit.simulate(wide, 3)[1])

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
