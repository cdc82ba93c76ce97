"""Tests of the choice of image, flavor and network for the first run."""

import unittest

import ddt

from rally_vmperf.guests.setup import offers
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def image(name, **attributes):
    """Return an active image."""
    return calls.Thing(
        **{
            "id": name,
            "name": name,
            "status": "active",
            "disk_format": "qcow2",
            "size": 1 << 29,
            "virtual_size": 2 << 30,
            "min_disk": 2,
            "properties": {},
            **attributes,
        }
    )


def flavor(name, vcpus, ram, disk):
    """Return a flavor."""
    return calls.Thing(id=name, name=name, vcpus=vcpus, ram=ram, disk=disk)


@ddt.ddt
class OffersTest(unittest.TestCase):
    """Resources that fit are chosen, and missing ones are named."""

    def setUp(self):
        """Have a cloud with its networks."""
        super().setUp()
        self.cloud = testing.FakeCloud()

    @ddt.data(
        (["cirros", "vmperf-guest", "debian-12"], False, "vmperf-guest", ""),
        (
            ["cirros", "debian-12"],
            True,
            "vmperf-guest",
            "root: image build --",
        ),
        (["Rocky-9", "ubuntu-24.04"], False, "ubuntu-24.04", ""),
        (["cirros"], False, "vmperf-guest", "it has: cirros"),
    )
    @ddt.unpack
    def test_image(self, names, can_build, chosen, missing):
        """The image with tools, one to build, or one with cloud-init."""
        self.cloud.image.all_images[:] = [*map(image, names)]
        offer = offers.choose_image(
            self.cloud, "image build --upload", can_build=can_build
        )
        self.assertEqual(chosen, offer.arguments["image"])
        self.assertIn(missing, offer.missing)
        self.assertEqual(bool(missing), bool(offer.missing))

    def test_user_of_the_distribution(self):
        """The property of the image takes precedence over its name."""
        self.cloud.image.all_images[:] = [
            image("base", properties={"os_distro": "rocky"}),
            image("debian-install", disk_format="iso"),
        ]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual({"image": "base", "user": "rocky"}, offer.arguments)

    @ddt.data(
        ([("a", 4, 8192, 80), ("b", 1, 2048, 20), ("c", 1, 512, 20)], "b"),
        ([("a", 2, 2048, 4), ("b", 1, 1024, 3)], "a"),
    )
    @ddt.unpack
    def test_flavor(self, flavors, chosen):
        """The smallest with 10 GB, else with space for image and data."""
        self.cloud.image.all_images[:] = [image("debian")]
        self.cloud.compute.all_flavors = [flavor(*row) for row in flavors]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": [chosen]}, offer.arguments)

    def test_no_flavor(self):
        """The flavors of the cloud are named."""
        self.cloud.compute.all_flavors = [flavor("tiny", 1, 512, 1)]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertIn("the cloud has: tiny", offer.missing)

    def subnets(self, *networks):
        """Have a subnet with DHCP in each of these networks."""
        self.cloud.network.all_subnets = [
            calls.Thing(
                id=f"s-{network}",
                name="",
                network_id=network,
                ip_version=4,
                is_dhcp_enabled=True,
            )
            for network in networks
        ]

    @ddt.data(
        (["n1", "n2"], {"network": "private"}, "floating IPs of public"),
        (["n1"], {"network": "public"}, "at their addresses"),
    )
    @ddt.unpack
    def test_network(self, networks, arguments, reason):
        """Behind a router, guests get floating IPs."""
        self.subnets(*networks)
        offer = offers.choose_network(self.cloud)
        self.assertEqual(arguments, offer.arguments)
        self.assertIn(reason, offer.reason)

    def test_network_without_router(self):
        """It has no floating IPs."""
        self.subnets("n2")
        self.cloud.network.all_routers.clear()
        offer = offers.choose_network(self.cloud)
        self.assertEqual(
            {"network": "private", "guest_options": {"address": "fixed"}},
            offer.arguments,
        )

    def test_no_network(self):
        """The line names the missing resource."""
        offer = offers.choose_network(self.cloud)
        self.assertIn("it sees: private, public", offer.missing)
        self.assertIn("openstack subnet create", offer.missing)
