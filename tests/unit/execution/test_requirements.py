import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.execution import station
from rally_vmperf.machines import base
from rally_vmperf.machines import provision
from rally_vmperf.machines import testing
from rally_vmperf.workloads import registry

(SYSBENCH,) = assignment.assign([{"name": "sysbench"}])
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

    async def test_the_newest_wish_counts(self):
        iperf3 = registry.get("iperf3")
        both = [
            assignment.Assignment(iperf3, iperf3.complete(one), label)
            for one, label in (({}, ""), ({"protocol": "udp"}, "udp"))
        ]
        for order in (both, both[::-1]):
            (tool,) = requirements.tools(order)
            self.assertEqual("3.11", tool.at_least.version)

    @ddt.data(("3.9", "3.9 is older than 3.11: .*; install"), ("3.12", None))
    @ddt.unpack
    async def test_a_tool_that_is_too_old(self, version, message):
        machine = testing.FakeMachine(
            "m1",
            {
                "bash": "tool iperf3\npath /usr/bin/iperf3\n"
                f"version iperf {version} (cJSON 1.7.13)\n"
            },
        )
        place = station.Station(
            name="m1", machine=machine, role="peer", folder="/f"
        )
        udp = assignment.assign(
            [{"name": "iperf3", "arguments": {"protocol": "udp"}}]
        )
        ensured = requirements.ensure(
            udp, [], place, supply=provision.Supply()
        )
        if message is None:
            self.assertIn("iperf3", (await ensured)["m1"])
            return
        with self.assertRaisesRegex(base.MachineError, f"^m1: .*{message}"):
            await ensured
