"""Tests of what is measured of bare metal, and what is left out."""

import argparse
import dataclasses
import unittest
from unittest import mock

from rally_vmperf.baseline import matching
from rally_vmperf.cmd import baseline_record
from rally_vmperf.cmd import coverage
from rally_vmperf.machines import shape


def wanted(copies, insisted):
    """Return what must be covered, in so many copies."""
    return coverage.Coverage(
        assignments=(),
        shape=matching.Shape(1, 512, copies),
        repetitions=3,
        warmup=0,
        insisted=insisted,
    )


class TestThatFit(unittest.TestCase):
    """A machine of two CPUs, asked for more and more copies."""

    def setUp(self):
        """Have a machine on which more than two copies are too many."""
        super().setUp()
        patch = mock.patch(
            "rally_vmperf.execution.sizing.too_small",
            lambda connect, asked: {
                one: shape.TooSmall(f"2 CPUs and {one.copies} copies")
                for one in asked
                if one.copies > 2
            },
        )
        patch.start()
        self.addCleanup(patch.stop)
        self.said = []

    def fitting(self, *asked, whole=False):
        """Return the copies that are measured."""
        shell = mock.Mock()
        shell.stdout.write = self.said.append
        command = baseline_record.Record(shell, None)
        parsed = argparse.Namespace(whole=whole)
        found = command._that_fit(parsed, asked)
        return [one.shape.copies for one in found]

    def test_levels_of_a_task_are_left_out(self):
        """It is said which, and why."""
        asked = [wanted(copies, False) for copies in (1, 2, 3)]
        self.assertEqual([1, 2], self.fitting(*asked))
        (line,) = self.said
        self.assertEqual(
            "left out: 3 x 1 vCPU with 512 MiB: 2 CPUs and 3 copies\n", line
        )

    def test_what_is_insisted_on_is_refused(self):
        """Before anything is measured."""
        with self.assertRaisesRegex(shape.TooSmall, "3 copies"):
            self.fitting(wanted(1, True), wanted(3, True))

    def test_nothing_left(self):
        """A baseline of nothing is none."""
        with self.assertRaisesRegex(shape.TooSmall, "4 copies"):
            self.fitting(wanted(4, False))

    def test_a_machine_left_whole_is_not_asked(self):
        """It is held to no shape."""
        asked = dataclasses.replace(wanted(3, True))
        self.assertEqual([3], self.fitting(asked, whole=True))
