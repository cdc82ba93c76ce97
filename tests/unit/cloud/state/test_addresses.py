import ipaddress

import ddt

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout
from tests.unit.cloud import base

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


def used(*networks):
    return {ipaddress.ip_network(text): f"route {text}" for text in networks}


@ddt.ddt
class ChooseTestCase(base.CloudTestCase):
    @ddt.data(
        ([], "172.30.0.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["192.0.2.0/24"], "172.30.0.0/24 172.24.4.0/24 10.254.1.0/24"),
        # as Docker makes it, with the machine's gateway in it
        (["172.30.0.0/16"], "10.254.240.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["172.30.0.77/32"], "172.30.240.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["10.254.0.0/16"], "172.30.0.0/24 172.24.4.0/24 172.30.240.0/24"),
        (
            ["10.0.0.0/8", "172.16.0.0/12"],
            "192.168.240.0/24 192.168.241.0/24 192.168.242.0/24",
        ),
        (
            ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
            "100.127.240.0/24 100.127.241.0/24 100.127.242.0/24",
        ),
    )
    @ddt.unpack
    def test_free_ones(self, networks, expected):
        chosen = addresses.choose(used(*networks))
        self.assertEqual(expected, " ".join(map(str, chosen.ranges)))

    def test_none_is_free(self):
        with self.assertRaisesRegex(
            errors.CloudError,
            "172.30.0.0/24 overlaps the machine's route 128.0.0.0/1.*"
            "cloud up --network",
        ):
            addresses.choose(used("0.0.0.0/1", "128.0.0.0/1"))


class AddressesTestCase(base.CloudTestCase):
    def test_of_each_part(self):
        chosen = addresses.parse("10.66.0.0/22")
        self.assertEqual(
            ("10.66.0.1", "10.66.0.2", "10.66.0.3"),
            (chosen.host, chosen.controller, chosen.second),
        )
        self.assertEqual(
            ("10.66.1.1", "10.66.1.2"), (chosen.gateway, chosen.peer)
        )
        self.assertEqual(("10.66.1.10", "10.66.1.250"), chosen.external_pool)
        self.assertEqual("http://10.66.0.2:5000/v3", chosen.auth_url)


@ddt.ddt
class ParseTestCase(base.CloudTestCase):
    def test_the_first_three(self):
        chosen = addresses.parse("10.66.0.0/22")
        self.assertEqual(
            ["10.66.0.0/24", "10.66.1.0/24", "10.66.2.0/24"],
            [*map(str, chosen.ranges)],
        )

    @ddt.data("10.66.0.0/23", "10.66.0.1/22", "fd00::/16", "x", "0.0.0.0/0")
    def test_refused(self, text):
        with self.assertRaises(ValueError):
            addresses.parse(text)


class SettleTestCase(base.CloudTestCase):
    def settle(self, *networks, wanted=None, made=False):
        if wanted:
            wanted = addresses.parse(wanted)
        return addresses.settle(
            self.folders, used(*networks), wanted, made=made
        )

    def test_kept(self):
        """A second time takes the same, also when the usual are free again."""
        chosen = self.settle("172.30.0.0/16")
        self.assertNotEqual(addresses.USUAL, chosen)
        for made in (False, True):
            self.assertEqual(chosen, self.settle(made=made))
        self.assertEqual(chosen, addresses.load(self.folders))

    def test_chosen_anew_while_there_is_no_cloud(self):
        self.assertEqual(addresses.USUAL, self.settle())
        self.assertNotEqual(addresses.USUAL, self.settle("10.254.0.0/16"))

    def test_a_cloud_on_a_machine_that_moved(self):
        before = self.settle()
        with self.assertRaisesRegex(
            errors.CloudError, "10.254.1.0/24 overlaps.*cloud down --purge"
        ):
            self.settle("10.254.0.0/16", made=True)
        self.assertEqual(before, addresses.load(self.folders))

    def test_asked_for(self):
        chosen = self.settle(wanted="10.66.0.0/16")
        self.assertEqual(chosen, self.settle(wanted="10.66.0.0/22", made=True))
        with self.assertRaisesRegex(errors.CloudError, "other networks"):
            self.settle(wanted="10.99.0.0/22", made=True)
        with self.assertRaisesRegex(
            errors.CloudError, "10.99.1.0/24 overlaps .*cloud up --network"
        ):
            self.settle("10.99.1.7/32", wanted="10.99.0.0/22")

    def test_a_cloud_of_before_there_was_a_choice(self):
        self.assertEqual(addresses.USUAL, self.settle(made=True))

    def test_a_broken_record(self):
        for text in ("{", "{}", '{"management": "x"}'):
            self.folders.addresses.write_text(text)
            self.assertEqual(addresses.USUAL, addresses.load(self.folders))


class UsedTestCase(base.CloudTestCase):
    def used(self, *servers, routes=()):
        found = addresses.find_used([*ROUTES, *routes], servers)
        return {str(network): what for network, what in found.items()}

    def test_of_the_host(self):
        found = self.used("192.0.2.53", "fd00::1")
        self.assertEqual("gateway 192.0.2.1 dev eth0", found["192.0.2.1/32"])
        self.assertEqual("route 192.0.2.0/24 dev eth0", found["192.0.2.0/24"])
        self.assertEqual("name server 192.0.2.53", found["192.0.2.53/32"])

    def test_not_of_the_cloud(self):
        """A cloud that runs has no conflict with itself."""
        found = addresses.find_used(ROUTES, ["192.0.2.53"])
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
