# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import testing


class AsRootTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_root_stays_as_it_is(self):
        machine = testing.FakeMachine("h", {"id -u": "0\n"})
        self.assertIs(machine, await root.as_root(machine))

    async def test_others_use_sudo(self):
        machine = testing.FakeMachine("h", {"id -u": "1000\n", "sudo": ""})
        elevated = await root.as_root(machine)
        await elevated.run(["reboot", "now"])
        self.assertEqual(
            ("sudo", "-n", "--", "reboot", "now"), machine.commands[-1]
        )
        await elevated.put(b"x", "/etc/x")
        self.assertEqual(b"x", machine.calls[-1].input_bytes)
        self.assertIs(elevated, await root.as_root(elevated))
        await elevated.close()
        self.assertFalse(machine.closed)

    async def test_sudo_that_needs_a_password(self):
        refused = testing.completed(stderr="sudo: no\n", exit_status=1)
        machine = testing.FakeMachine("h", {"id -u": "7\n", "sudo": refused})
        with self.assertRaisesRegex(base.MachineError, "h: .*sudo: no"):
            await root.as_root(machine)
