# SPDX-License-Identifier: Apache-2.0
"""Tests of actions on servers: reboot, resize, cold migration."""

from unittest import mock

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import server_action
from tests.unit.guests import apis


@mock.patch("time.sleep", new=mock.Mock())
@ddt.ddt
class TestServerAction(apis.ServerActionCase):
    """Requests to Nova, and how they end."""

    def run_action(self, function, body, deadline=300.0, **options):
        """Request an action, and return how it went."""
        return function(
            self.connect_nova(), "s1", body, deadline=deadline, **options
        )

    def test_reboot(self):
        self.mock_nova(("HARD_REBOOT", "rebooting_hard"), ("ACTIVE", None))
        body = {"reboot": {"type": "HARD"}}
        done = self.run_action(server_action.run, body)
        self.assertEqual(("completed", "req-1"), (done.outcome, done.request))
        self.assertEqual([body], self.bodies())

    def test_resize(self):
        """It is confirmed; the request is that of the resize."""
        self.mock_nova(
            ("RESIZE", "resize_migrating"),
            ("VERIFY_RESIZE", None),
            ("VERIFY_RESIZE", None),
            ("ACTIVE", None),
        )
        body = {"migrate": {"host": "b"}}
        done = self.run_action(server_action.resize, body, version="2.56")
        self.assertEqual(("completed", "req-1"), (done.outcome, done.request))
        self.assertEqual([body, {"confirmResize": None}], self.bodies())
        first, _ = self.posted.request_history
        self.assertEqual(
            "compute 2.56", first.headers["OpenStack-API-Version"]
        )

    @ddt.data(
        ((("RESIZE", "resize_prep"), ("ACTIVE", None)), "failed", "ACTIVE"),
        ((("RESIZE", "resize_prep"), ("ERROR", None)), "server_error", "host"),
    )
    @ddt.unpack
    def test_without_host(self, states, outcome, detail):
        """It is not confirmed."""
        self.mock_nova(*states)
        done = self.run_action(server_action.resize, {"migrate": None})
        self.assertEqual(outcome, done.outcome)
        self.assertIn(detail, done.detail)
        self.assertEqual([{"migrate": None}], self.bodies())

    def test_deadline(self):
        self.mock_nova(("REBOOT", "rebooting"))
        with mock.patch.object(
            server_action.time,
            "monotonic",
            autospec=True,
            side_effect=range(0, 9999, 10),
        ):
            done = self.run_action(
                server_action.run, {"reboot": {"type": "SOFT"}}, deadline=25.0
            )
        self.assertEqual("failed", done.outcome)
        self.assertEqual(
            "the server is rebooting, not ACTIVE, after 25 s", done.detail
        )

    def test_rejected(self):
        self.mock_nova(("ACTIVE", None))
        self.mocker.post(
            f"{apis.SERVER}/action",
            status_code=403,
            text="Policy\ndoes not allow",
        )
        with self.assertRaisesRegex(
            errors.GuestError, "^migrate: 403 Policy does not allow$"
        ):
            self.run_action(server_action.resize, {"migrate": None})
