# SPDX-License-Identifier: Apache-2.0
"""Tests of the deletion of servers."""

import unittest
from unittest import mock

from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import servers
from tests.unit.guests import apis
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

SERVER = f"{apis.NOVA}/servers/s1"
MIGRATING = calls.Thing(id="s1", task_state="migrating")


class TestAbort(apis.ApiTestCase):
    """The requests that abort a migration."""

    def delete(self, status, **response):
        """Delete a server in a migration; return the reason to wait.

        :param status: The status of the response to the abort.
        """
        self.mocker.get(
            f"{SERVER}/migrations", json={"migrations": [{"id": 12}]}
        )
        self.aborted = self.mocker.delete(
            f"{SERVER}/migrations/12", status_code=status, **response
        )
        connection = self.connect_nova()
        with self.assertRaises(cloud.CloudBusy) as caught:
            servers.delete(connection, MIGRATING)
        return cloud.one_line(caught.exception)

    def test_aborted(self):
        """The server is not deleted before the migration has ended."""
        text = self.delete(202)
        self.assertEqual("Nova migrates it; aborting the migration", text)
        request = apis.get_request(self.aborted)
        self.assertEqual(
            "compute 2.24", request.headers["OpenStack-API-Version"]
        )

    def test_rejected(self):
        """Nova can reject the abort; the caller waits."""
        reason = {"forbidden": {"code": 403, "message": "Not allowed."}}
        text = self.delete(403, json=reason)
        self.assertRegex(
            text,
            r"^Nova migrates it; wait, or abort the migration \(not aborted: "
            ".*Not allowed",
        )


@mock.patch("time.sleep", new=mock.Mock())
class TestFailed(unittest.TestCase):
    """Guests that failed to boot or to answer."""

    def setUp(self):
        """Have one server, of which Nova ends no migration."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.server = self.cloud.add(
            self.cloud.compute.all_servers,
            name="c_rally_1234abcd_00000001",
            status="ACTIVE",
            task_state="migrating",
            deleted=False,
        )
        self.lines = []

    def delete(self):
        """Delete the server of the failed guest."""
        servers.delete_failed(
            self.cloud, {self.server.id: "g1 is silent"}, self.lines.append
        )

    def test_migration_that_ends(self):
        """It is waited for, and reported once."""
        states = iter(["migrating"] * 3)

        def migrate(called, is_done):
            if called == "get_server" and not is_done:
                self.server.task_state = next(states, None)

        self.cloud.interrupt = migrate
        self.delete()
        self.assertTrue(self.server.deleted)
        self.assertEqual(
            [
                "g1 is silent; the run continues without it",
                f"server {self.server.name}: Nova migrates it; wait, or abort "
                "the migration",
            ],
            self.lines,
        )

    def test_migration_that_does_not_end(self):
        """The run continues; the clean-up deletes the server."""
        with mock.patch.object(
            servers.time,
            "monotonic",
            autospec=True,
            side_effect=range(0, 9999, 10),
        ):
            self.delete()
        self.assertFalse(self.server.deleted)
