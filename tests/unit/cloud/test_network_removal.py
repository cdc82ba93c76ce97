import unittest

from rally_vmperf.cloud import network_removal

SAVED = """\
*filter
:INPUT ACCEPT [0:0]
:neutron-linuxbri-INPUT - [0:0]
-A INPUT -j neutron-linuxbri-INPUT
-A INPUT -s 192.0.2.1/32 -j DROP
-A neutron-linuxbri-sg-chain -j ACCEPT
COMMIT
"""


class RulesTestCase(unittest.TestCase):
    def test_other_rules_stay(self):
        self.assertEqual(
            "*filter\n:INPUT ACCEPT [0:0]\n"
            "-A INPUT -s 192.0.2.1/32 -j DROP\nCOMMIT\n",
            network_removal.without_neutron(SAVED),
        )


class NamesTestCase(unittest.TestCase):
    def test_devices(self):
        for name in ("tap4325c349-99", "brq4f5779db-5f", "ifb4325c349-99",
                     "vxlan-1000"):  # fmt: skip
            self.assertTrue(network_removal.DEVICES.fullmatch(name), name)
        for name in ("tap0", "ifb0", "br-ex", "vxlan", "eth0", "docker0"):
            self.assertIsNone(network_removal.DEVICES.fullmatch(name), name)

    def test_namespaces(self):
        for name in ("qdhcp-1", "qrouter-1", "vmperf-peer"):
            self.assertTrue(network_removal.NAMESPACES.fullmatch(name))
        for name in ("mine", "vmperf-peer-2", "a-qdhcp-1"):
            self.assertIsNone(network_removal.NAMESPACES.fullmatch(name))

    def test_sets(self):
        for name in ("NIPv4e1b5f2b1-0a5c-4f2c-", "NIPv65a1f0c-"):
            self.assertTrue(network_removal.SETS.fullmatch(name))
        self.assertIsNone(network_removal.SETS.fullmatch("blocklist"))
