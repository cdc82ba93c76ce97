# SPDX-License-Identifier: Apache-2.0
"""Tests for booting guests."""

import dataclasses
import itertools
import unittest
from unittest import mock

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import models
from rally_vmperf.guests.booting import boot
from rally_vmperf.machines.remote import target
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def key_of(disk):
    """Return what identifies a disk in the mapping of Nova's API."""
    names = ("source_type", "destination_type", "boot_index", "uuid")
    return tuple(disk[name] for name in names)


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
class BootTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.cloud.compute.limits.server_group_members = 8

    def boot(self, admin=None, progress=lambda line: None, **options):
        return self.prepare(admin, progress, **options).run()

    def prepare(self, admin=None, progress=lambda line: None, **options):
        numbers = itertools.count()
        return boot.prepare(
            self.cloud,
            made.build_request(**options),
            lambda: f"c_rally_1234abcd_{next(numbers):08}",
            progress,
            admin=admin,
        )

    def test_one_group_after_the_other(self):
        """They share all but guests, and have the host of the first one."""
        self.cloud.compute.host = "h1"
        group = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
        groups = [{"name": name, **group} for name in ("a", "b")]
        prepared = self.prepare(
            groups=groups, allowed_sources=["192.0.2.0/24"]
        )
        (first,) = prepared.run("a").guests
        prepared.pin_host(first.host)
        (second,) = prepared.run("b").guests
        self.assertEqual(("g1", "g2"), (first.name, second.name))
        self.assertEqual(
            [None, "nova:h1"],
            [
                request.get("availability_zone")
                for request in self.cloud.compute.requests
            ],
        )
        self.assertEqual(1, len(self.cloud.compute.all_keypairs))
        self.assertEqual(1, len(self.cloud.network.all_groups))
        allowed = [
            rule["protocol"]
            for rule in self.cloud.network.rules
            if "remote_ip_prefix" in rule
        ]
        self.assertEqual(["icmp", "tcp"], allowed)

    def test_host_that_the_user_may_not_select(self):
        """Nova chooses it again, and that is reported."""
        lines = []
        prepared = self.prepare(progress=lines.append)

        def forbid(name, is_done):
            if name == "services":
                raise sdk_errors.ForbiddenException("403")

        self.cloud.interrupt = forbid
        prepared.pin_host("h1")
        self.assertIn("the user may not select this host", lines[-1])
        prepared.run()
        (request,) = self.cloud.compute.requests
        self.assertNotIn("availability_zone", request)

    def test_floating(self):
        booted = self.boot(count=2)
        first, second = booted.guests
        self.assertEqual("g1", first.name)
        self.assertEqual("172.24.4.10", first.address)
        self.assertEqual("10.2.0.1", first.fixed_address)
        self.assertEqual("floating", second.reached_by)
        self.assertNotEqual(first.host_key, second.host_key)
        self.assertEqual(1024, first.flavor.memory_mib)

    def test_network_of_a_group(self):
        """It replaces that of the request for the guests of the group."""
        group = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
        booted = self.boot(
            groups=[
                {"name": "a", **group},
                {"name": "b", "network": {"name": "public"}, **group},
            ]
        )
        self.assertEqual(
            [("private", "floating"), ("public", "fixed")],
            [(guest.network, guest.reached_by) for guest in booted.guests],
        )

    def test_order_is_that_of_the_names(self):
        until_active = boot.waiting.wait_until_active

        def last_first(*arguments):
            outcome = until_active(*arguments)
            ready = dict(reversed(outcome.ready.items()))
            return dataclasses.replace(outcome, ready=ready)

        with mock.patch.object(boot.waiting, "wait_until_active", last_first):
            guests = self.boot(count=3).guests
        names = [guest.name for guest in guests]
        self.assertEqual(["g1", "g2", "g3"], names)

    def test_fixed(self):
        (guest,) = self.boot(network={"id": "n1"}).guests
        self.assertEqual("10.1.0.1", guest.address)
        self.assertIsNone(guest.floating_address)
        self.assertEqual({}, self.cloud.network.all_ips)

    def test_how_guests_are_reached_is_handed_on(self):
        hop = {"address": "192.0.2.1", "user": "rally"}
        (guest,) = self.boot(jump=hop, login={"key_file": "/k"}).guests
        self.assertEqual(target.jump_hosts(hop), guest.jump)
        self.assertEqual(target.Login(key_file="/k"), guest.login)
        self.assertIsNone(guest.namespace)
        self.assertEqual("10.2.0.1", guest.address)

    def test_a_key_that_the_console_will_show(self):
        (guest,) = self.boot(host_key={"console": True}).guests
        self.assertIsNone(guest.host_key)

    def test_rules_admit_the_required_sources(self):
        """From the controller as its guest sees it, and no one else."""
        sources = ["192.0.2.0/24"]
        booted = self.boot(network={"id": "n1"}, allowed_sources=sources)
        self.assertEqual(tuple(sources), booted.ssh_sources)
        self.assertEqual(
            [("icmp", *sources), ("tcp", *sources)],
            [
                (rule["protocol"], rule.get("remote_ip_prefix"))
                for rule in self.cloud.network.rules
            ],
        )

    def test_server_group(self):
        self.cloud.compute.host_ids = ["d1", "d2"]
        booted = self.boot(count=2, server_group="affinity")
        (group,) = self.cloud.compute.all_groups.values()
        self.assertEqual(["affinity"], group.policies)
        self.assertTrue(group.name.startswith("c_rally_1234abcd_"))
        for server in self.cloud.compute.requests:
            self.assertEqual({"group": group.id}, server["scheduler_hints"])
        self.assertIn("wrong_host", [f.kind for f in booted.findings])

    def test_other_guests_follow_the_first_of_a_server_group(self):
        """No other is requested before Nova has chosen the first one's host.

        The first one has no host when it is read for the first time.
        """
        self.cloud.compute.host_ids = [""]

        def settle(called, is_done):
            if is_done and self.cloud.calls.count("get_server") > 1:
                for server in self.cloud.compute.all_servers.values():
                    server.host_id = "d1"

        self.cloud.interrupt = settle
        for policy, looks in (("affinity", 2), ("anti-affinity", 0)):
            self.cloud.calls.clear()
            self.boot(count=2, server_group=policy)
            made_of = [
                call
                for call in self.cloud.calls
                if call in ("create_server", "get_server")
            ]
            self.assertEqual(
                ["create_server", *["get_server"] * looks, "create_server"],
                made_of,
            )

    def test_guests_share_a_host_without_its_name(self):
        """A requested placement takes precedence; one guest needs none."""
        for options, policies in (
            ({"count": 2}, ["affinity"]),
            ({"count": 2, "availability_zone": "nova"}, ["affinity"]),
            ({"count": 2, "server_group": "soft-anti-affinity"}, None),
            ({"count": 2, "host": "h1"}, None),
            ({"count": 2, "hosts": ["h1"]}, None),
            ({"count": 1}, None),
        ):
            self.cloud = testing.FakeCloud()
            self.cloud.compute.host = "h1"
            (first, *_) = self.boot(one_host=True, **options).guests
            policy = options.get("server_group")
            expected = policies or ([policy] if policy else None)
            groups = [
                group.policies
                for group in self.cloud.compute.all_groups.values()
            ]
            self.assertEqual([expected] if expected else [], groups, options)
            self.assertEqual(
                expected[0] if expected else None, first.server_group
            )

    def test_several_networks(self):
        self.cloud.network.all_networks[1].is_port_security_enabled = False
        (guest,) = self.boot(
            network=None,
            networks=[{"name": "private"}, {"name": "public"}],
            traffic_network={"name": "private"},
        ).guests
        self.assertEqual("10.1.0.2", guest.address)
        self.assertEqual("fixed", guest.reached_by)
        self.assertEqual("10.2.0.1", guest.measure_address)
        self.assertEqual(("private", "public"), guest.networks)
        ports = [port for port in self.cloud.network.all_ports if port.name]
        (group,) = self.cloud.network.all_groups
        self.assertFalse(hasattr(ports[0], "security_groups"))
        self.assertEqual([group], ports[1].security_groups)
        (server,) = self.cloud.compute.requests
        self.assertEqual([{"port": p.id} for p in ports], server["networks"])
        self.assertNotIn("security_groups", server)

    def test_networks_of_one_name(self):
        self.cloud.network.all_networks[0].name = "private"
        (guest,) = self.boot(
            network=None, networks=[{"id": "n2"}, {"id": "n1"}]
        ).guests
        self.assertEqual("10.1.0.2", guest.address)

    def test_boot_volume(self):
        guests = self.boot(count=2, boot_volume={"size_gib": 8}).guests
        self.assertEqual(
            models.Disk(source="volume", size_gib=8, type="standard"),
            guests[0].disk,
        )
        volumes = list(self.cloud.block_storage.all_volumes)
        for server, volume in zip(
            self.cloud.compute.requests, volumes, strict=True
        ):
            self.assertNotIn("image_id", server)
            (disk,) = server["block_device_mapping"]
            self.assertEqual(volume, disk["uuid"])
            self.assertIs(True, disk["delete_on_termination"])

    def test_data_volumes(self):
        """Nova attaches them to the server that it creates after them."""
        guests = self.boot(
            count=2, volumes=[{"size_gib": 3, "type": "ssd", "count": 2}]
        ).guests
        self.assertEqual("flavor", guests[0].disk.source)
        volumes = self.cloud.block_storage.all_volumes
        for guest, server in zip(
            guests, self.cloud.compute.requests, strict=True
        ):
            self.assertEqual("i1", server["image_id"])
            disk, *attached = server["block_device_mapping"]
            self.assertEqual(("image", "local", 0, "i1"), key_of(disk))
            self.assertEqual(
                [
                    ("volume", "volume", -1, volume.id)
                    for volume in guest.volumes
                ],
                [key_of(each) for each in attached],
            )
            self.assertEqual(
                {(3, "ssd", "ssd")},
                {
                    (volume.size_gib, volume.type, volume.requested_type)
                    for volume in guest.volumes
                },
            )
            for volume in guest.volumes:
                self.assertEqual(guest.id, volumes[volume.id].server)
                self.assertEqual("in-use", volumes[volume.id].status)
        order = [
            call
            for call in self.cloud.calls
            if call in ("create_volume", "get_volume", "create_server")
        ]
        self.assertEqual(
            ["create_volume"] * 4 + ["get_volume"] * 8 + ["create_server"] * 2,
            order,
        )

    def test_data_volumes_next_to_a_boot_volume(self):
        (guest,) = self.boot(
            boot_volume={"size_gib": 8}, volumes=[{"size_gib": 3}]
        ).guests
        self.assertEqual(8, guest.disk.size_gib)
        (server,) = self.cloud.compute.requests
        self.assertNotIn("image_id", server)
        self.assertEqual(
            [("volume", "volume", 0), ("volume", "volume", -1)],
            [key_of(each)[:3] for each in server["block_device_mapping"]],
        )

    def test_refused_attachment(self):
        """The guest is excluded, and Nova deletes its volume with it."""
        self.cloud.interrupt = self.fail_second
        booted = self.boot(count=2, volumes=[{"size_gib": 3}])
        self.assertEqual(("g2",), booted.absent)
        list(self.cloud.compute.servers())
        list(self.cloud.compute.servers())
        self.assertEqual(1, len(self.cloud.block_storage.all_volumes))

    def test_the_error_has_the_requested_placement(self):
        self.cloud.compute.final_status = "ERROR"
        message = r"g1 \(requested: server_group 'anti-affinity'\) is in ERROR"
        with self.assertRaisesRegex(errors.GuestError, message):
            self.boot(server_group="anti-affinity")

    def fail_second(self, called, is_done):
        """Have the second server fail as soon as it is there."""
        servers = list(self.cloud.compute.all_servers.values())
        if called == "create_server" and is_done and len(servers) == 2:
            servers[1].status = "ERROR"
            servers[1].fault = {"message": "No valid host was found."}

    def test_one_of_several_fails(self):
        """The others go on, and its server is deleted."""
        self.cloud.interrupt = self.fail_second
        lines = []
        booted = self.boot(count=3, progress=lines.append)
        self.assertEqual(["g1", "g3"], [guest.name for guest in booted.guests])
        self.assertEqual(("g2",), booted.absent)
        (failure,) = [
            x for x in booted.findings if x.kind == "guest_unavailable"
        ]
        self.assertIn("g2 is in ERROR: No valid host", failure.detail)
        self.assertIn(f"{failure.detail}; the run continues without it", lines)
        self.assertEqual(1, self.cloud.calls.count("delete_server"))

    def test_failed_guest_in_a_migration(self):
        """The migration is aborted before the server is deleted."""
        states = []
        planned = [calls.Thing(id=12)]

        def migrate(called, is_done):
            self.fail_second(called, is_done)
            servers = list(self.cloud.compute.all_servers.values())
            if called == "get_server" and planned:
                servers[1].task_state = "migrating"
                self.cloud.compute.migrations[servers[1].id] = [planned.pop()]
            if called == "delete_server" and not is_done:
                states.append(servers[1].task_state)

        self.cloud.interrupt = migrate
        lines = []
        booted = self.boot(count=3, progress=lines.append)
        self.assertEqual(("g2",), booted.absent)
        self.assertEqual([None], states)
        self.assertEqual(1, self.cloud.calls.count("delete"))
        self.assertRegex("\n".join(lines), "migrates it; aborting the migrat")

    def test_guests_apart_are_all_needed(self):
        self.cloud.interrupt = self.fail_second
        message = r"g2 \(requested: server_group 'anti-affinity'\) is in ERROR"
        with self.assertRaisesRegex(errors.GuestError, message):
            self.boot(count=3, server_group="anti-affinity")

    def test_aggregate(self):
        self.cloud.compute.host = "h1"
        self.cloud.compute.all_zones = {"nova": ["h1", "h2"]}
        self.cloud.compute.all_aggregates = [
            calls.Thing(
                id="a1",
                name="ssd",
                hosts=["h1", "h2"],
                availability_zone=None,
            )
        ]
        self.boot(aggregate="ssd", count=2)
        self.assertEqual(
            ["nova:h1", "nova:h2"],
            [
                request["availability_zone"]
                for request in self.cloud.compute.requests
            ],
        )

    def test_no_group_without_port_security(self):
        self.cloud.network.all_networks[1].is_port_security_enabled = False
        self.boot()
        self.assertNotIn("security_groups", self.cloud.compute.requests[0])

    def test_findings(self):
        kinds = [finding.kind for finding in self.boot().findings]
        self.assertEqual(
            ["placement_unknown", "rate_limited_by_policy"], kinds
        )

    def test_qos_policy_of_the_network(self):
        self.cloud.network.policies["n2"] = "q1"
        self.cloud.network.all_policies["q1"] = calls.Thing(
            name="slow",
            rules=[
                {
                    "type": "bandwidth_limit",
                    "max_kbps": 1000,
                    "direction": "ingress",
                },
                {"type": "dscp_marking", "dscp_mark": 26},
            ],
        )
        booted = self.boot(count=2)
        (limit,) = (x for x in booted.findings if "QoS" in x.subject)
        self.assertEqual(
            ("rate_limited_by_policy", "ingress max_kbps=1000"),
            (limit.kind, limit.detail),
        )
        (cap,) = (cap for cap in booted.caps if cap.part == "network")
        self.assertEqual(
            ("bit/s", 1e6, False), (cap.unit, cap.rate, cap.shared)
        )
        self.assertEqual(("g1", "g2"), cap.guests)
        self.assertIn("slow", cap.name)
        self.assertEqual(1, self.cloud.calls.count("get_qos_policy"))

    def test_qos_policy_that_is_not_shown(self):
        self.cloud.network.policies["n2"] = "q1"
        lines = []
        booted = self.boot(progress=lines.append)
        self.assertNotIn("network", [cap.part for cap in booted.caps])
        self.assertIn("QoS policy q1 cannot be read: no", lines)
        (unchecked,) = (
            found
            for found in booted.findings
            if found.kind == "promise_not_checked"
        )
        self.assertEqual("QoS policy q1", unchecked.subject)

    def test_the_administrator_sees_the_host(self):
        admin = testing.FakeCloud()
        admin.compute.get_server = lambda identifier: mock.Mock(
            compute_host="h9"
        )
        booted = self.boot(admin=admin)
        self.assertEqual("h9", booted.guests[0].host)

    def test_a_host_with_guests_of_others(self):
        """It is rejected with empty_host only; the run's guests may share."""
        self.cloud.compute.host = "h1"
        self.boot(count=2, admin=self.cloud, empty_host=True)
        with self.assertRaisesRegex(
            errors.GuestError, "^empty_host: host h1 has 2 guests"
        ):
            self.boot(admin=self.cloud, empty_host=True)
        self.boot(admin=self.cloud)

    def test_the_administrator_sees_processors_and_size_of_the_host(self):
        admin = testing.FakeCloud()
        admin.compute.get_server = lambda identifier: mock.Mock(
            compute_host="h9", hypervisor_hostname="h9.example.org"
        )
        admin.compute.hypervisors = [
            {"hypervisor_hostname": "h8", "cpu_info": {"features": ["sse"]}},
            {
                "hypervisor_hostname": "h9.example.org",
                "cpu_info": {"features": ["sse2", "avx"]},
                "vcpus": 16,
                "memory_mb": 4096,
                "hypervisor_type": "QEMU",
                "hypervisor_version": 7002022,
            },
        ]
        guest = self.boot(admin=admin).guests[0]
        self.assertEqual("QEMU 7.2.22", guest.hypervisor_version)
        self.assertEqual(("avx", "sse2"), guest.host_cpu)
        self.assertEqual((16, 4096), (guest.host_vcpus, guest.host_memory_mib))
        for refused in (None, [{"hypervisor_hostname": "h9.example.org"}]):
            admin.compute.hypervisors = refused
            guest = self.boot(admin=admin).guests[0]
            self.assertEqual(((), None), (guest.host_cpu, guest.host_vcpus))
            self.assertIsNone(guest.hypervisor_version)

    def test_the_version_of_nova(self):
        """The largest microversion, which each user sees."""
        (guest,) = self.boot().guests
        self.assertEqual("2.93", guest.nova_microversion)
        for failure in (
            {"side_effect": sdk_errors.SDKException("no catalog")},
            {"return_value": None},
        ):
            with mock.patch.object(
                self.cloud.compute,
                "get_endpoint_data",
                autospec=True,
                **failure,
            ):
                (guest,) = self.boot().guests
            self.assertIsNone(guest.nova_microversion)

    def test_many_hypervisors_are_read_in_one_request(self):
        names = [f"compute-{number}" for number in range(20)]
        self.cloud.compute.hypervisors = [
            {"hypervisor_hostname": name, "vcpus": 4}
            for name in (*names, "compute-99", "other")
        ]
        hypervisors = hosts.find_hypervisors(self.cloud, {*names})
        self.assertEqual({*names}, {*hypervisors})
        self.assertEqual(1, self.cloud.calls.count("get"))
        self.assertEqual(21, self.cloud.listed)

    def test_the_plan_is_reported_before_resources_are_created(self):
        lines = []

        def note(line):
            if line.startswith("plan: "):
                self.assertEqual([], self.cloud.left())
            lines.append(line)

        guest_request = made.build_request(count=11)
        with self.assertRaisesRegex(errors.GuestError, "quota for 10 more"):
            boot.prepare(self.cloud, guest_request, lambda: "n", note)
        self.assertIn("plan: 11 guests of small, 22 vCPUs", lines[0])
        self.assertIn("11 of 10 instances", lines[1])
        self.assertEqual([], self.cloud.left())

    def test_forced_host(self):
        self.cloud.compute.host = "h2"
        booted = self.boot(host="h1")
        (server,) = self.cloud.compute.requests
        self.assertEqual("nova:h1", server["availability_zone"])
        self.assertEqual("wrong_host", booted.findings[0].kind)

    def test_groups(self):
        """Groups have their own options; key pair and rules are shared."""
        self.cloud.image.all_images.append(
            calls.Thing(
                id="i2",
                name="tuned",
                status="active",
                min_ram=0,
                min_disk=0,
                size=1,
                virtual_size=1,
                disk_format="qcow2",
            )
        )
        booted = self.boot(
            server_group="affinity",
            user="rocky",
            groups=[
                {
                    "name": "plain",
                    "image": {"name": "debian"},
                    "flavor": {"name": "small"},
                    "count": 2,
                    "boot_volume": {"size_gib": 8},
                },
                {
                    "name": "tuned",
                    "image": {"name": "tuned"},
                    "flavor": {"id": "f1"},
                    "user": "debian",
                    "config_drive": True,
                    "login": {"key_file": "/k"},
                    "host_key": {"public_key": "ssh-ed25519 AAAA"},
                },
            ],
        )
        self.assertEqual(
            [
                ("g1", "plain", "rocky", "debian", "volume", False, None),
                ("g2", "plain", "rocky", "debian", "volume", False, None),
                ("g3", "tuned", "debian", "tuned", "flavor", True, "/k"),
            ],
            [
                (
                    guest.name,
                    guest.group,
                    guest.user,
                    guest.image.name,
                    guest.disk.source,
                    guest.config_drive,
                    guest.login and guest.login.key_file,
                )
                for guest in booted.guests
            ],
        )
        self.assertEqual("ssh-ed25519 AAAA", booted.guests[2].host_key)
        self.assertEqual(2, len(self.cloud.block_storage.all_volumes))
        first, second, third = self.cloud.compute.requests
        self.assertNotIn("image_id", second)
        self.assertEqual("i2", third["image_id"])
        for key in ("key_name", "security_groups", "scheduler_hints"):
            self.assertEqual(first[key], third[key])
        self.assertEqual(1, len(self.cloud.compute.all_groups))
        kinds = [finding.kind for finding in booted.findings]
        self.assertEqual(1, kinds.count("rate_limited_by_policy"))

    def test_each_guest_has_a_boot_of_its_own(self):
        guests = self.boot(count=2).guests
        self.assertEqual(
            [f"{guest.id}#1" for guest in guests],
            [guest.boot for guest in guests],
        )

    @ddt.unpack
    @ddt.data(
        ({"image": {"name": "x"}}, "image 'x' does not exist.*debian"),
        ({"flavor": {"name": "x"}}, "flavor 'x' does not exist.*small"),
        ({"network": {"name": "x"}}, "network 'x'.*private, public"),
        ({"network": None}, "sees private, public; choose one"),
        ({"host": "x"}, "host 'x' is not"),
        ({"count": 11}, "quota for 10 more instances, 11 are required"),
        ({"user_data": "["}, "user_data is not valid YAML"),
        (
            {"server_group": "affinity", "count": 9},
            "quota for 8 more members of a server group, 9 are required",
        ),
    )
    def test_refused(self, options, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.boot(**options)
        self.assertEqual({}, self.cloud.compute.all_servers)

    @ddt.unpack
    @ddt.data(
        (
            "min_ram",
            2048,
            "has 1024 MiB of memory, image 'debian' requires 2048",
        ),
        ("min_disk", 9, "has a disk of 4 GiB, image 'debian' requires 9"),
        ("virtual_size", (4 << 30) + 1, "requires 5"),
        ("status", "queued", "is queued: must be active"),
    )
    def test_image_does_not_fit(self, attribute, value, message):
        setattr(self.cloud.image.all_images[0], attribute, value)
        with self.assertRaisesRegex(errors.GuestError, message):
            self.boot()
