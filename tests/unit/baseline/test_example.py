# SPDX-License-Identifier: Apache-2.0
"""Tests of the baseline that is shipped as an example."""

import unittest

from rally_vmperf import resources
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store


class TestExample(unittest.TestCase):
    """It is one that the registry takes."""

    def test_loads(self):
        """By its name, with what a task would look for in it."""
        path = resources.path("etc", "example-baseline.json")
        content = store.Store(path.parent).load("example-baseline")
        (entry,) = content.entries
        match = matching.find(
            content,
            entry.workload,
            entry.arguments,
            document.Shape(vcpus=1, memory_mib=256, copies=1),
        )
        self.assertIs(entry, match)
        self.assertEqual(3, len(entry.reference.repetitions))
