# SPDX-License-Identifier: Apache-2.0
"""Tests for the guests' context on a cloud that fails, call by call."""

import itertools
from unittest import mock

import ddt
from keystoneauth1 import exceptions as auth_errors
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.plugins import contexts
from tests.unit.guests import testing
from tests.unit.plugins.contexts import test_guests


def status(number, kind=sdk_errors.HttpException):
    return kind("x", http_status=number, details=f"fault {number}")


FAULTS = {
    "400": status(400, sdk_errors.BadRequestException),
    "403": status(403, sdk_errors.ForbiddenException),
    "404": status(404, sdk_errors.NotFoundException),
    "409": status(409, sdk_errors.ConflictException),
    "413": status(413),
    "429": status(429),
    "500": status(500),
    "503": status(503),
    "hang": auth_errors.ConnectTimeout("fault hang"),
    "reset": auth_errors.ConnectFailure("fault reset"),
    "truncated": auth_errors.UnknownConnectionError("fault cut", None),
    "garbage": cloud.InvalidResponse("fault garbage"),
    "certificate": auth_errors.SSLError("fault certificate"),
    "catalog": auth_errors.EndpointNotFound("fault catalog"),
}

#: Calls without which nobody can see or remove what there is.
NEEDED = {
    "servers",
    "ips",
    "ports",
    "server_groups",
    "volumes",
    "security_groups",
    "keypairs",
    "delete_server",
    "delete_ip",
    "delete_security_group",
    "delete_keypair",
}
#: Those of them whose refusal says that there can be nothing.
SPARED = {("403", "server_groups")}


def calls_of_a_run():
    """Return the names of the calls of set-up and of clean-up."""
    case = test_guests.Case()
    case.setUp()
    context = case.context()
    context.setup()
    boot = list(case.cloud.calls)
    context.cleanup()
    case.doCleanups()
    return boot, case.cloud.calls[len(boot) :]


BOOT, CLEAN = calls_of_a_run()


class Fault:
    """A failure of one call: the k-th, or of all of this name from then on.

    :param after: True if the call takes effect before it fails.
    """

    def __init__(self, error, at, *, after=False, lasting=False):
        self.error, self.at = error, at
        self.after, self.lasting = after, lasting
        self.count = 0
        self.name = None

    def __call__(self, name, done):
        if done is not self.after:
            return
        self.count += 1
        if self.count == self.at:
            self.name = name
        if self.count == self.at or (self.lasting and name == self.name):
            raise self.error


@ddt.ddt
class FaultTest(test_guests.Case):
    """Any failure is reported in one line, and nothing stays behind."""

    def setUp(self):
        super().setUp()
        clock = mock.Mock(monotonic=itertools.count(0, 5).__next__)
        for module in (removal, waiting):
            patch = mock.patch.object(module, "time", clock)
            patch.start()
            self.addCleanup(patch.stop)

    def fault_in(self, fault):
        """Set up and clean up; return the error that Rally sees, if any."""
        self.cloud = testing.FakeCloud(fault)
        context = self.context()
        with mock.patch.object(contexts.LOG, "error", autospec=True) as log:
            try:
                context.setup()
                context.cleanup()
            except errors.GuestError as error:
                return str(error), [call.args[0] for call in log.mock_calls]
        return None, []

    @ddt.data(*FAULTS)
    def test_one_call_fails(self, kind):
        """Each call fails once, before and after it took effect."""
        for at, after in itertools.product(
            range(1, len(BOOT + CLEAN) + 1), (False, True)
        ):
            name = (BOOT + CLEAN)[at - 1]
            with self.subTest(call=f"{at} {name}", after=after):
                fault = Fault(FAULTS[kind], at, after=after)
                error, _ = self.fault_in(fault)
                self.assertIsNotNone(fault.name)
                if error is not None and "console" not in error:
                    self.assertNotIn("\n", error)
                    self.assertIn("fault", error)
                if not name.startswith("delete_") or fault.after:
                    self.assertEqual([], self.cloud.left())
                    self.assertEqual([], self.entries())

    @ddt.data(*FAULTS)
    def test_a_call_fails_from_then_on(self, kind):
        """Resources that stay are named, with a command to remove them."""
        for at in range(1, len(BOOT + CLEAN) + 1):
            name = (BOOT + CLEAN)[at - 1]
            with self.subTest(call=f"{at} {name}"):
                fault = Fault(FAULTS[kind], at, lasting=True)
                error, logged = self.fault_in(fault)
                if name not in NEEDED or (kind, name) in SPARED:
                    self.assertEqual([], self.cloud.left())
                    self.assertEqual([], self.entries())
                    continue
                lines = "\n".join([error, *logged])
                self.assertIn("fault", lines)
                self.assertIn(
                    "rally-vmperf cleanup --task task-1 --yes", lines
                )
                (entry,) = self.entries()
                self.assertEqual(test_guests.OWNER, entry.owner)

    def test_polling_bears_with_a_cloud_in_need(self):
        """Only what will not pass ends the wait for active guests."""
        at = BOOT.index("servers") + 1
        for kind, error in FAULTS.items():
            with self.subTest(kind):
                message, _ = self.fault_in(Fault(error, at))
                stays = kind in ("400", "403", "404", "certificate", "catalog")
                self.assertEqual(stays, message is not None)
