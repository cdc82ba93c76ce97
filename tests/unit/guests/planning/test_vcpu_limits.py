# SPDX-License-Identifier: Apache-2.0
"""Tests of limits on the vCPUs of guests."""

import unittest

import ddt

from rally_vmperf.guests.planning import vcpu_limits

QUOTA, PERIOD = "quota:cpu_quota", "quota:cpu_period"


@ddt.ddt
class TestLimits(unittest.TestCase):
    """The values that libvirt accepts, and the share that they leave."""

    @ddt.data(
        ({}, 1),
        ({"hw:cpu_policy": "dedicated"}, 1),
        ({QUOTA: "90000"}, 0.9),
        ({QUOTA: "90000", PERIOD: "0"}, 0.9),
        ({QUOTA: "1000", PERIOD: "1000000"}, 0.001),
        ({QUOTA: "5000", PERIOD: "10000"}, 0.5),
        ({QUOTA: "5000", PERIOD: "1000"}, 1),
        ({QUOTA: "-7", PERIOD: "1000"}, 1),
        ({QUOTA: "0", PERIOD: "1000"}, 1),
    )
    @ddt.unpack
    def test_valid(self, specs, share):
        """The default period is 100 ms."""
        self.assertEqual("", vcpu_limits.describe_invalid(specs))
        self.assertEqual(share, vcpu_limits.find_share(specs))

    @ddt.data(
        ({QUOTA: "999"}, "quota:cpu_quota='999': .* in each 100000 that"),
        ({QUOTA: "-0"}, "quota:cpu_quota='-0': .* or negative for no limit$"),
        ({QUOTA: "5 %", PERIOD: "5000"}, "quota='5 %': .* in each 5000 that"),
        ({PERIOD: "999"}, "quota:cpu_period='999': .* 1000 to 1000000, in"),
        ({PERIOD: "1000001", QUOTA: "5000"}, "cpu_period='1000001'"),
        ({PERIOD: "-1"}, "cpu_period='-1'"),
        ({PERIOD: "1e5"}, "cpu_period='1e5'"),
    )
    @ddt.unpack
    def test_invalid(self, specs, message):
        """A message has the range; the value limits nothing."""
        self.assertRegex(vcpu_limits.describe_invalid(specs), message)
        self.assertEqual(1, vcpu_limits.find_share(specs))
