# SPDX-License-Identifier: Apache-2.0
"""Tests of bare metal that is rebooted."""

import asyncio
import pathlib
import unittest
from unittest import mock

from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import shapes
from rally_vmperf.machines import testing
from rally_vmperf.runs import conditions
from rally_vmperf.runs import host_reboot

AWAY = base.Unreachable("metal is away")
DENIED = testing.completed(stderr="a password is required", exit_status=1)


def metal(*boots, **answers):
    """Return bare metal with these boot identifiers, one after the other."""
    return testing.FakeMachine(
        "metal", {"cat": list(boots), "id": "0\n", "sh": "", **answers}
    )


class TestCheck(unittest.TestCase):
    """Only another machine is rebooted, and by root."""

    def test_refused(self):
        """This one by any name, and a user who may not."""
        boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        for machine, message in (
            (
                local.Local("metal"),
                "metal is the machine that runs this program",
            ),
            (
                metal(boot_id),
                "which cannot be rebooted; use --reboot never",
            ),
            (metal("\n"), "boot_id cannot be read"),
            (metal("b1\n", id="7\n", sudo=DENIED), "cannot become root"),
        ):
            with self.assertRaisesRegex(base.MachineError, message):
                asyncio.run(host_reboot.check_permission(machine))
        asyncio.run(host_reboot.check_permission(metal("b1\n")))


@mock.patch.object(host_reboot, "_POLL", 0)
class TestReboot(unittest.TestCase):
    """It is waited for, and limited to its shape again."""

    def reboot(self, machine):
        """Return the action, with a copy that has no limits so far."""
        runner = asyncio.Runner()
        self.addCleanup(runner.close)
        self.copy = roles.Station(
            name="copy-1", machine=machine, role="copy", prefix=("old",)
        )
        self.session = sessions.Session(
            assignments=(),
            stations=[self.copy],
            peer=None,
            progress=lambda line: None,
            runner=runner,
        )
        self.session.last_look = {"copy-1": None}

        async def reapply_limits():
            return shapes.ResourceLimits(
                limited_by="cgroup2", prefixes=(("new",),)
            )

        return host_reboot.HostReboot(
            machine=machine,
            session=self.session,
            reapply_limits=reapply_limits,
            progress=lambda line: None,
        )

    def before(self, reboot, repetition):
        """Run the action before a repetition; return its errors."""
        return reboot.before(
            conditions.CurrentCondition(
                condition=conditions.PlannedCondition(),
                repetition=repetition,
                machines=("copy-1",),
            )
        ).errors

    def test_between_repetitions(self):
        """It answers again with another boot, after being away."""
        machine = metal("b1\n", "b1\n", AWAY, "b2\n")
        reboot = self.reboot(machine)
        self.assertEqual({}, self.before(reboot, 1))
        self.assertEqual([], machine.commands)
        self.assertEqual({}, self.before(reboot, 2))
        names = [argv[3:4] for argv in machine.commands]
        self.assertEqual(1, names.count(("reboot.sh",)))
        self.assertEqual(("settle.sh",), names[-1])
        self.assertEqual(("new",), self.copy.prefix)
        self.assertEqual({}, self.session.last_look)

    def test_it_does_not_come_back(self):
        """The copies have nothing to measure on."""
        reboot = self.reboot(metal("b1\n", AWAY))
        self.before(reboot, 1)
        with mock.patch.object(host_reboot, "TIMEOUT", -1):
            errors = self.before(reboot, 2)
        self.assertRegex(errors["copy-1"], "has not rebooted within")
        self.assertEqual(("old",), self.copy.prefix)
