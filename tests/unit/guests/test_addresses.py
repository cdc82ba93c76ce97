# SPDX-License-Identifier: Apache-2.0
"""Tests for how guests are reached."""

import unittest

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from rally_vmperf.guests.booting import ports
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def network(name="private", id="n2", external=False):
    return networks.Network(id=id, name=name, is_router_external=external)


NETWORK = network()
V4, V6 = "10.0.0.5", "fd00::5"


def port(*addresses, network="n2"):
    return calls.Thing(
        network_id=network,
        fixed_ips=[{"ip_address": address} for address in addresses],
    )


@ddt.ddt
class NeedsFloatingTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ("auto", 4, True, False),
        ("auto", 4, False, True),
        ("auto", 6, False, False),
        ("fixed", 4, False, False),
        ("floating", 4, True, True),
    )
    def test_choice(self, address, version, external, expected):
        network_ = network(external=external)
        guest_request = made.build_request(address=address, ip_version=version)
        self.assertEqual(
            expected, networks.needs_floating(guest_request, network_)
        )

    @ddt.data({"jump": {"address": "j", "user": "u"}}, {"namespace": "n"})
    def test_options_that_lead_to_fixed_addresses(self, option):
        """Floating addresses are used only if they are requested."""
        self.assertIs(
            False,
            networks.needs_floating(made.build_request(**option), NETWORK),
        )
        floating = made.build_request(address="floating", **option)
        self.assertIs(True, networks.needs_floating(floating, NETWORK))

    def test_floating_ipv6_is_refused(self):
        with self.assertRaisesRegex(
            errors.GuestError, "do not support ip_version 6"
        ):
            networks.needs_floating(
                made.build_request(address="floating", ip_version=6), NETWORK
            )


@ddt.ddt
class FixedTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ([port(V6, V4)], 4, V4),
        ([port(V4, V6)], 6, V6),
        ([port(V6), port(V4)], 4, V4),
        ([port("10.9.9.9", network="n1"), port(V4)], 4, V4),
    )
    def test_choice(self, guest_ports, version, expected):
        fixed_address = ports.find_fixed_address(
            "g1", guest_ports, NETWORK, version
        )
        self.assertEqual(expected, fixed_address)

    @ddt.unpack
    @ddt.data(
        ([port(V6)], 4, "no IPv4 address on network private.*fd00::5"),
        ([port(V4, network="n1")], 4, "it has: none"),
        ([], 6, "it has: none"),
    )
    def test_the_error_has_the_available_addresses(
        self, guest_ports, version, message
    ):
        with self.assertRaisesRegex(errors.GuestError, message):
            ports.find_fixed_address("g1", guest_ports, NETWORK, version)


class FloatingPoolTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.cloud.network.all_networks.append(
            calls.Thing(
                id="n3",
                name="other",
                is_router_external=True,
                is_port_security_enabled=True,
            )
        )

    def pool(self, **options):
        return networks.find_floating_pool(
            self.cloud, made.build_request(**options), NETWORK
        ).name

    def test_behind_the_router(self):
        self.assertEqual("public", self.pool())

    def test_as_requested(self):
        pool = self.pool(floating_network={"name": "other"})
        self.assertEqual("other", pool)

    def test_choices_stand_in_the_error(self):
        self.cloud.network.all_routers.clear()
        with self.assertRaisesRegex(errors.GuestError, "other, public"):
            self.pool()
