# SPDX-License-Identifier: Apache-2.0
import ipaddress
import json
from unittest import mock

import ddt

from rally_vmperf.image import commands
from tests import skips
from tests.cloud.state import addresses
from tests.cloud.system import layout
from tests.unit.cloud import base

# The output of "ip -4 -json route show table all" of a host with a cloud.
ROUTES = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
    {"dst": "192.0.2.0/24", "dev": "eth0", "prefsrc": "192.0.2.7"},
    {"type": "local", "dst": "192.0.2.7", "dev": "eth0", "table": "local"},
    {"dst": "172.24.4.0/24", "gateway": "172.24.5.2", "dev": layout.LINK},
    {"dst": "172.24.5.0/24", "dev": layout.LINK, "prefsrc": "172.24.5.1"},
    {"type": "local", "dst": "172.24.5.1", "dev": layout.LINK},
    {"type": "broadcast", "dst": "127.255.255.255", "dev": "lo"},
]
FIRST = addresses.parse("172.24.4.0/22")


def used(*networks):
    return {ipaddress.ip_network(text): f"route {text}" for text in networks}


class AddressesTestCase(base.CloudTestCase):
    def test_of_each_part(self):
        chosen = addresses.parse("10.66.0.0/22")
        self.assertEqual("10.66.0.2", chosen.peer)
        self.assertEqual("10.66.1.2", chosen.controller)
        self.assertEqual("http://10.66.1.2:5000/v3", chosen.auth_url)


@ddt.ddt
class ParseTestCase(base.CloudTestCase):
    def test_the_first_three(self):
        chosen = addresses.parse("10.66.0.0/16")
        self.assertEqual(
            ["10.66.0.0/24", "10.66.1.0/24", "10.66.2.0/24"],
            [*map(str, chosen.ranges)],
        )

    @ddt.data("10.66.0.0/23", "10.66.0.1/22", "fd00::/16", "x", "0.0.0.0/0")
    def test_refused(self, text):
        with self.assertRaises(ValueError):
            addresses.parse(text)


@ddt.ddt
class ChooseTestCase(base.CloudTestCase):
    def choose(self, *networks, requested=None):
        if requested:
            requested = addresses.parse(requested)
        return addresses.choose(self.folders, used(*networks), requested)

    @ddt.data(
        ([], "172.24.4.0/22"),
        (["192.0.2.0/24", "172.24.7.0/24"], "172.24.4.0/22"),
        # As Docker makes it, with the host's gateway in it.
        (["172.24.0.0/16"], "172.30.240.0/22"),
        (["172.24.5.77/32"], "172.30.240.0/22"),
        (["172.16.0.0/12"], "10.254.240.0/22"),
        (["10.0.0.0/8", "172.16.0.0/12"], "192.168.240.0/22"),
        (
            ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
            "100.127.240.0/22",
        ),
    )
    @ddt.unpack
    def test_free_ones(self, networks, expected):
        self.assertEqual(addresses.parse(expected), self.choose(*networks))

    def test_none_is_free(self):
        with self.assertRaisesRegex(
            commands.HostError,
            "172.24.4.0/24 overlaps the host's route 128.0.0.0/1.*"
            "cloud up --network",
        ):
            self.choose("0.0.0.0/1", "128.0.0.0/1")

    def test_kept(self):
        """A second time takes the same, also when the first is free again."""
        chosen = self.choose("172.24.0.0/16")
        self.assertNotEqual(FIRST, chosen)
        self.assertEqual(chosen, self.choose())
        self.fill_databases()
        self.assertEqual(chosen, self.choose())
        self.assertEqual(chosen, addresses.load(self.folders))

    def test_chosen_anew_while_there_is_no_cloud(self):
        self.assertEqual(FIRST, self.choose())
        self.assertNotEqual(FIRST, self.choose("172.24.6.0/24"))

    def test_a_cloud_on_a_host_that_moved(self):
        before = self.choose()
        self.fill_databases()
        with self.assertRaisesRegex(
            commands.HostError, "172.24.6.0/24 overlaps.*cloud down --purge"
        ):
            self.choose("172.24.6.0/24")
        self.assertEqual(before, addresses.load(self.folders))

    def test_asked_for(self):
        chosen = self.choose(requested="10.66.0.0/16")
        with self.assertRaisesRegex(
            commands.HostError, "10.99.1.0/24 overlaps .*cloud up --network"
        ):
            self.choose("10.99.1.7/32", requested="10.99.0.0/22")
        self.fill_databases()
        self.assertEqual(chosen, self.choose(requested="10.66.0.0/22"))
        with self.assertRaisesRegex(commands.HostError, "other networks"):
            self.choose(requested="10.99.0.0/22")

    def test_a_broken_record(self):
        for text in ("{", "{}", '{"management": "x"}'):
            self.folders.addresses.write_text(text)
            self.assertEqual(FIRST, addresses.load(self.folders))


class UsedTestCase(base.CloudTestCase):
    def used(self, routes=(), servers=""):
        resolvers = self.folder / "resolv.conf"
        resolvers.write_text(servers)
        with (
            mock.patch.object(addresses, "RESOLVERS", resolvers),
            mock.patch.object(
                addresses.commands,
                "run",
                autospec=True,
                return_value=json.dumps([*ROUTES, *routes]),
            ),
        ):
            return addresses.find_used()

    def test_of_the_host(self):
        ranges = self.used(
            servers="# nameserver 192.0.2.54\nnameserver 192.0.2.53\n"
            "nameserver fd00::1\nsearch example.com\n"
        )
        self.assertEqual(
            {
                "192.0.2.1/32": "gateway 192.0.2.1 dev eth0",
                "192.0.2.0/24": "route 192.0.2.0/24 dev eth0",
                "192.0.2.7/32": "route 192.0.2.7 dev eth0",
                "127.255.255.255/32": "route 127.255.255.255 dev lo",
                "192.0.2.53/32": "name server 192.0.2.53",
            },
            {str(network): what for network, what in ranges.items()},
        )
        # A cloud that runs has no conflict with itself.
        self.assertIsNone(addresses.find_conflict(FIRST, ranges))

    @skips.requires("ip")
    def test_no_resolvers(self):
        with mock.patch.object(
            addresses, "RESOLVERS", self.folder / "missing"
        ):
            self.assertIsInstance(addresses.find_used(), dict)

    def test_routes_of_others(self):
        ranges = self.used(
            [
                {"dst": "10.254.0.0/16", "gateway": "192.0.2.9"},
                {"type": "blackhole", "dst": "172.16.0.0/12"},
                {"dst": "172.30.0.0/16", "dev": "docker0"},
                {"dst": "128.0.0.0/1", "dev": "tun0"},
            ]
        )
        shown = {str(network) for network in ranges}
        self.assertLessEqual(
            {"10.254.0.0/16", "172.16.0.0/12", "172.30.0.0/16"}, shown
        )
        self.assertNotIn("128.0.0.0/1", shown)
