# SPDX-License-Identifier: Apache-2.0
"""Tests of the hosts of a cloud and their inventories."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.planning import compute_hosts
from rally_vmperf.guests.planning import plan
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

CONTEXT = {"admin": {"credential": {"username": "admin"}}}
GROUP = {"image": {"name": "debian"}, "flavor": {"name": "small"}}


class TestComputeHosts(unittest.TestCase):
    """As an administrator sees them."""

    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.cloud.compute.all_zones = {"nova": ["h2", "h1"], "fast": ["h3"]}
        self.cloud.compute.all_aggregates = [
            calls.Thing(id="1", name="ssd", hosts=["h1", "h9"]),
            calls.Thing(id="2", name="empty", hosts=None),
        ]

    def test_usable_hosts(self):
        """They are enabled and up."""
        self.assertEqual(
            ["h1", "h2", "h3"], compute_hosts.list_usable(self.cloud)
        )
        self.cloud.compute.service_states = {
            "h1": {"status": "disabled"},
            "h3": {"state": "down"},
        }
        self.assertEqual(["h2"], compute_hosts.list_usable(self.cloud))
        for zone, names in (("nova", ["h2"]), ("fast", [])):
            usable = compute_hosts.list_usable(self.cloud, zone=zone)
            self.assertEqual(names, usable)

    def test_aggregate(self):
        """Only its hosts that exist."""
        self.assertEqual(["h1"], compute_hosts.list_usable(self.cloud, "ssd"))
        self.assertEqual([], compute_hosts.list_usable(self.cloud, "empty"))
        with self.assertRaisesRegex(errors.GuestError, "sees empty, ssd"):
            compute_hosts.list_usable(self.cloud, "x")

    def test_inventories(self):
        """By the name of the host in Nova."""
        self.cloud.placement.all_hosts = {
            "h1.example.org": {"VCPU": (32, 4)},
            "h2": {"VCPU": (64, 0), "MEMORY_MB": (4096, 0)},
        }
        inventories = compute_hosts.read_inventories(
            self.cloud, ["h1", "h2", "gone"]
        )
        self.assertEqual({"h1", "h2"}, inventories.keys())
        self.assertEqual(
            {"total": 32, "reserved": 0, "allocation_ratio": 4.0},
            inventories["h1"]["VCPU"],
        )

    def test_forbidden(self):
        """It is one line."""
        self.cloud.placement.ok = False
        with self.assertRaisesRegex(
            errors.GuestError, "read inventories, as administrator: "
        ):
            compute_hosts.read_inventories(self.cloud, ["h1"])


def hypervisor(host, vcpus, **options):
    """Return Nova's record of a hypervisor with a longer name."""
    return {
        "hypervisor_hostname": f"{host}.example.org",
        "service": {"host": host},
        "state": "up",
        "status": "enabled",
        "vcpus": vcpus,
        **options,
    }


