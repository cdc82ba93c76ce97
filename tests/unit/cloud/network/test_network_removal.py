import unittest

from rally_vmperf.cloud.network import network_removal
from rally_vmperf.cloud.state import addresses

ID = "4f5779db-5f00-4a2b-8c1d-0123456789ab"

SAVED = """\
*raw
:PREROUTING ACCEPT [0:0]
-A PREROUTING -m comment --comment "like neutron-linuxbri-i" -j NOTRACK
COMMIT
*filter
:INPUT ACCEPT [0:0]
:neutron-linuxbri-INPUT - [0:0]
:neutron-linuxbri-sg-chain - [0:0]
:neutron-mine - [0:0]
:mine - [0:0]
-A INPUT -j neutron-linuxbri-INPUT
-A INPUT -s 192.0.2.1/32 -j DROP
-A INPUT -m comment --comment "for neutron-linuxbri-INPUT" -j ACCEPT
-A INPUT -m comment --comment "-j neutron-linuxbri-INPUT" -j mine
-A INPUT -j neutron-mine
-A neutron-linuxbri-sg-chain -j ACCEPT
-A neutron-linuxbri-INPUT -j neutron-linuxbri-sg-chain
COMMIT
"""
REMOVAL = """\
*raw
COMMIT
*filter
-D INPUT -j neutron-linuxbri-INPUT
-F neutron-linuxbri-INPUT
-F neutron-linuxbri-sg-chain
-X neutron-linuxbri-INPUT
-X neutron-linuxbri-sg-chain
COMMIT
"""


class RulesTestCase(unittest.TestCase):
    def test_other_rules_stay(self):
        """Chains of Neutron's agents go; names in comments mean nothing."""
        self.assertEqual(REMOVAL, network_removal.removal_of_rules(SAVED))


class NamesTestCase(unittest.TestCase):
    def test_devices(self):
        for name in ("tap4325c349-99", "brq4f5779db-5f", "ifb4325c349-99",
                     ):  # fmt: skip
            self.assertTrue(network_removal.DEVICES.fullmatch(name), name)
        for name in ("tap0", "ifb0", "br-ex", "vxlan-1000", "eth0", "docker0"):
            self.assertIsNone(network_removal.DEVICES.fullmatch(name), name)

    def test_tunnels(self):
        """Only those that end on the cloud's own bridge or address."""

        def vxlan(name, **end):
            about = {"info_kind": "vxlan", "info_data": end}
            return {"ifname": name, "linkinfo": about}

        devices = [
            vxlan("vxlan-1353", local="172.30.0.1", link="br-mgmt", id=1353),
            vxlan("vxlan-1", local="172.30.0.1", id=1),
            vxlan("vxlan-2", link="br-mgmt", id=2),
            vxlan("vxlan-3", local="192.0.2.2", link="eth0", id=3),
            vxlan("vxlan-4", id=4),
            {"ifname": "vxlan-5", "linkinfo": {"info_kind": "dummy"}},
            {"ifname": "vxlan-6"},
        ]
        self.assertEqual(
            ["vxlan-1353", "vxlan-1", "vxlan-2"],
            network_removal.tunnels(devices, addresses.USUAL),
        )
        self.assertEqual([], network_removal.named(devices))

    def test_namespaces(self):
        for name in (f"qdhcp-{ID}", f"qrouter-{ID}", "vmperf-peer"):
            self.assertTrue(network_removal.NAMESPACES.fullmatch(name))
        for name in ("mine", "vmperf-peer-2", f"a-qdhcp-{ID}", "qdhcp-1"):
            self.assertIsNone(network_removal.NAMESPACES.fullmatch(name))

    def test_sets(self):
        for name in ("NIPv4e1b5f2b1-0a5c-4f2c-", "NIPv65a1f0c-"):
            self.assertTrue(network_removal.SETS.fullmatch(name))
        self.assertIsNone(network_removal.SETS.fullmatch("blocklist"))
