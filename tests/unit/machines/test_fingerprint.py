import pathlib
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import local
from rally_vmperf.machines import testing


class TakeTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_this_computer(self):
        facts = await fingerprint.collect(local.Local("here"))
        self.assertGreater(facts["memory_bytes"], 1 << 20)
        self.assertGreaterEqual(facts["threads"], 1)
        self.assertRegex(facts["boot_id"], "^[0-9a-f]{16}$")
        told = pathlib.Path("/sys/devices/system/cpu/isolated")
        if told.exists():
            self.assertEqual(
                told.read_text().strip() or "none", facts["isolated_cpus"]
            )
        again = await fingerprint.collect(local.Local("here"))
        self.assertEqual(facts, again)

    async def test_a_machine_that_cannot(self):
        machine = testing.FakeMachine(
            "g1", {"sh": testing.completed(stderr="sh: bad", exit_status=2)}
        )
        with self.assertRaisesRegex(base.MachineError, "g1 .*sh: bad"):
            await fingerprint.collect(machine)
