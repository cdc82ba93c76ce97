# SPDX-License-Identifier: Apache-2.0
"""Tests of neighbours, by processes on this computer."""

import asyncio
import pathlib
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import neighbours
from rally_vmperf.execution import ports
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import local
from rally_vmperf.workloads import base
from tests.unit.execution import test_measure
from tests.unit.machines import folders


class Ticking(test_measure.Echo):
    """Its two commands leave a line each in the workload's folder."""

    def commands(self, arguments, endpoints):
        """Return both, with the port that they would use."""
        return tuple(
            base.Command(
                name=name,
                argv=("sh", "-c", f"echo '{name} 1' >>ticks; {self.then}"),
                timeout=10,
            )
            for name in ("rate", "size")
        )

    then = "sleep 0.01"


class Failing(Ticking):
    """Goes on until the third round."""

    then = "[ $(wc -l <ticks) -lt 5 ] || { echo no space >&2; exit 7; }"


class TestLoad(unittest.IsolatedAsyncioTestCase):
    """Commands are repeated until they are ended, or one fails."""

    def load(self, workload, measured=(), peer=None, **changes):
        """Return the load of one neighbour."""
        self.folder = pathlib.Path(folders.made(self))
        station = roles.Station(
            name="g2",
            machine=local.Local("g2"),
            role="guest",
            folder=str(self.folder),
        )
        work = assignment.Assignment(workload, {}, "neighbour")
        return neighbours.NeighbourLoad(
            work=work,
            measured=measured,
            stations=[station],
            others=2,
            peer=peer,
            settling=0.1,
            **changes,
        )

    def ticks(self):
        """Return what the commands left so far."""
        path = self.folder / "echo-neighbour" / "ticks"
        return path.read_text().splitlines() if path.exists() else []

    async def test_throughout(self):
        """Round after round; nothing is left when they are ended."""
        load = self.load(Ticking())
        self.assertEqual({}, await load.begin())
        for _ in range(1000):
            if len(self.ticks()) > 5:
                break
            await asyncio.sleep(0.02)
        self.assertEqual({}, await load.end())
        ticks = self.ticks()
        self.assertEqual(["rate 1", "size 1", "rate 1"], ticks[:3])
        self.assertGreater(len(ticks), 5)
        self.assertEqual([], [*self.folder.glob("*/.job-*")])
        self.assertEqual({}, await load.end())

    async def test_one_that_fails(self):
        """The finding of the condition has its last output."""
        load = self.load(Failing())
        self.assertEqual({}, await load.begin())
        for _ in range(1000):
            if len(self.ticks()) > 4:
                break
            await asyncio.sleep(0.02)
        (name,) = load._jobs
        for _ in range(1000):
            if not await load._jobs[name].running():
                break
            await asyncio.sleep(0.02)
        self.assertEqual(
            {
                "g2": "neighbour g2 did not run echo throughout: sh ended "
                "with 7: no space"
            },
            await load.end(),
        )

    async def test_one_that_cannot_start(self):
        """It is named, and ending it is harmless."""
        load = self.load(Ticking())
        load.stations[0].folder = "/proc/nowhere"
        problems = await load.begin()
        self.assertIn("neighbour g2: g2: command", problems["g2"])
        await load.end()

    def test_ports(self):
        """No measured machine has them."""
        measured = assignment.assign([{"name": "iperf3"}])
        (work,) = assignment.assign([{"name": "iperf3", "label": "x"}])
        load = self.load(Ticking(), measured)
        load.work = work
        used = ports.used_ports(measured, 2)
        (endpoints,) = load._assign_endpoints()
        self.assertEqual(3, len(endpoints.own_ports))
        self.assertEqual(set(), {*endpoints.own_ports} & {*used})


class TestArgument(unittest.TestCase):
    """The argument of a scenario."""

    def test_none(self):
        """Without one there are none."""
        self.assertIsNone(neighbours.create_neighbours(None))

    def test_complete(self):
        """The arguments of the workload are complete, and it has a label."""
        created = neighbours.create_neighbours(
            {"guests": 2, "workload": {"name": "stress_ng"}}
        )
        self.assertEqual("stress_ng-neighbour", created.work.title)
        self.assertEqual(2, created.plain()["guests"])
        self.assertIn("time", created.plain()["arguments"])

    def test_pairs(self):
        """Neighbours have no partner."""
        workload = {
            "name": "iperf3",
            "arguments": {"directions": ["guest_to_guest"]},
        }
        with self.assertRaisesRegex(base.WorkloadError, "requires a partner"):
            neighbours.create_neighbours({"guests": 2, "workload": workload})
