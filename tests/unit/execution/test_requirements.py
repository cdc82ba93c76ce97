import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.execution import station
from rally_vmperf.machines import base
from rally_vmperf.machines import provision
from rally_vmperf.machines import testing
from rally_vmperf.workloads import registry

SYSBENCH = assignment.Assignment(registry.get("sysbench"), {})
THERE = "tool sysbench\npath /usr/bin/sysbench\n"


@ddt.ddt
class RequirementsTestCase(unittest.IsolatedAsyncioTestCase):
    def place(self, role):
        machine = testing.FakeMachine(
            "m1",
            {
                "bash": ["tool sysbench\n", THERE],
                "sh": ["manager=apt-get\n", ""],
                "id -u": "0",
            },
        )
        return station.Station(
            name="m1", machine=machine, role=role, folder="/f"
        )

    async def ensure(self, place):
        return await requirements.ensure(
            [SYSBENCH], [place], None, supply=provision.Supply()
        )

    async def test_guests_get_what_they_lack(self):
        found = await self.ensure(self.place("guest"))
        self.assertEqual("/usr/bin/sysbench", found["m1"]["sysbench"].path)

    @ddt.data("copy", "peer")
    async def test_nothing_is_installed_elsewhere(self, role):
        place = self.place(role)
        with self.assertRaisesRegex(
            base.MachineError, "install it there: apt-get install sysbench"
        ):
            await self.ensure(place)
        self.assertEqual(2, len(place.machine.commands))
