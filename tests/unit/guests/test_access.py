# SPDX-License-Identifier: Apache-2.0
"""Tests of what the security group lets in, and from where."""

import ipaddress
import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from rally_vmperf.guests.booting import access
from rally_vmperf.machines.remote import routes
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

HOP = {"address": "192.0.2.1", "user": "rally"}


def network(**changes):
    attributes = {"id": "n2", "name": "private", "is_router_external": False}
    attributes["is_port_security_enabled"] = True
    return networks.Network(**{**attributes, **changes})


def chosen(pool=None):
    return networks.Networks(
        networks=(network(),),
        ssh_network=network(),
        traffic_network=network(),
        pool=pool,
    )


def net(text):
    return text and ipaddress.ip_network(text)


def short(rule):
    """Return a rule in one line."""
    ports = (rule.get("port_range_min", ""), rule.get("port_range_max", ""))
    source = rule.get("remote_ip_prefix") or rule["remote_group_id"]
    return (
        f"{rule['ether_type']} {rule['protocol']} {ports[0]}-{ports[1]} "
        f"from {source}"
    )


@ddt.ddt
class GroupTest(unittest.TestCase):
    """The group, and the rules between its members."""

    @ddt.data(
        (1, range(0), []),
        (1, range(5201, 5203), []),
        (2, range(0), ["IPv4 icmp", "IPv6 ipv6-icmp"]),
        (
            2,
            range(5201, 5329),
            [
                "IPv4 icmp",
                "IPv4 tcp 5201-5328",
                "IPv4 udp 5201-5328",
                "IPv6 ipv6-icmp",
                "IPv6 tcp 5201-5328",
                "IPv6 udp 5201-5328",
            ],
        ),
    )
    @ddt.unpack
    def test_between_guests(self, guests, ports, expected):
        """Only from members of the group, and only where there are two."""
        cloud = testing.FakeCloud()
        group = access.create_security_group(
            cloud, "g", [network()], guests, ports
        )
        self.assertEqual(
            [
                (rule if "-5" in rule else f"{rule} -") + f" from {group.id}"
                for rule in expected
            ],
            [short(rule) for rule in cloud.network.rules],
        )

    def test_no_group_without_port_security(self):
        cloud = testing.FakeCloud()
        group = access.create_security_group(
            cloud, "g", [network(is_port_security_enabled=False)], 2, ()
        )
        guest_request = made.build_request(allowed_sources=["192.0.2.0/24"])
        self.assertIsNone(group.id)
        self.assertIsNone(group.allow_ssh(guest_request, chosen(), [], print))
        self.assertEqual([], cloud.calls)


