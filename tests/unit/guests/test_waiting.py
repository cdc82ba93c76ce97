# SPDX-License-Identifier: Apache-2.0
"""Tests for the wait for active guests."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


@ddt.ddt
class FaultTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (
            {"message": "No valid host was found. There are not enough."},
            "No valid host was found. There are not enough; request fewer "
            "or smaller guests or another zone, or check the log of "
            "nova-scheduler",
        ),
        (
            {"message": "Exceeded maximum number of retries.\nTrace"},
            "Exceeded maximum number of retries. Trace; check the log of "
            "nova-compute on the hosts that were tried",
        ),
        (
            {},
            "Nova gives no reason; check the log of nova-compute on the "
            "guest's host",
        ),
    )
    def test_one_line_with_the_way_out(self, fault, message):
        server = calls.Thing(id="s", fault=fault)
        cloud = testing.FakeCloud()
        cloud.compute.all_servers["s"] = server
        self.assertEqual(message, waiting.describe_fault(cloud, server))


@mock.patch("time.sleep", new=mock.Mock())
class UntilActiveTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        server = self.cloud.compute.create_server(
            name="c", networks=[{"uuid": "n1"}]
        )
        self.server_ids, self.started = {"g1": server.id}, {"g1": 0.0}
        self.lines = []

    def wait(self, timeout=60):
        return waiting.wait_until_active(
            self.cloud,
            self.server_ids,
            self.started,
            timeout,
            self.lines.append,
            ["c"],
        )

    def test_progress(self):
        waited = self.wait()
        self.assertEqual(["g1"], list(waited.ready))
        self.assertEqual({}, waited.failed)
        (line,) = self.lines
        self.assertRegex(line, r"guest 1 of 1: BUILD -> ACTIVE after \d+ s")

    def test_error(self):
        self.cloud.compute.final_status = "ERROR"
        message = "guest g1 is in ERROR: Nova gives no reason"
        with self.assertRaisesRegex(errors.GuestError, message):
            self.wait()

    def another(self, name, **attributes):
        """Add another guest, whose server has these attributes."""
        server = self.cloud.compute.create_server(
            name="c", networks=[{"uuid": "n1"}]
        )
        vars(server).update(attributes)
        self.server_ids[name], self.started[name] = server.id, 0.0

    def test_others_go_on(self):
        """One that fails, and one that is removed, are named in one line."""
        self.another("g2", status="ERROR", fault={"message": "no"})
        self.server_ids["g3"], self.started["g3"] = "nowhere", 0.0
        waited = self.wait()
        self.assertEqual(["g1"], list(waited.ready))
        self.assertEqual(["g2", "g3"], list(waited.failed))
        self.assertIn("g2 is in ERROR: no; check", waited.failed["g2"])
        self.assertIn("deleted by another user", waited.failed["g3"])

    def test_others_do_not_wait_for_ever(self):
        self.another("g2", status="RESIZE")
        first = self.cloud.compute.all_servers[self.server_ids["g1"]]
        first.status = "ACTIVE"
        waited = self.wait(timeout=-1)
        self.assertEqual(["g1"], list(waited.ready))
        self.assertEqual(
            {"g2": "guest g2 is RESIZE, not active, after -1 s"},
            waited.failed,
        )

    def test_gone(self):
        self.cloud.compute.all_servers.clear()
        with self.assertRaisesRegex(
            errors.GuestError, "deleted by another user"
        ):
            self.wait()

    def test_late_with_the_end_of_the_console(self):
        self.cloud.compute.final_status = "BUILD"
        with self.assertRaises(errors.GuestError) as caught:
            self.wait(timeout=-1)
        text = str(caught.exception)
        self.assertIn("1 of 1 guests are not active after", text)
        self.assertIn("g1 BUILD", text)
        self.assertTrue(text.endswith("\nBooting\nlogin:"))
