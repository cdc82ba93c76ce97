# SPDX-License-Identifier: Apache-2.0
"""Tests of the protocol of a run."""

import unittest

import ddt

from rally_vmperf.execution import protocols


@ddt.ddt
class RebootTest(unittest.TestCase):
    @ddt.data(
        ("auto", 60, "between_repetitions", ""),
        ("auto", 61, "never", "61 s to boot, more than 60 s,.* about 6 min"),
        ("never", 10, "never", ""),
        ("between_workloads", 300, "between_workloads", ""),
    )
    @ddt.unpack
    def test_auto(self, requested, seconds, resolved, sentence):
        """Only a quick boot is repeated, and a slow one is reported."""
        protocol = protocols.Protocol(cooldown=2, reboot=requested)
        result, warning = protocol.resolve_reboot(seconds, times=6)
        self.assertEqual(
            protocols.Protocol(cooldown=2, reboot=resolved), result
        )
        self.assertRegex(warning, f"^.*{sentence}.*$" if sentence else "^$")

    @ddt.data(("auto", 5), ("between_repetitions", 5), ("never", 0))
    @ddt.unpack
    def test_count(self, reboot, number):
        """A plan counts the boots that there may be."""
        protocol = protocols.Protocol(reboot=reboot)
        self.assertEqual(number, protocol.reboots(3, 2, times=6))

    def test_plan(self):
        """Only the automatic choice has a rule."""
        self.assertIn(
            "adds at most 5 min",
            protocols.Protocol(reboot="auto").describe_auto(6),
        )
        self.assertEqual("", protocols.DEFAULT.describe_auto(6))
