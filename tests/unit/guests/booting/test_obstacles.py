# SPDX-License-Identifier: Apache-2.0
"""Tests of the wait for guests that will never answer."""

import unittest
from unittest import mock

from rally_vmperf.guests import console
from rally_vmperf.guests.booting import obstacles
from rally_vmperf.machines import base
from tests.unit.guests import made
from tests.unit.guests import test_console_signs
from tests.unit.guests import testing

FINISHED = "Cloud-init v. 22.4.2 finished at Thu, 26 Nov 2026. Up 20 seconds\n"
#: A line of the image that ``rally-vmperf image build`` makes.
CONFIGURED = "[ 18.4] python3[225]: vmperf-guest: finished with the data\n"
DENIED = base.Denied("g1: 10.0.0.3 rejects the key; check the user name")
SILENT = base.Unreachable("g1: no SSH")
#: One cause, and one remedy.
REJECTED = (
    "it rejects the key of user 'centos' although its boot has ended; set "
    "user to the login name of its image"
)
#: The first line of a kernel.
LINUX = "[    0.000000] Linux version 6.1.0-41-cloud-amd64 (debian-kernel@...)"
#: An oops as Linux 6.1 prints it.
OOPS = """\
[  201.5] BUG: kernel NULL pointer dereference, address: 0000000000000008
[  201.5] #PF: supervisor read access in kernel mode
[  201.5] Oops: 0000 [#1] PREEMPT SMP NOPTI
[  201.5] ---[ end trace 0000000000000000 ]---
"""


class ObstacleTest(unittest.TestCase):
    """Obstacles that Nova reports for a guest that rejects the login."""

    def setUp(self):
        """Have a guest, and a clock that shows each request's time."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.server = self.cloud.compute.create_server(
            name="g1", networks=[{"uuid": "n1"}]
        )
        guest = made.guest("g1", id=self.server.id, user="centos")
        self.obstacles = obstacles.Obstacles(self.cloud, [guest])
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
        self.assertEqual(REJECTED, self.find())

    def test_key_that_the_guest_image_rejects(self):
        """Its console has no line of cloud-init."""
        self.cloud.compute.console = CONFIGURED
        self.assertEqual("", self.find())
        self.assertEqual(REJECTED, self.find())

    def test_guest_that_does_not_answer(self):
        """Its network may still need time, and the timeout decides."""
        self.cloud.compute.console = FINISHED
        self.assertEqual(["", ""], [self.find(SILENT), self.find(SILENT)])

    def test_panic(self):
        """The second request, less than a minute later, decides."""
        path = test_console_signs.DATA / "linux-6.1-panic.txt"
        self.cloud.compute.console = path.read_text()
        self.assertEqual("", self.find(SILENT))
        self.assertEqual(
            f"by its console {console.NO_ROOT}", self.find(SILENT)
        )
        # It is not requested again.
        self.cloud.compute.console = FINISHED
        self.assertIn("by its console", self.find(SILENT))

    def test_oops(self):
        """A kernel that has failed does not answer."""
        self.cloud.compute.console = f"{LINUX}\ndebian login:\n{OOPS}"
        self.assertEqual("", self.find(SILENT))
        self.assertEqual(f"by its console {console.OOPS}", self.find(SILENT))

    def test_guest_that_restarts(self):
        """A failure before the latest boot, or before more output."""
        self.cloud.compute.console = f"{LINUX}\n{OOPS}{LINUX}\n"
        self.assertEqual(["", ""], [self.find(SILENT), self.find(SILENT)])
        for number in range(3):
            self.cloud.compute.console = f"{LINUX}\n{OOPS}[ OK ] {number}\n"
            self.assertEqual("", self.find(SILENT))

    def test_failure_that_may_end(self):
        """The guest may get an address later."""
        self.cloud.compute.console = "No DHCPOFFERS received.\n"
        self.assertEqual(["", ""], [self.find(SILENT), self.find(SILENT)])

    def test_deleted_guest(self):
        """No further attempt is made."""
        self.cloud.compute.all_servers.clear()
        self.assertIn(
            "the server of g1 does not exist any more",
            self.find(SILENT),
        )
