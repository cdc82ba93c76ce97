import ipaddress
import json
import pathlib
import unittest

from rally_vmperf.cloud.network import routing

DATA = pathlib.Path(__file__).parents[1] / "data"


class UsedTestCase(unittest.TestCase):
    """With what ip says of a machine on which a cloud is up."""

    def setUp(self):
        super().setUp()
        text = (DATA / "ip-6.1.0-route-all.json").read_text()
        self.routes = json.loads(text)

    def used(self, *servers):
        found = routing.used(self.routes, servers)
        return {str(network): what for network, what in found.items()}

    def test_the_machines_own(self):
        found = self.used("192.0.2.53", "fd00::1")
        self.assertEqual("gateway 192.0.2.1 dev eth0", found["192.0.2.1/32"])
        self.assertEqual("route 192.0.2.0/24 dev eth0", found["192.0.2.0/24"])
        self.assertEqual("name server 192.0.2.53", found["192.0.2.53/32"])

    def test_the_clouds_are_not_in_its_way(self):
        for network in map(ipaddress.ip_network, self.used()):
            for usual in ("172.30.0.0/24", "172.24.4.0/24", "10.254.1.0/24"):
                self.assertFalse(
                    network.overlaps(ipaddress.ip_network(usual)), network
                )

    def test_routes_of_others(self):
        self.routes += [
            {"dst": "10.254.0.0/16", "gateway": "192.0.2.9", "dev": "eth0"},
            {"type": "blackhole", "dst": "172.16.0.0/12"},
            {"dst": "172.30.0.0/16", "dev": "docker0"},
            {"dst": "128.0.0.0/1", "dev": "tun0"},
        ]
        found = self.used()
        for network in ("10.254.0.0/16", "172.16.0.0/12", "172.30.0.0/16"):
            self.assertIn(network, found)
        self.assertNotIn("128.0.0.0/1", found)

    def test_ways(self):
        self.assertEqual(
            [routing.ELSEWHERE, "192.0.2.1", "192.0.2.53"],
            routing.targets(
                self.routes, ["192.0.2.53", "192.0.2.1", "fd00::1"]
            ),
        )


class LostTestCase(unittest.TestCase):
    def test_lost(self):
        before = {"192.0.2.1": "dev eth0"}
        self.assertIsNone(routing.lost(before, {**before, "x": "dev y"}))
        for after in ({"192.0.2.1": "dev br-mgmt"}, {}):
            self.assertIn(
                "packets to 192.0.2.1 went 'dev eth0'",
                routing.lost(before, after),
            )
