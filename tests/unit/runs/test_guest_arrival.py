"""Tests of the wait for guests that will never answer."""

import unittest
from unittest import mock

from rally_vmperf.machines import base
from rally_vmperf.runs import guest_arrival
from tests.unit.guests import testing

FINISHED = "Cloud-init v. 22.4.2 finished at Thu, 26 Nov 2026. Up 20 seconds\n"
#: A line of the image that ``rally-vmperf image build`` makes.
CONFIGURED = "[ 18.4] python3[225]: vmperf-guest: finished with the data\n"
DENIED = base.Denied("g1: 10.0.0.3 rejects the key; check the user name")


class ObstacleTest(unittest.TestCase):
    """Obstacles that Nova reports for a guest that rejects the login."""

    def setUp(self):
        """Have a guest, and a clock that shows each request's time."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.server = self.cloud.compute.create_server(
            name="g1", networks=[{"uuid": "n1"}]
        )
        self.obstacles = guest_arrival._Obstacles(
            self.cloud, {"g1": self.server.id}
        )
        clock = mock.patch(
            "time.monotonic", autospec=True, side_effect=range(0, 900, 30)
        )
        clock.start()
        self.addCleanup(clock.stop)

    def find(self, error=DENIED):
        """Return what the next failed attempt shows."""
        return self.obstacles.find("g1", error)

    def test_key_that_is_rejected_after_the_boot(self):
        """The attempt after the end of cloud-init decides."""
        self.cloud.compute.console = "Cloud-init v. 22.4.2 running 'init'\n"
        self.assertEqual(["", ""], [self.find(), self.find()])
        self.cloud.compute.console = FINISHED
        self.assertEqual("", self.find())
        self.assertIn("the guest is configured", self.find())

    def test_key_that_the_guest_image_rejects(self):
        """Its console has no line of cloud-init."""
        self.cloud.compute.console = CONFIGURED
        self.assertEqual("", self.find())
        self.assertIn("the guest is configured", self.find())

    def test_guest_that_does_not_answer(self):
        """Its network may still need time, and the timeout decides."""
        self.cloud.compute.console = FINISHED
        silent = base.Unreachable("g1: no SSH")
        self.assertEqual(["", ""], [self.find(silent), self.find(silent)])

    def test_deleted_guest(self):
        """No further attempt is made."""
        self.cloud.compute.all_servers.clear()
        self.assertIn(
            "the server of g1 does not exist any more",
            self.find(base.Unreachable("g1: no SSH")),
        )
