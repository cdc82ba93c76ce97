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
            "min_ram": 0,
            "properties": {},
            **attributes,
        }
    )


def flavor(name, vcpus, ram, disk, **extra_specs):
    """Return a flavor."""
    return calls.Thing(
        id=name,
        name=name,
        vcpus=vcpus,
        ram=ram,
        disk=disk,
        extra_specs=extra_specs,
    )


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

    @ddt.data(
        # A cloud with Magnum, which brings Fedora CoreOS.
        (
            [
                image("CentOS-Stream-9", os_distro="centos"),
                image("fedora-coreos-38", os_distro="fedora-coreos"),
            ],
            ("CentOS-Stream-9", "cloud-user"),
            "fedora-coreos-38 (configured by Ignition)",
        ),
        (
            [
                image("Debian 9 (Stretch)"),
                image("Debian 10 (Buster)"),
                image("Debian 12 (Bookworm)"),
            ],
            ("Debian 12 (Bookworm)", "debian"),
            "",
        ),
        (
            [
                image("amphora-x64-haproxy-ubuntu-focal", tags=["amphora"]),
                image("Rocky-9"),
            ],
            ("Rocky-9", "rocky"),
            "amphora-x64-haproxy-ubuntu-focal (an amphora of Octavia)",
        ),
        (
            [
                image("debian-12-arm64", architecture="aarch64"),
                image("ubuntu-24.04-amd64", architecture="x86_64"),
            ],
            ("ubuntu-24.04-amd64", "ubuntu"),
            "debian-12-arm64 (for aarch64)",
        ),
        (
            [
                image(
                    "Debian 12 of web1", properties={"image_type": "snapshot"}
                ),
                image("debian-12-nocloud-amd64"),
                image("ironic-debian-12-deploy"),
                image("Windows 2022", os_type="windows"),
                image("Ubuntu 22.04 LTS"),
                image("Ubuntu 24.04 LTS"),
            ],
            ("Ubuntu 24.04 LTS", "ubuntu"),
            "Debian 12 of web1 (a snapshot), Windows 2022 (Windows), "
            "debian-12-nocloud-amd64 (without cloud-init), "
            "ironic-debian-12-deploy (an image of Ironic)",
        ),
        (
            [
                image("debian-12-20240101", created_at="2024-01-01"),
                image("debian-12-20250601", created_at="2025-06-01"),
            ],
            ("debian-12-20250601", "debian"),
            "",
        ),
        (
            [
                image("base", os_distro="almalinux", os_version="9.4"),
                image("old", os_distro="almalinux", os_version="9.10"),
            ],
            ("old", "almalinux"),
            "",
        ),
    )
    @ddt.unpack
    def test_newest_image_that_fits(self, images, chosen, skipped):
        """Others are named with the reason."""
        self.cloud.image.all_images[:] = images
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual(
            dict(zip(("image", "user"), chosen, strict=True)), offer.arguments
        )
        self.assertIn(skipped, offer.reason)
        self.assertEqual(bool(skipped), "Not chosen" in offer.reason)

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

    @ddt.data(
        {"resources:CUSTOM_BAREMETAL_GOLD": "1"},
        {"resources:VCPU": "0"},
        {"pci_passthrough:alias": "a1:1"},
        {"resources:VGPU": "1"},
    )
    def test_flavor_that_is_no_virtual_machine(self, specs):
        """Nodes of Ironic and guests with devices are not what is measured."""
        self.cloud.image.all_images[:] = [image("debian")]
        self.cloud.compute.all_flavors = [
            flavor("my-flavor", 2, 1024, 100, **specs),
            flavor("m1.medium", 2, 4096, 40, **{"hw:cpu_policy": "shared"}),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": ["m1.medium"]}, offer.arguments)
        self.assertIn("Not chosen: my-flavor (it ", offer.reason)

    def test_flavors_without_a_disk(self):
        """Most public clouds have only these."""
        self.cloud.image.all_images[:] = [image("debian", min_disk=11)]
        self.cloud.compute.all_flavors = [
            flavor("SCS-1V-4", 1, 4096, 0),
            flavor("SCS-2V-8", 2, 8192, 0),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual(
            {
                "flavors": ["SCS-1V-4"],
                "guest_options": {"boot_volume": {"size_gib": 13}},
            },
            offer.arguments,
        )
        self.subnets("n2")
        self.cloud.network.all_routers.clear()
        flavors, network = offers.join_options(
            offer, offers.choose_network(self.cloud)
        )
        self.assertEqual({"flavors": ["SCS-1V-4"]}, flavors.arguments)
        self.assertEqual(
            {"boot_volume": {"size_gib": 13}, "address": "fixed"},
            network.arguments["guest_options"],
        )

    @ddt.data({"is_admin_state_up": False}, {"status": "DOWN"})
    def test_network_that_is_down(self, state):
        self.subnets("n1", "n2")
        vars(self.cloud.network.all_networks[1]).update(state)
        offer = offers.choose_network(self.cloud)
        self.assertEqual({"network": "public"}, offer.arguments)

    def test_flavor_that_the_image_fits_on(self):
        """A plan would reject the others."""
        self.cloud.image.all_images[:] = [
            image("debian", min_disk=15, min_ram=2048)
        ]
        self.cloud.compute.all_flavors = [
            flavor("a", 1, 1024, 40),
            flavor("b", 1, 2048, 10),
            flavor("c", 1, 2048, 15),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": ["c"]}, offer.arguments)

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
