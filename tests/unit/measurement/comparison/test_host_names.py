# SPDX-License-Identifier: Apache-2.0
"""Tests of names of hosts."""

import unittest

import ddt

from rally_vmperf.measurement.comparison import host_names


@ddt.ddt
class SameHostTest(unittest.TestCase):
    @ddt.data(
        ("compute1", "compute1", True),
        ("compute1", "Compute1.rack1", True),
        ("compute1.rack1", "compute1", True),
        ("compute1.rack1", "compute1.rack2", False),
        ("compute1.rack1", "compute1.rack1.example.org", False),
        ("compute1", "compute10", False),
    )
    @ddt.unpack
    def test_whole_names(self, name, other, same):
        self.assertEqual(same, host_names.same(name, other))

    @ddt.data(
        ("compute-17.rack3.example.org", "compute-17.rack3.example.org"),
        # A hostId as Nova's API reference shows it.
        (
            "2091634baaccdc4c5a1d57069c833e402921df696b7f970791b12ec6",
            "2091634b",
        ),
        ("deadbeef" * 6, "deadbeef" * 6),
    )
    @ddt.unpack
    def test_shortened(self, name, shown):
        """Only the identifier that members see is cut."""
        self.assertEqual(shown, host_names.shorten(name))
