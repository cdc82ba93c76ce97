"""Tests of what the security group lets in."""

import unittest
from unittest import mock

from rally_vmperf.guests import boot
from tests.unit.guests import testing


class RulesTest(unittest.TestCase):
    def test_rules(self):
        """ICMP, SSH, and the ports of workloads by TCP and UDP."""
        seen = {
            (
                rule["ether_type"],
                rule["protocol"],
                rule.get("port_range_min"),
                rule.get("port_range_max"),
            )
            for rule in boot.rules()
        }
        self.assertEqual(
            {
                ("IPv4", "icmp", None, None),
                ("IPv4", "tcp", 22, 22),
                ("IPv4", "tcp", 5201, 5328),
                ("IPv4", "udp", 5201, 5328),
                ("IPv6", "ipv6-icmp", None, None),
                ("IPv6", "tcp", 22, 22),
                ("IPv6", "tcp", 5201, 5328),
                ("IPv6", "udp", 5201, 5328),
            },
            seen,
        )

    def test_no_group_without_port_security(self):
        cloud = testing.FakeCloud()
        network = mock.Mock(secured=False)
        self.assertIsNone(boot.add_security_group(cloud, "g", [network]))
        self.assertEqual([], cloud.calls)
