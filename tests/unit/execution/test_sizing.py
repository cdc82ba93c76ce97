"""Tests of whether bare metal is large enough."""

import unittest

from rally_vmperf.baseline import matching
from rally_vmperf.execution import sizing
from rally_vmperf.machines import testing

LOOK = "\n".join(
    [
        "allowed=0-3",
        "memory_kib=8388608",
        "# CPU,CORE,NODE",
        *(f"{number},{number},0" for number in range(4)),
    ]
)


class TestTooSmall(unittest.TestCase):
    """Asked before anything is measured, or held."""

    def test_each_shape(self):
        """By its CPUs and by its memory."""
        fits = matching.Shape(1, 1024, 4)
        cpus, memory = matching.Shape(1, 1024, 5), matching.Shape(1, 4096, 4)
        machine = testing.FakeMachine("metal", {"sh": LOOK, "bash": LOOK})
        found = sizing.too_small(lambda: machine, [fits, cpus, memory])
        self.assertEqual({cpus, memory}, set(found))
        self.assertIn("4 CPUs and 5 copies", str(found[cpus]))
        self.assertIn("8192 MiB", str(found[memory]))
