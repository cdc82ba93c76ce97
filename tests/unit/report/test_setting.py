"""Tests of what a report says about the circumstances."""

import unittest

import ddt

from rally_vmperf.report import setting


@ddt.ddt
class DiskTestCase(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, ""),
        ({"disk": {"source": "flavor", "size_gib": 4}}, ""),
        (
            {"disk": {"source": "volume", "size_gib": 20, "type": "ssd"}},
            "volume of 20 GiB, type ssd",
        ),
        (
            {"disk": {"source": "volume", "size_gib": 20, "type": None}},
            "volume of 20 GiB",
        ),
    )
    def test_volumes_are_named(self, nova, words):
        self.assertEqual(words, setting._disk({"name": "g1", "nova": nova}))
