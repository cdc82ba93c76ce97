# SPDX-License-Identifier: Apache-2.0
"""Tests of live migrations."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import migration
from rally_vmperf.guests.planning import plan
from tests.unit.guests import apis
from tests.unit.guests import testing

SERVER = f"{apis.NOVA}/servers/s1"


def record(status, **changes):
    """Return a migration as in the reference of Nova's API."""
    return {
        "created_at": "2026-01-01T10:00:00.000000",
        "dest_compute": "b",
        "id": 12,
        "instance_uuid": "s1",
        "migration_type": "live-migration",
        "source_compute": "a",
        "status": status,
        "updated_at": "2026-01-01T10:00:07.000000",
        "uuid": "m12",
        **changes,
    }


@mock.patch("time.sleep", new=mock.Mock())
@ddt.ddt
class TestMigration(apis.ApiTestCase):
    """Requests and outcomes."""

    def mock_nova(self, *states, **server):
        """Mock Nova, which moves a server through states.

        :param states: The migrations in the response to each request for
            them; the first ones are those before the migration, and the last
            ones are repeated.
        :param server: The fields of the server afterwards.
        """
        fields = {
            "id": "s1",
            "status": "ACTIVE",
            "OS-EXT-SRV-ATTR:host": "a",
            "OS-EXT-STS:task_state": None,
            **server,
        }
        actions = [
            {
                "action": "live-migration",
                "request_id": request_id,
                "start_time": "2026-01-01T10:00:00.000000",
                "user_id": user_id,
            }
            for request_id, user_id in (
                ("req-2", "admin-2"),
                ("req-1", "admin-1"),
            )
        ]
        self.listed = self.mocker.get(
            f"{apis.NOVA}/os-migrations?instance_uuid=s1",
            [{"json": {"migrations": state}} for state in states],
        )
        self.mocker.get(SERVER, json={"server": fields})
        self.requested = self.mocker.post(
            f"{SERVER}/action",
            status_code=202,
            headers={"x-openstack-request-id": "req-1"},
        )
        self.aborted = self.mocker.delete(
            f"{SERVER}/migrations/12", status_code=202
        )
        self.mocker.get(
            f"{SERVER}/os-instance-actions", json={"instanceActions": actions}
        )

    def migrate(self, host=None, deadline=300.0):
        """Migrate, and return how it went."""
        return migration.migrate(
            self.connect_nova(),
            "s1",
            migration.MigrationRequest(
                host=host, block_migration="auto", deadline=deadline
            ),
        )

    def check_version(self, request, version):
        """Check the version of Nova's API in a request."""
        self.assertEqual(
            f"compute {version}", request.headers["OpenStack-API-Version"]
        )

    @ddt.data(None, "b")
    def test_completed(self, host):
        old = record("completed", id=3, uuid="m3", dest_compute="c")
        self.mock_nova([old], [old, record("running")], [record("completed")])
        event = self.migrate(host)
        request = apis.get_request(self.requested)
        self.assertEqual(
            {"os-migrateLive": {"host": host, "block_migration": "auto"}},
            request.json(),
        )
        self.check_version(request, "2.30")
        self.check_version(self.listed.last_request, "2.59")
        self.assertEqual("completed", event.outcome)
        self.assertEqual(
            {
                "source": "a",
                "target": "b",
                "migration": "m12",
                "initiator": "admin-1",
                "nova_begun": "2026-01-01T10:00:00.000000",
                "nova_ended": "2026-01-01T10:00:07.000000",
            },
            event.fields,
        )
        self.assertEqual(("req-1", ""), (event.request, event.detail))

    def test_aborted_at_the_deadline(self):
        self.mock_nova([], [record("running")], [record("cancelled")])
        with mock.patch.object(
            migration.time,
            "monotonic",
            autospec=True,
            side_effect=range(0, 9999, 10),
        ):
            event = self.migrate(deadline=5)
        self.check_version(apis.get_request(self.aborted), "2.24")
        self.assertEqual("aborted", event.outcome)
        self.assertEqual("it was not finished after 5 s", event.detail)

    def test_race_of_neutron(self):
        """The guest runs on its new host, and its server is in ERROR."""
        self.mock_nova(
            [],
            [record("running")],
            status="ERROR",
            fault={"message": "UnmappedInstanceError", "code": 500},
        )
        event = self.migrate()
        self.assertEqual("server_error", event.outcome)
        self.assertIn("UnmappedInstanceError", event.detail)

    @ddt.data("error", "failed", "cancelled")
    def test_failed(self, state):
        self.mock_nova([], [record(state)])
        event = self.migrate()
        self.assertEqual(
            ("failed", f"its state is {state}"), (event.outcome, event.detail)
        )

    def test_rejected(self):
        """Nova rejects a second migration of a server that is moving."""
        self.mock_nova([])
        self.mocker.post(
            f"{SERVER}/action", status_code=409, text="it is migrating"
        )
        with self.assertRaisesRegex(
            errors.GuestError, "^os-migrateLive: 409 it is migrating$"
        ):
            self.migrate()

    @ddt.data(
        (None, "a", "", None),
        ("c", "a", "", "c"),
        (None, "a", "a", None),
        ("c", "c", "a", "a"),
        (None, "b", "a", "a"),
    )
    @ddt.unpack
    def test_there_and_back(self, host, present, home, expected):
        self.assertEqual(
            expected, migration.choose_target(host, present, home)
        )

    def test_hidden_host(self):
        with self.assertRaisesRegex(errors.GuestError, "add an admin"):
            migration.choose_target(None, "", "")


@ddt.ddt
class TestHosts(unittest.TestCase):
    """Tasks that are rejected before a guest boots."""

    def check(self, hosts, target="", boot_host=None):
        """Check a migration where these hosts are usable."""
        admin = testing.FakeCloud()
        admin.compute.all_zones = {"nova": [*hosts.split(), "z"]}
        admin.compute.service_states = {"z": {"state": "down"}}
        plan.check_migration_hosts(admin, target, boot_host)

    @ddt.data(("a b", "", None), ("a b", "b", "a"), ("a b c", "b", None))
    @ddt.unpack
    def test_accepted(self, hosts, target, boot_host):
        self.check(hosts, target, boot_host)

    @ddt.data(
        ("a", "", None, "a is the only host"),
        ("a b", "z", None, r"host='z': must be .* \(a, b\)"),
        ("a b", "b", "b", "the guests boot on this host"),
    )
    @ddt.unpack
    def test_rejected(self, hosts, target, boot_host, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.check(hosts, target, boot_host)

    def test_no_administrator(self):
        with self.assertRaisesRegex(errors.GuestError, "add an admin"):
            plan.check_migration_hosts(None, "", None)
