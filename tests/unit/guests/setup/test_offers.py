# SPDX-License-Identifier: Apache-2.0
"""Tests of the choice of image, flavor and network for the first run."""

import unittest

import ddt
from openstack import exceptions as sdk_errors

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
        swap="",
        ephemeral=0,
        extra_specs=extra_specs,
    )


#: A network of another project, and an external one.
OTHER = {"name": "a-network", "project_id": "p9"}
EXTERNAL = {"name": "public", "is_router_external": True, "project_id": "p9"}


@ddt.ddt
class OffersTest(unittest.TestCase):
    """Resources that fit are chosen, and missing ones are named."""

    def setUp(self):
        """Have a cloud with its networks."""
        super().setUp()
        self.cloud = testing.FakeCloud()

    def test_volume_types(self):
        """A cloud without Cinder, or whose Cinder fails, names none."""
        self.assertEqual("ssd", offers.list_volume_types(self.cloud))

        def fail(called, is_done):
            if called == "types":
                raise sdk_errors.ForbiddenException("403")

        self.cloud.interrupt = fail
        self.assertEqual("", offers.list_volume_types(self.cloud))
        self.cloud.services.clear()
        self.cloud.interrupt = lambda called, is_done: None
        self.assertEqual("", offers.list_volume_types(self.cloud))

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
                image("cloud", os_distro="almalinux", os_version="9.10"),
            ],
            ("cloud", "almalinux"),
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

    @ddt.data(
        # Names as public clouds have them.
        (["jammy-server-cloudimg-amd64", "focal-server-cloudimg-amd64"], 0),
        (["bookworm", "jammy"], 0),
        (["Ubuntu-2404", "Ubuntu-2204", "Ubuntu-1804"], 0),
        (["debian-amd64-12", "debian-amd64-11"], 0),
        (["Ubuntu 24.04", "Debian 9"], 0),
        (["CC-Ubuntu22.04", "CC-Ubuntu22.04-CUDA", "CC-Ubuntu20.04"], 0),
        (["Debian 12", "Debian 12 - Docker", "NVIDIA GPU Cloud (NGC)"], 0),
        (["ALMA9 - x86_64", "RHEL9 - x86_64", "CS9"], 0),
        # Other purposes.
        (["ubuntu-22.04", "ubuntu-24.04-desktop"], 0),
        (["Rocky 9", "ubuntu-2204-kube-v1.30.1", "debian-12-docker"], 0),
        (["Rocky 9", "Fedora-Atomic-27", "debian-12-netinst"], 0),
        (["ubuntu-22.04", "debian-12-mysql", "trove-mysql-debian"], 0),
        (["rhel-9.4", "RHCOS-4.14", "ubuntu-22.04-ipa"], 0),
        # Not an image of Ironic.
        (["rocky-9-freeipa"], 0),
        (["debian-12-deployment"], 0),
        (["debian-11-amd64", "debian-12-i386"], 0),
        # A cloud of this architecture.
        (["debian-12-arm64", "ubuntu-24.04-arm64"], 0),
    )
    @ddt.unpack
    def test_name(self, names, position):
        """The first of these names is that of a plain, recent image."""
        self.cloud.image.all_images[:] = [*map(image, reversed(names))]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual(names[position], offer.arguments["image"])

    @ddt.data(
        {"hypervisor_type": "vmware"},
        {"img_hv_type": "xen"},
        {"container_format": "docker"},
        {"block_device_mapping": "[{}]"},
        {"owner_id": "p9", "visibility": "private"},
    )
    def test_property_of_another_kind(self, properties):
        """The other image is chosen."""
        self.cloud.image.all_images[:] = [
            image("debian-12", **properties),
            image("debian-11", owner_id="p1", visibility="private"),
        ]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual("debian-11", offer.arguments["image"])
        self.assertIn("Not chosen: debian-12 (", offer.reason)

    @ddt.data(
        ("CentOS 7", "centos", {}),
        ("CentOS-8-GenericCloud-8.4.2105", "centos", {}),
        ("CentOS-Stream-GenericCloud-9-20240101", "cloud-user", {}),
        ("Ubuntu 24.04", "cloud", {"image_original_user": "cloud"}),
        ("Ubuntu 24.04", "ubuntu", {"image_original_user": "$(x)"}),
    )
    @ddt.unpack
    def test_user(self, name, user, properties):
        """It is that of the version, or the one that the image states."""
        self.cloud.image.all_images[:] = [image(name, properties=properties)]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual(user, offer.arguments["user"])

    def test_old_version(self):
        """It is chosen if there is no other, with a warning."""
        self.cloud.image.all_images[:] = [image("Debian 9")]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertIn("Mirrors may not have packages", offer.reason)

    @ddt.data("Ubuntu 22.04", "vmperf-guest")
    def test_several_images_with_the_name(self, name):
        """The newest is selected by id, and named in the comment."""
        self.cloud.image.all_images[:] = [
            image(name, id="i2", created_at="2025-06-01"),
            image(name, id="i1", created_at="2023-01-01"),
        ]
        offer = offers.choose_image(self.cloud, "", can_build=False)
        self.assertEqual({"id": "i2"}, offer.arguments["image"])
        self.assertTrue(offer.reason.startswith(f"{name}, one of 2 with"))
        self.cloud.compute.all_flavors = [flavor("a", 1, 2048, 20)]
        offers.choose_flavor(self.cloud, offer.arguments["image"])

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
        {"resources:PGPU": "1"},
        {"resources1:CUSTOM_NVIDIA_H100": "1"},
        {"trait:CUSTOM_GPU_NODE": "required"},
        {"aggregate_instance_extra_specs:gpu": "true"},
        {"trait:HW_ARCH_AARCH64": "required"},
        {"hw:architecture": "aarch64"},
        {"hw:mem_encryption": "True"},
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
        self.assertIn("Not chosen: my-flavor (", offer.reason)

    @ddt.data("gpu.a100.small", "arm.small", "amphora", "baremetal-1")
    def test_name_of_a_flavor(self, name):
        """Extra specs may be hidden."""
        self.cloud.image.all_images[:] = [image("debian")]
        self.cloud.compute.all_flavors = [
            flavor(name, 2, 4096, 40),
            flavor("m1.medium", 4, 8192, 40),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": ["m1.medium"]}, offer.arguments)

    def test_disabled_flavor(self):
        """Nova boots no guest with it."""
        disabled = flavor("small", 1, 2048, 20)
        disabled.is_disabled = True
        self.cloud.compute.all_flavors = [
            disabled,
            flavor("m1.medium", 4, 8192, 40),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": ["m1.medium"]}, offer.arguments)

    def test_specs_that_request_nothing(self):
        """A flavor without a device states so."""
        specs = {"resources:VGPU": "0", "trait:CUSTOM_GPU": "forbidden"}
        self.cloud.compute.all_flavors = [
            flavor("small", 2, 4096, 40, **specs),
            flavor("m1.medium", 4, 8192, 40),
        ]
        offer = offers.choose_flavor(self.cloud, "debian")
        self.assertEqual({"flavors": ["small"]}, offer.arguments)

    def test_flavor_of_an_arm_cloud(self):
        """The image decides."""
        self.cloud.image.all_images[:] = [image("debian-12-arm64")]
        self.cloud.compute.all_flavors = [
            flavor("x", 2, 2048, 40, **{"hw:architecture": "x86_64"}),
            flavor("arm.small", 4, 8192, 40),
        ]
        offer = offers.choose_flavor(self.cloud, "debian-12-arm64")
        self.assertEqual({"flavors": ["arm.small"]}, offer.arguments)

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

    def networks(self, *networks):
        """Have networks of the project; the first ones have a router."""
        self.cloud.network.all_networks = [
            calls.Thing(
                **{
                    "id": f"n{number}",
                    "is_router_external": False,
                    "is_shared": False,
                    "project_id": "p1",
                    **network,
                }
            )
            for number, network in enumerate(networks)
        ]
        self.subnets(*(f"n{number}" for number in range(len(networks))))

    @ddt.data(
        # An administrator sees the networks of all projects.
        ([OTHER, {"name": "mine"}], True, "mine"),
        ([{"name": "HA network tenant 4f", "project_id": ""}], True, None),
        ([{"name": "lb-mgmt-net"}, {"name": "private"}], True, "private"),
        ([{"name": "octavia-mgmt"}, {"name": "private"}], False, "private"),
        ([{"name": "a-storage"}, {"name": "b-app"}], False, "b-app"),
        # Nova attaches no ports of members to it.
        ([EXTERNAL], False, None),
        ([EXTERNAL], True, "public"),
        ([{**EXTERNAL, "is_shared": True}], False, "public"),
        ([{**OTHER, "is_shared": True}, {"name": "own"}], False, "own"),
        ([{**OTHER, "is_shared": True}], False, "a-network"),
        (
            [{"name": "private"}, {"name": "private"}],
            False,
            {"id": "n0"},
        ),
    )
    @ddt.unpack
    def test_network_for_guests(self, networks, is_admin, chosen):
        """Networks of services and of other projects are not for guests."""
        self.networks(*networks)
        offer = offers.choose_network(self.cloud, is_admin=is_admin)
        self.assertEqual(chosen, offer.arguments.get("network"))
        self.assertEqual(chosen is None, bool(offer.missing))

    def test_no_network(self):
        """The line names the missing resource."""
        offer = offers.choose_network(self.cloud)
        self.assertIn("it sees: private, public", offer.missing)
        self.assertIn("openstack subnet create", offer.missing)
