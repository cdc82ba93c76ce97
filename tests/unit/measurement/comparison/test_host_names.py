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