@ddt.ddt
class TestHostCpus(unittest.TestCase):
    """As an administrator sees them."""

    def setUp(self):
        """Have two hosts that differ, and a similar name."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.cloud.compute.all_zones = {"nova": ["h1", "h10", "h2"]}
        self.cloud.compute.hypervisors = [
            hypervisor("h1", 64),
            hypervisor("h10", 48),
            hypervisor("h2", 32),
        ]
        self.enterContext(
            mock.patch.object(
                cloud, "connect", autospec=True, return_value=self.cloud
            )
        )

    @ddt.data(
        ({"host": "h1"}, 64),
        ({"host": "h10"}, 48),
        ({"hosts": ["h2"]}, 32),
    )
    @ddt.unpack
    def test_number(self, place, expected):
        """It is that of the host with exactly this name."""
        number = compute_hosts.find_cpu_count(CONTEXT, {**GROUP, **place})
        self.assertEqual(expected, number)

    def test_hosts_that_nova_chooses_from(self):
        """They have a number if those that are usable agree."""
        self.cloud.compute.service_states = {
            "h10": {"status": "disabled"},
            "h2": {"state": "down"},
        }
        self.assertEqual(64, compute_hosts.find_cpu_count(CONTEXT, GROUP))

    def test_hosts_of_a_zone(self):
        """Hosts in other zones may differ."""
        self.cloud.compute.all_zones = {"nova": ["h1"], "other": ["h10", "h2"]}
        group = {**GROUP, "availability_zone": "nova"}
        self.assertEqual(64, compute_hosts.find_cpu_count(CONTEXT, group))
        group["availability_zone"] = "other"
        with self.assertRaisesRegex(errors.GuestError, "of h2, 48 CPUs of h1"):
            compute_hosts.find_cpu_count(CONTEXT, group)

    @ddt.data(
        ({}, {}, "32 CPUs of h2, 48 CPUs of h10, 64 CPUs of h1;"),
        ({"h10": {"status": "disabled"}, "h2": {"state": "down"}}, {}, 64),
        ({}, {"server_group": "affinity"}, 64),
        ({}, {"availability_zone": "other"}, 32),
    )
    @ddt.unpack
    def test_hosts_of_an_aggregate(self, states, options, expected):
        """Hosts on which guests can boot count."""
        compute = self.cloud.compute
        compute.all_zones = {"nova": ["h1", "h10"], "other": ["h2"]}
        compute.service_states = states
        compute.all_aggregates = [
            mock.Mock(hosts=["h1", "h10", "h2"], availability_zone=None)
        ]
        compute.all_aggregates[0].name = "kvm"
        group = {**GROUP, "aggregate": "kvm", **options}
        if isinstance(expected, int):
            number = compute_hosts.find_cpu_count(CONTEXT, group)
            self.assertEqual(expected, number)
            return
        with self.assertRaisesRegex(errors.GuestError, expected):
            compute_hosts.find_cpu_count(CONTEXT, group)

    def test_no_usable_host(self):
        """An empty zone is no zone, and a disabled host has no guests."""
        group = {**GROUP, "availability_zone": ""}
        self.cloud.compute.all_zones = {"nova": ["h1"]}
        self.assertEqual(64, compute_hosts.find_cpu_count(CONTEXT, group))
        self.cloud.compute.service_states = {"h1": {"status": "disabled"}}
        with self.assertRaisesRegex(
            errors.GuestError,
            "host_cpus is missing, and no host is enabled and up on which",
        ):
            compute_hosts.find_cpu_count(CONTEXT, group)

    @ddt.data("h1", "node-7.example.org")
    def test_another_name_of_the_hypervisor(self, name):
        """The host decides, even if its name is longer than the other."""
        self.cloud.compute.all_zones = {"nova": ["h1.example.org"]}
        self.cloud.compute.hypervisors.append(
            hypervisor("h1.example.org", 16, hypervisor_hostname=name)
        )
        group = {**GROUP, "host": "h1.example.org"}
        self.assertEqual(16, compute_hosts.find_cpu_count(CONTEXT, group))

    def test_nodes_of_ironic(self):
        """They have CPUs, and no guest boots on them."""
        self.cloud.compute.all_zones = {"nova": ["h1", "ironic"]}
        self.cloud.compute.hypervisors += [
            hypervisor(
                "ironic",
                24,
                hypervisor_type="ironic",
                hypervisor_hostname=f"node-{number}",
            )
            for number in range(2)
        ]
        self.assertEqual(64, compute_hosts.find_cpu_count(CONTEXT, GROUP))

    def test_no_shared_cpus(self):
        """Hosts can have CPUs for pinned vCPUs only."""
        self.cloud.compute.hypervisors[0]["vcpus"] = 0
        self.cloud.compute.service_states = {"h2": {"state": "down"}}
        self.assertEqual(48, compute_hosts.find_cpu_count(CONTEXT, GROUP))
        for place in ({"host": "h1"}, {"hosts": ["h10", "h1"]}):
            with self.assertRaisesRegex(
                errors.GuestError,
                "^levels: host_cpus is missing, and Nova reports 0 CPUs for "
                "shared vCPUs of h1, because all are reserved or dedicated; "
                "set host_cpus to the number of CPUs of the host$",
            ):
                compute_hosts.find_cpu_count(CONTEXT, {**GROUP, **place})

    @ddt.data(
        (
            {},
            "may boot differ: 32 CPUs of h2, 48 CPUs of h10, 64 CPUs of h1; "
            "set host of vmperf_guests, or set host_cpus$",
        ),
        ({"hosts": ["h1", "h2"]}, "differ: 32 CPUs of h2, 64 CPUs of h1;"),
    )
    @ddt.unpack
    def test_hosts_that_differ(self, place, message):
        """The message has their numbers."""
        with self.assertRaisesRegex(
            errors.GuestError, f"^levels: host_cpus is missing, .*{message}"
        ):
            compute_hosts.find_cpu_count(CONTEXT, {**GROUP, **place})

    @ddt.data(
        {"extra_specs": {"hw:cpu_policy": "dedicated"}},
        {"extra_specs": {"hw:cpu_policy": "mixed"}},
        {"extra_specs": {"resources:PCPU": "2"}},
        {"image_properties": {"hw_cpu_policy": "dedicated"}},
        {"image_properties": {"hw_cpu_policy": "mixed"}},
    )
    def test_dedicated_cpus(self, settings):
        """Nova shows the number of CPUs for other vCPUs only."""
        message = (
            "^levels: host_cpus is missing, and flavor 'small' of group 'a' "
            "has dedicated CPUs, .*; set host_cpus to the number of CPUs of "
            "the host for pinned vCPUs$"
        )
        groups = [{"name": "a", "count": 1, **GROUP, **settings}]
        with self.assertRaisesRegex(errors.GuestError, message):
            compute_hosts.find_cpu_count(
                CONTEXT, {"groups": groups, "host": "h1"}
            )

    @ddt.data("dedicated", "mixed")
    def test_dedicated_cpus_of_the_image(self, policy):
        """Nova takes the policy of the image if the flavor has none."""
        (image,) = self.cloud.image.all_images
        image.hw_cpu_policy = policy
        group = {**GROUP, "host": "h1"}
        with self.assertRaisesRegex(errors.GuestError, "dedicated CPUs"):
            compute_hosts.find_cpu_count(CONTEXT, group)
        (flavor,) = self.cloud.compute.all_flavors
        flavor.extra_specs = {"hw:cpu_policy": "shared"}
        self.assertEqual(64, compute_hosts.find_cpu_count(CONTEXT, group))

    def test_dedicated_cpus_of_the_flavor(self):
        """The user that boots the guests may see other flavors."""
        user_cloud = testing.FakeCloud()
        user_cloud.compute.all_flavors[0].name = "private"
        user_cloud.compute.all_flavors[0].extra_specs = {
            "hw:cpu_policy": "dedicated"
        }
        cloud.connect.side_effect = lambda credential: (
            user_cloud if credential["username"] == "user" else self.cloud
        )
        users = [{"credential": {"username": "user"}}]
        group = {**GROUP, "flavor": {"name": "private"}}
        with self.assertRaisesRegex(errors.GuestError, "dedicated CPUs"):
            compute_hosts.find_cpu_count({**CONTEXT, "users": users}, group)

    def test_hidden_and_no_shared_cpus(self):
        """The message has both reasons."""
        self.cloud.compute.all_zones = {"nova": ["h1", "h10"]}
        self.cloud.compute.hypervisors = [hypervisor("h1", 0)]
        with self.assertRaisesRegex(
            errors.GuestError,
            "not show the CPUs of h10 and Nova reports 0 CPUs .* of h1,",
        ):
            compute_hosts.find_cpu_count(CONTEXT, GROUP)

    @ddt.data(({}, "h1, h10, h2"), ({"host": "h1"}, "h1"))
    @ddt.unpack
    def test_hidden(self, place, name):
        """A policy can hide hypervisors, also from an administrator."""
        self.cloud.compute.hypervisors = None
        with self.assertRaisesRegex(
            errors.GuestError,
            "^levels: host_cpus is missing, and Nova does not show the CPUs "
            f"of {name}; set host_cpus to the number of CPUs of the host$",
        ):
            compute_hosts.find_cpu_count(CONTEXT, {**GROUP, **place})

    def test_no_administrator(self):
        """The message has both ways out."""
        with self.assertRaisesRegex(
            errors.GuestError,
            "^levels: host_cpus is missing, .*; add an admin to the "
            "environment, or set host_cpus to the number of CPUs",
        ):
            compute_hosts.find_cpu_count({}, GROUP)

    def remarks(self, *, admin=True, place=None, **options):
        """Return the remarks of a plan on the CPUs of a host."""
        guest_request = made.build_request(
            groups=[{"name": "a", **GROUP, **options}],
            host_cpus=64,
            **(place or {"host": "h1"}),
        )
        planned = plan.create_plan(
            self.cloud, guest_request, self.cloud if admin else None
        )
        planned.requirements.check()
        return [
            remark
            for remark in planned.requirements.remarks
            if "host_cpus" in remark
        ]

    def test_plan(self):
        """It shows the number, and what differs from it is no error."""
        self.assertEqual(
            ["levels: host_cpus=64: Nova shows 64 CPUs of h1"], self.remarks()
        )
        self.cloud.compute.hypervisors = [hypervisor("h1", 60)]
        self.assertEqual(
            [
                "levels: host_cpus=64: Nova shows 60 CPUs of h1 for vCPUs, "
                "and the verdict counts vCPUs per CPU by it; set this number, "
                "or remove host_cpus"
            ],
            self.remarks(),
        )

    def test_plan_in_a_zone(self):
        """Hosts in other zones are not compared."""
        self.cloud.compute.all_zones = {"nova": ["h1"], "other": ["h10", "h2"]}
        self.assertEqual(
            ["levels: host_cpus=64: Nova shows 64 CPUs of h1"],
            self.remarks(place={"availability_zone": "nova"}),
        )

    def test_plan_without_a_comparison(self):
        """Nova shows nothing, or pinned vCPUs have other CPUs."""
        self.assertEqual([], self.remarks(admin=False))
        self.cloud.placement.all_hosts["h1"]["PCPU"] = (64, 0)
        pinned = {"extra_specs": {"hw:cpu_policy": "dedicated"}}
        self.assertEqual([], self.remarks(**pinned))
        image = {"image_properties": {"hw_cpu_policy": "dedicated"}}
        self.assertEqual([], self.remarks(**image))
        self.cloud.image.all_images[0].hw_cpu_policy = "dedicated"
        self.assertEqual([], self.remarks())
        self.cloud.image.all_images[0].hw_cpu_policy = "shared"
        self.assertNotEqual([], self.remarks())
        self.cloud.compute.hypervisors = None
        self.assertEqual([], self.remarks())
