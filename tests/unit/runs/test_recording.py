"""Tests of what bare metal says of itself."""

import asyncio
import unittest

import ddt

from rally_vmperf.machines import testing
from rally_vmperf.runs import recording


@ddt.ddt
class TestNode(unittest.TestCase):
    """A host name is one, and nothing else."""

    @ddt.data(
        ("compute-1.example.org\n", "compute-1.example.org"),
        ("=cmd|'/C calc'!A0\n", "?cmd???C?calc??A0"),
        ("\x1b[2Jhost", "??2Jhost"),
        ("h\u00f4te", "h?te"),
        ("x" * 1000, "x" * 255),
    )
    @ddt.unpack
    def test_name(self, said, name):
        """Other characters stand as question marks."""
        machine = testing.FakeMachine("metal", {"uname": said})
        self.assertEqual(name, asyncio.run(recording._node(machine)))