@ddt.ddt
class SourcesTest(unittest.TestCase):
    """The source address of the controller."""

    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.group = access.create_security_group(
            self.cloud, "g", [network()], 1, range(0)
        )
        self.lines = []

    def allow_ssh(self, *addresses, pool=None, **options):
        guests = [made.guest(address=address) for address in addresses]
        return self.group.allow_ssh(
            made.build_request(**options),
            chosen(pool),
            guests,
            self.lines.append,
        )

    def from_(self, *addresses):
        patch = mock.patch.object(
            routes,
            "source_network",
            autospec=True,
            side_effect=[net(address) for address in addresses],
        )
        self.addCleanup(patch.stop)
        return patch.start()

    @ddt.data(
        ("192.0.2.9", "192.0.2.0/24", "192.0.2.0/24"),
        ("10.2.0.9", "172.16.0.0/16", "172.16.0.0/16"),
        ("8.8.8.8", "8.8.4.0/24", "8.8.4.0/24"),
        ("8.8.8.8", "10.0.0.0/24", "0.0.0.0/0"),
        ("8.8.8.8", "100.64.0.1/32", "0.0.0.0/0"),
        ("fd00::9", "fd00::/64", "fd00::/64"),
        ("2600::9", "2600:1::/64", "2600:1::/64"),
        ("2600::9", "fd00::/64", "::/0"),
    )
    @ddt.unpack
    def test_of_the_route(self, address, source, expected):
        """A private address is not what a public one sees."""
        self.from_(source)
        self.assertEqual((expected,), self.allow_ssh(address))
        version = "6" if ":" in address else "4"
        icmp = {"4": "icmp", "6": "ipv6-icmp"}[version]
        self.assertEqual(
            [
                f"IPv{version} {icmp} - from {expected}",
                f"IPv{version} tcp 22-22 from {expected}",
            ],
            [short(rule) for rule in self.cloud.network.rules],
        )
        self.assertEqual(
            expected.endswith("/0"),
            '"allowed_sources": [NETWORK]' in self.lines[0],
        )
        self.assertEqual(
            f"SSH to guests is allowed from {expected}", self.lines[-1]
        )

    def test_same_network_for_several_guests(self):
        """Neutron rejects a rule that exists."""
        self.from_("192.0.2.0/24", "192.0.2.0/24", "10.0.0.0/24", None)
        sources = self.allow_ssh(
            "192.0.2.8", "192.0.2.9", "10.1.0.1", "10.3.0.1"
        )
        self.assertEqual(("10.0.0.0/24", "192.0.2.0/24"), sources)
        self.assertEqual(4, len(self.cloud.network.rules))

    def test_pings_of_guests_that_boot_again(self):
        """Their rule is there since the first boot."""
        self.from_("192.0.2.0/24", "192.0.2.0/24")
        for number in (3, 0):
            before = len(self.cloud.network.rules)
            self.allow_ssh("192.0.2.8", pinged_from="198.51.100.7")
            self.assertEqual(number, len(self.cloud.network.rules) - before)

    def test_out_of_a_namespace(self):
        source = self.from_("10.2.0.0/24")
        self.allow_ssh("10.2.0.9", namespace="qrouter-1")
        source.assert_called_once_with("10.2.0.9", "qrouter-1")

    def test_no_route(self):
        self.from_(None)
        self.assertEqual((), self.allow_ssh("10.2.0.9"))
        self.assertIn("no network: no route", self.lines[-1])

    def test_through_a_jump_host(self):
        """It is on the guests' network, or has the address that it is at."""
        self.cloud.network.all_subnets += [
            calls.Thing(id="s1", network_id="n2", cidr="10.2.0.0/24"),
            calls.Thing(id="s2", network_id="n2", cidr="fd00::/64"),
            calls.Thing(id="s3", network_id="n9", cidr="10.9.0.0/24"),
        ]
        first = {**HOP, "address": "198.51.100.7"}
        self.assertEqual(
            ("10.2.0.0/24", "192.0.2.1/32", "fd00::/64"),
            self.allow_ssh("10.2.0.9", jump=[first, HOP]),
        )

    def test_through_a_jump_host_to_floating_ips(self):
        sources = self.allow_ssh("192.0.2.9", pool=network(id="n1"), jump=HOP)
        self.assertEqual(("192.0.2.1/32",), sources)

    def test_jump_host_with_a_name_that_does_not_resolve(self):
        hop = {**HOP, "address": "jump.invalid"}
        self.cloud.network.without_subnets |= {"n1", "n2"}
        self.assertEqual((), self.allow_ssh("10.2.0.9", jump=hop))

    @ddt.data({}, {"jump": HOP}, {"namespace": "qrouter-1"})
    def test_sources_in_the_task(self, way):
        """Only the named networks have access, on each path."""
        sources = ["198.51.100.7", "fd00::/64", "198.51.100.7"]
        self.assertEqual(
            ("198.51.100.7/32", "fd00::/64"),
            self.allow_ssh("10.2.0.9", allowed_sources=sources, **way),
        )
        self.assertEqual(4, len(self.cloud.network.rules))

    @ddt.data("everywhere", "192.0.2.1/24", "192.0.2.0/33", "")
    def test_no_network(self, text):
        with self.assertRaisesRegex(
            errors.GuestError,
            "vmperf_guests allowed_sources: .*; it must be an address",
        ):
            made.build_request(allowed_sources=[text])
