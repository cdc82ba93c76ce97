"""Tests of live migrations, against Nova on a socket."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import migration
from rally_vmperf.guests.planning import plan
from tests.unit.guests import wire

NOVA = "/compute/v2.1"
SERVER = f"{NOVA}/servers/s1"
MIGRATIONS = f"{NOVA}/os-migrations"
ACTION = f"{SERVER}/action"
ACTIONS = f"{SERVER}/os-instance-actions"


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


class Nova(wire.Wire):
    """Nova, which moves a server through states.

    :param states: The migrations at each request for them, the last one
        forever; the first one is that before the migration.
    :param server: The fields of the server afterwards.
    """

    def __init__(self, states, **server):
        super().__init__({}, {"compute": NOVA})
        self.states = list(states)
        self.server = {
            "id": "s1",
            "status": "ACTIVE",
            "OS-EXT-SRV-ATTR:host": "a",
            "OS-EXT-STS:task_state": None,
            **server,
        }

    def document(self, method, path):
        """Return the answer to a request."""
        if path == NOVA:
            return wire.version("v2.1", "2.93", f"URL{NOVA}/")
        if path == MIGRATIONS:
            more = len(self.states) > 1
            migrations = self.states.pop(0) if more else self.states[0]
            return {"migrations": migrations}
        if path == SERVER:
            return {"server": self.server}
        if path == ACTIONS:
            return {
                "instanceActions": [
                    {
                        "action": "live-migration",
                        "request_id": "",
                        "start_time": "2026-01-01T10:00:00.000000",
                        "user_id": "admin-1",
                    }
                ]
            }
        if path == ACTION or method == "DELETE":
            return b"" if method == "DELETE" else ""
        return super().document(method, path)


@mock.patch("time.sleep", new=mock.Mock())
@ddt.ddt
class TestMigration(unittest.TestCase):
    """Requests and outcomes."""

    def migrate(self, nova, host=None, deadline=300.0):
        """Return the event of a migration."""
        with wire.connected(nova) as admin:
            return migration.migrate(
                admin,
                "s1",
                "g1",
                migration.MigrationRequest(
                    host=host, block_migration="auto", deadline=deadline
                ),
            )

    @ddt.data(None, "b")
    def test_completed(self, host):
        old = record("completed", id=3, uuid="m3", dest_compute="c")
        nova = Nova([[old], [old, record("running")], [record("completed")]])
        event = self.migrate(nova, host)
        self.assertEqual(
            {"host": host, "block_migration": "auto"},
            nova.body("POST", ACTION)["os-migrateLive"],
        )
        self.assertEqual("completed", event.outcome)
        self.assertEqual(
            ("g1", "a", "b", "m12", "admin-1", ""),
            (
                event.guest,
                event.source,
                event.target,
                event.migration,
                event.initiator,
                event.detail,
            ),
        )
        self.assertEqual("2026-01-01T10:00:07.000000", event.nova_ended)
        self.assertGreaterEqual(event.ended, event.requested)

    def test_aborted_at_the_deadline(self):
        nova = Nova([[], [record("running")], [record("cancelled")]])
        with mock.patch.object(
            migration.time,
            "monotonic",
            autospec=True,
            side_effect=range(0, 9999, 10),
        ):
            event = self.migrate(nova, deadline=5)
        deleted = [path for method, path, *_ in nova.sent if method[0] == "D"]
        self.assertEqual([f"{SERVER}/migrations/12"], deleted)
        self.assertEqual("aborted", event.outcome)
        self.assertEqual("it was not finished after 5 s", event.detail)

    def test_race_of_neutron(self):
        """The guest runs on its new host, and its server is in ERROR."""
        nova = Nova(
            [[], [record("running")]],
            status="ERROR",
            fault={"message": "UnmappedInstanceError", "code": 500},
        )
        event = self.migrate(nova)
        self.assertEqual("server_error", event.outcome)
        self.assertIn("UnmappedInstanceError", event.detail)

    @ddt.data("error", "failed", "cancelled")
    def test_failed(self, state):
        event = self.migrate(Nova([[], [record(state)]]))
        self.assertEqual(
            ("failed", f"its state is {state}"), (event.outcome, event.detail)
        )

    def test_rejected(self):
        """Nova rejects a second migration of a server that is moving."""
        nova = Nova([[]])
        answer = nova.document
        nova.document = lambda method, path: (
            None if path == ACTION else answer(method, path)
        )
        event = self.migrate(nova)
        self.assertEqual("failed", event.outcome)
        self.assertIn("404", event.detail)


@ddt.ddt
class TestHosts(unittest.TestCase):
    """Tasks that are rejected before a guest boots."""

    def check(self, hosts, target="", boot_host=None):
        """Check a migration where these hosts are usable."""
        services = [
            mock.Mock(host=host, state="up", status="enabled")
            for host in hosts.split()
        ]
        services.append(mock.Mock(host="z", state="down", status="enabled"))
        admin = mock.Mock()
        admin.compute.services.return_value = services
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
