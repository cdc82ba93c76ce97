# SPDX-License-Identifier: Apache-2.0
"""Tests for the removal of an owner's resources."""

import unittest
from unittest import mock

from keystoneauth1 import exceptions as auth_errors
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud as cloud_api
from rally_vmperf.guests import errors
from rally_vmperf.guests import networks
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

OWNER = ownership.Owner("c_rally_1234abcd")
TAG = cloud_api.IMAGE_TAG
DISKLESS = inventory.GUEST_KINDS - {"volume"}


def name(number):
    return f"c_rally_1234abcd_{number:08}"


def stocked():
    cloud = testing.FakeCloud()
    for number in (1, 2):
        cloud.compute.create_server(
            name=name(number), networks=[{"uuid": "n1"}]
        )
        cloud.network.create_ip(description=name(number))
    cloud.compute.create_keypair(name=name(3), public_key="ssh-ed25519 A")
    chosen = networks.choose_networks(cloud, made.build_request())
    access.create_security_group(cloud, name(4), chosen.networks, 1, range(0))
    cloud.network.create_security_group(name="c_rally_99999999_00000004")
    return cloud


class RemoveTest(unittest.TestCase):
    """Removals on a clock that only pauses move."""

    def setUp(self):
        super().setUp()
        self.clock = self.enterContext(
            mock.patch.object(removal, "time", autospec=True)
        )
        self.clock.monotonic.side_effect = lambda: sum(
            call.args[0] for call in self.clock.sleep.mock_calls
        )
        self.cloud = stocked()
        (self.foreign,) = list(self.cloud.network.all_groups)[-1:]

    def test_order_and_others_resources(self):
        lines = []
        removal.remove_resources(self.cloud, OWNER, lines.append)
        self.assertEqual([self.foreign], self.cloud.left())
        deletions = [
            call for call in self.cloud.calls if call.startswith("delete")
        ]
        self.assertEqual(
            ["delete_server"] * 2
            + ["delete_ip"] * 2
            + ["delete_security_group", "delete_keypair"],
            deletions,
        )
        self.assertEqual("removing 2 servers", lines[0])

    def test_other_resources_of_guests(self):
        cloud = testing.FakeCloud()
        cloud.compute.create_server_group(name=name(1), policies=["affinity"])
        cloud.network.create_port(name=name(2), network_id="n1")
        cloud.block_storage.create_volume(name=name(3), size=8)
        cloud.block_storage.create_volume(name="somebody's own", size=8)
        removal.remove_resources(cloud, OWNER, lambda line: None)
        (volume,) = cloud.block_storage.all_volumes.values()
        self.assertEqual("somebody's own", volume.name)
        self.assertEqual([volume.id], cloud.left())

    def test_flavors_and_images_of_the_run(self):
        """Nova gives flavors to administrators only; others' copies stay."""
        cloud, admin = testing.FakeCloud(), testing.FakeCloud()
        for number, owner in ((1, "1234abcd"), (2, "99999999")):
            copy = f"c_rally_{owner}_{number:08}"
            admin.compute.create_flavor(name=copy, is_public=False)
            cloud.image.post("/images", json={"name": copy, "tags": [TAG]})
        cloud.image.all_images[1].status = "saving"
        removal.remove_resources(cloud, OWNER, lambda line: None, admin=admin)
        self.assertEqual(
            ["debian", "c_rally_99999999_00000002"],
            [image.name for image in cloud.image.all_images],
        )
        self.assertEqual(
            ["small", "c_rally_99999999_00000002"],
            [flavor.name for flavor in admin.compute.all_flavors],
        )
        self.assertNotIn("flavors", cloud.calls)

    def test_a_run_without_flavors_needs_no_administrator(self):
        admin = testing.FakeCloud()
        removal.remove_resources(
            self.cloud,
            OWNER,
            lambda line: None,
            kinds=inventory.GUEST_KINDS - {"flavor"},
            admin=admin,
        )
        self.assertEqual([], admin.calls)

    def test_a_run_without_volumes_does_not_list_them(self):
        removal.remove_resources(
            self.cloud, OWNER, lambda line: None, kinds=DISKLESS
        )
        self.assertNotIn("volumes", self.cloud.calls)

    def test_forbidden_server_groups_count_as_none(self):
        def refuse(called, is_done):
            if called == "server_groups":
                raise sdk_errors.ForbiddenException("no", http_status=403)

        self.cloud.interrupt = refuse
        removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual([self.foreign], self.cloud.left())

    def break_lists(self, *names):
        """Have lists answered with another shape of JSON."""

        def refuse(called, is_done):
            if called in names:
                raise cloud_api.InvalidResponse(f"{called}=None")

        self.cloud.interrupt = refuse

    def test_a_list_of_another_shape_keeps_no_other_resource(self):
        """The other kinds are removed, and the list is named."""
        self.break_lists("servers", "ports", "security_groups")
        with self.assertRaisesRegex(
            errors.GuestError,
            "^clean-up: cannot list servers: servers=None; cannot list ports: "
            "ports=None; cannot list security groups: security_groups=None$",
        ):
            removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual({}, self.cloud.network.all_ips)
        self.assertEqual({}, self.cloud.compute.all_keypairs)
        self.assertEqual(2, len(self.cloud.compute.all_servers))

    def test_a_list_that_is_valid_again(self):
        """Rejected deletions are requested again."""
        self.break_lists("servers")
        refuse = self.cloud.interrupt
        refusals = []

        def refuse_once(called, is_done):
            if called == "delete_ip" and len(refusals) < 2 and not is_done:
                refusals.append(called)
                raise sdk_errors.HttpException("x", http_status=400)
            if self.cloud.network.all_ips:
                refuse(called, is_done)

        self.cloud.interrupt = refuse_once
        removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual([self.foreign], self.cloud.left())
        self.assertEqual(2, len(refusals))

    def test_a_cloud_that_does_not_answer_gets_one_request(self):
        def refuse(called, is_done):
            raise auth_errors.ConnectFailure("x")

        self.cloud.interrupt = refuse
        self.cloud.calls.clear()
        resources = inventory.Inventory(self.cloud, OWNER.owns)
        with self.assertRaisesRegex(
            inventory.IncompleteError, "^cannot list servers: x$"
        ) as caught:
            resources.list_all()
        self.assertEqual(["servers"], self.cloud.calls)
        self.assertIn("port", caught.exception.failures)

    def test_a_busy_cloud_lists_resources_of_the_run(self):
        """Nova by name, Neutron by project, each a few times."""
        cloud = self.cloud
        for _ in range(1000):
            cloud.add(cloud.network.all_ips, project_id="p2")
        before = len(cloud.queries)
        removal.remove_resources(
            cloud, OWNER, lambda line: None, kinds=DISKLESS
        )
        queries = cloud.queries[before:]
        self.assertLessEqual(len(queries), 30, queries)
        for called, query in queries:
            if called == "servers":
                self.assertEqual("^c_rally_1234abcd", query["name"])
            elif called in {"ips", "ports", "security_groups"}:
                self.assertEqual({"project_id": ["p1"]}, query)

    def test_looks_become_fewer(self):
        """A minute of waiting costs a look every four seconds."""
        self.cloud.compute.delete_server = lambda *args, **options: None
        with self.assertRaises(errors.GuestError):
            removal.remove_resources(
                self.cloud, OWNER, lambda line: None, timeout=60
            )
        self.assertLess(self.cloud.calls.count("servers"), 20)

    def test_nothing_to_do(self):
        removal.remove_resources(testing.FakeCloud(), OWNER, self.fail)

    def test_refusals_do_not_hold_up_the_rest(self):
        def refuse(called, is_done):
            if called == "delete_ip":
                raise sdk_errors.ForbiddenException(
                    "no", http_status=403, details="policy says no"
                )

        self.cloud.interrupt = refuse
        message = "not removed: floating IP .* \\(policy says no\\)"
        with self.assertRaisesRegex(errors.GuestError, message):
            removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual({}, self.cloud.compute.all_keypairs)

    def test_a_busy_cloud_is_retried(self):
        failures = iter(range(5))

        def fail(called, is_done):
            if next(failures, None) is not None:
                raise sdk_errors.HttpException("busy", http_status=503)

        self.cloud.interrupt = fail
        removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual([self.foreign], self.cloud.left())

    def test_a_migration_ends_before_the_deletion(self):
        server, _ = self.cloud.compute.all_servers.values()
        states = iter(["migrating"] * 3)

        def migrate(called, is_done):
            if called == "servers" and is_done:
                server.task_state = next(states, None)

        def check(identifier, **options):
            if identifier == server.id:
                self.assertNotEqual("migrating", server.task_state)
            delete(identifier, **options)

        self.cloud.interrupt = migrate
        delete = self.cloud.compute.delete_server
        self.cloud.compute.delete_server = check
        removal.remove_resources(self.cloud, OWNER, lambda line: None)
        self.assertEqual([self.foreign], self.cloud.left())
        self.assertIsNone(next(states, None))

    def test_a_migration_is_aborted(self):
        """The administrator aborts it; the lines of progress show it."""
        server, _ = self.cloud.compute.all_servers.values()
        admin = testing.FakeCloud()
        admin.compute.all_servers[server.id] = server
        admin.compute.migrations[server.id] = [calls.Thing(id=12)]

        def migrate(called, is_done):
            if called == "servers" and is_done:
                is_migrating = admin.compute.migrations[server.id]
                server.task_state = "migrating" if is_migrating else None

        self.cloud.interrupt = migrate
        lines = []
        removal.remove_resources(
            self.cloud, OWNER, lines.append, admin=admin, timeout=5
        )
        self.assertEqual([self.foreign], self.cloud.left())
        self.assertEqual([], admin.compute.migrations[server.id])
        self.assertEqual(1, admin.calls.count("delete"))
        self.assertEqual(0, self.cloud.calls.count("delete"))
        self.assertIn(
            f"server {name(1)}: Nova migrates it; aborting the migration",
            lines,
        )

    def test_a_migration_that_does_not_end(self):
        server, _ = self.cloud.compute.all_servers.values()

        def migrate(called, is_done):
            if called == "servers" and is_done:
                server.task_state = "migrating"

        self.cloud.interrupt = migrate
        text = rf"server {name(1)} \(Nova migrates it; wait, or abort the"
        with self.assertRaisesRegex(errors.GuestError, text):
            removal.remove_resources(self.cloud, OWNER, lambda line: None)

    def test_remaining_resources_are_named(self):
        self.cloud.compute.delete_server = lambda *args, **options: None
        with self.assertRaisesRegex(errors.GuestError, f"server {name(1)}"):
            removal.remove_resources(self.cloud, OWNER, lambda line: None)

    def test_the_remedy_follows_remaining_resources(self):
        self.cloud.compute.delete_server = lambda *args, **options: None
        message = f"server {name(1)}.*; remove it with: rally-vmperf cleanup$"
        with self.assertRaisesRegex(errors.GuestError, message):
            removal.remove_resources(
                self.cloud,
                OWNER,
                lambda line: None,
                remedy="rally-vmperf cleanup",
            )

    def test_an_interrupted_request_may_take_effect_late(self):
        def take_effect(seconds):
            if self.cloud.left() == [self.foreign] and not late:
                late.append(name(9))
                self.cloud.compute.create_server(
                    name=name(9), networks=[{"uuid": "n1"}]
                )

        late = []
        self.clock.sleep.side_effect = take_effect
        removal.remove_resources(
            self.cloud, OWNER, lambda line: None, interrupted=True
        )
        self.assertEqual([name(9)], late)
        self.assertEqual([self.foreign], self.cloud.left())
