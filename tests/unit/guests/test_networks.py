# SPDX-License-Identifier: Apache-2.0
"""Tests for the choice among several networks."""

import unittest

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def network(name, external=False):
    return calls.Thing(
        id=f"id-{name}",
        name=name,
        is_router_external=external,
        is_port_security_enabled=True,
    )


def named(*names):
    return [{"name": name} for name in names]


@ddt.ddt
class ChooseTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        # public (external) and private (behind a router) are there
        self.cloud.network.all_networks += [
            network("storage"),
            network("provider", external=True),
        ]

    def choose(self, **options):
        guest_request = made.build_request(**{"network": None, **options})
        return networks.choose_networks(self.cloud, guest_request)

    @ddt.unpack
    @ddt.data(
        (["private", "public"], {}, "public", None),
        (["public", "private"], {}, "public", None),
        (["private", "public"], {"address": "fixed"}, "public", None),
        (
            ["public", "private"],
            {"address": "floating"},
            "private",
            "public",
        ),
        (["storage", "private"], {}, "private", "public"),
        (["storage", "private"], {"address": "floating"}, "private", "public"),
        (["storage"], {"address": "fixed"}, "storage", None),
        (
            ["storage", "private"],
            {"address": "fixed", "ssh_network": {"name": "storage"}},
            "storage",
            None,
        ),
        (
            ["public", "private"],
            {"ssh_network": {"id": "n2"}},
            "private",
            "public",
        ),
    )
    def test_rule(self, names, options, ssh_network, pool):
        choice = self.choose(networks=named(*names), **options)
        self.assertEqual(
            names, [network_.name for network_ in choice.networks]
        )
        self.assertEqual(ssh_network, choice.ssh_network.name)
        self.assertEqual(ssh_network, choice.traffic_network.name)
        self.assertEqual(pool, choice.pool.name if choice.pool else None)

    @ddt.unpack
    @ddt.data(
        ([(4, False)], {}, True),
        ([(4, False)], {"config_drive": True}, False),
        ([(4, False), (4, True)], {}, False),
        ([(6, False), (4, True)], {}, False),
        ([(4, False), (6, True)], {}, True),
        ([(4, False), (6, True)], {"ip_version": 6}, False),
    )
    def test_subnets_without_dhcp(self, subnets, options, rejected):
        """Guests would wait for an address until the timeout of SSH."""
        self.cloud.network.all_subnets = [
            calls.Thing(
                id=f"s{number}",
                name=f"subnet{number}",
                network_id="n1",
                ip_version=version,
                is_dhcp_enabled=has_dhcp,
            )
            for number, (version, has_dhcp) in enumerate(subnets)
        ]
        if not rejected:
            self.choose(network={"name": "public"}, **options)
            return
        with self.assertRaisesRegex(
            errors.GuestError,
            "^network 'public': DHCP is disabled in its subnets .subnet0., "
            "so that guests receive no address; enable DHCP, set "
            '"config_drive": true, or choose another network$',
        ):
            self.choose(network={"name": "public"}, **options)

    def test_invisible_subnets_of_an_external_network(self):
        self.cloud.network.without_subnets.add("n1")
        self.choose(network={"name": "public"})

    def test_no_subnet_of_the_version(self):
        """The version that exists is named, and what adds another."""
        self.cloud.network.all_subnets = [
            calls.Thing(
                id="s6",
                name="s6",
                network_id="n2",
                ip_version=6,
                is_dhcp_enabled=True,
            )
        ]
        with self.assertRaisesRegex(
            errors.GuestError,
            "^network 'private' has no subnet of IPv4; set ip_version to 6, "
            "add one with: openstack subnet create, or choose another",
        ):
            self.choose(network={"name": "private"})
        self.cloud.network.all_subnets.clear()
        self.cloud.network.without_subnets.add("n2")
        with self.assertRaisesRegex(
            errors.GuestError, "has no subnet of IPv4; add one with"
        ):
            self.choose(network={"name": "private"})

    @ddt.data(
        ({"is_admin_state_up": False}, "is down; enable it with"),
        ({"status": "ERROR"}, "is ERROR; choose another network"),
    )
    @ddt.unpack
    def test_network_that_is_down(self, state, message):
        vars(self.cloud.network.all_networks[1]).update(state)
        with self.assertRaisesRegex(errors.GuestError, message):
            self.choose(network={"name": "private"})

    def test_no_router(self):
        """One of another project may be behind a shared network."""
        private = self.cloud.network.all_networks[1]
        self.cloud.network.all_ports.clear()
        private.is_shared = True
        choice = self.choose(
            network={"name": "private"}, floating_network={"name": "public"}
        )
        self.assertEqual("public", choice.pool.name)
        private.is_shared = False
        with self.assertRaisesRegex(
            errors.GuestError,
            "'private' has no router to the network of floating IPs "
            '.provider, public.; .*router add subnet, or set "address": "f',
        ):
            self.choose(network={"name": "private"})
        self.choose(network={"name": "private"}, address="fixed")

    def test_traffic_of_its_own(self):
        choice = self.choose(
            networks=named("public", "storage"),
            traffic_network={"name": "storage"},
        )
        self.assertEqual("public", choice.ssh_network.name)
        self.assertEqual("storage", choice.traffic_network.name)

    def test_one_network(self):
        choice = self.choose(network={"name": "private"})
        self.assertEqual(
            ["private"], [network_.name for network_ in choice.networks]
        )
        self.assertEqual("public", choice.pool.name)

    @ddt.unpack
    @ddt.data(
        (
            {"networks": named("public", "provider")},
            "address 'auto' is ambiguous in networks public, provider",
        ),
        (
            {"networks": named("storage", "private"), "address": "fixed"},
            "'fixed' is ambiguous in networks storage, private; select one",
        ),
        (
            {"networks": named("public", "storage"), "network": {"id": "n1"}},
            "network and networks: cannot be combined",
        ),
        ({"networks": named("public", "x")}, "network 'x' does not exist"),
        (
            {"networks": [{"name": "public"}, {"id": "n1"}]},
            "networks: 'public': must be listed once",
        ),
        (
            {
                "networks": named("public", "private"),
                "ssh_network": {"name": "storage"},
            },
            "ssh_network: 'storage' is not one of the networks of the guests: "
            "public, private",
        ),
        (
            {"network": {"id": "n1"}, "traffic_network": {"name": "storage"}},
            "traffic_network: 'storage' is not one of .* guests: public",
        ),
    )
    def test_refused(self, options, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.choose(**options)

    def test_two_behind_routers_are_ambiguous(self):
        self.cloud.network.all_ports.append(
            calls.Thing(
                id="port-r1b",
                name="",
                device_id="r1",
                network_id="id-storage",
                device_owner="network:router_interface",
                fixed_ips=[],
            )
        )
        message = "'floating' is ambiguous in networks private, storage"
        with self.assertRaisesRegex(errors.GuestError, message):
            self.choose(
                networks=named("private", "storage"), address="floating"
            )
