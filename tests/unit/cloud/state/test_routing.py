import unittest

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import routing
from rally_vmperf.cloud.system import layout

# The output of "ip -4 -json route show table all" of a host with a cloud.
ROUTES = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
    {"dst": "192.0.2.0/24", "dev": "eth0", "prefsrc": "192.0.2.7"},
    {"type": "local", "dst": "192.0.2.7", "dev": "eth0", "table": "local"},
    {"dst": "172.24.4.0/24", "gateway": "172.30.0.2", "dev": layout.LINK},
    {"dst": "172.30.0.0/24", "dev": layout.LINK, "prefsrc": "172.30.0.1"},
    {"type": "local", "dst": "172.30.0.1", "dev": layout.LINK},
    {"type": "broadcast", "dst": "127.255.255.255", "dev": "lo"},
]


class UsedTestCase(unittest.TestCase):
    def used(self, *servers, routes=()):
        found = routing.used([*ROUTES, *routes], servers)
        return {str(network): what for network, what in found.items()}

    def test_of_the_host(self):
        found = self.used("192.0.2.53", "fd00::1")
        self.assertEqual("gateway 192.0.2.1 dev eth0", found["192.0.2.1/32"])
        self.assertEqual("route 192.0.2.0/24 dev eth0", found["192.0.2.0/24"])
        self.assertEqual("name server 192.0.2.53", found["192.0.2.53/32"])

    def test_not_of_the_cloud(self):
        """A cloud that runs has no conflict with itself."""
        found = routing.used(ROUTES, ["192.0.2.53"])
        self.assertIsNone(addresses.conflict(addresses.USUAL.ranges, found))

    def test_routes_of_others(self):
        found = self.used(
            routes=[
                {"dst": "10.254.0.0/16", "gateway": "192.0.2.9"},
                {"type": "blackhole", "dst": "172.16.0.0/12"},
                {"dst": "172.30.0.0/16", "dev": "docker0"},
                {"dst": "128.0.0.0/1", "dev": "tun0"},
            ]
        )
        for network in ("10.254.0.0/16", "172.16.0.0/12", "172.30.0.0/16"):
            self.assertIn(network, found)
        self.assertNotIn("128.0.0.0/1", found)

    def test_of_this_machine(self):
        self.assertIn(
            "127.0.0.1/32",
            {str(network) for network in routing.used(routing.routes(), [])},
        )
