# SPDX-License-Identifier: Apache-2.0
"""Tests of volumes that workloads measure."""

import asyncio
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.execution import volumes
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.workloads import base as workloads

GIB = 1 << 30
DEVICE = devices.Attached("/dev/vdb", GIB)


class Targeting(workloads.Workload):
    """A workload with given targets."""

    name = "targeting"
    part = "disk"
    ARGUMENTS = {}  # noqa: RUF012
    METRICS = ()
    TOOLS = ()

    def __init__(self, *targets):
        self._targets = targets

    def targets(self, arguments):
        return self._targets

    def commands(self, arguments, endpoints):
        return ()

    def parse(self, arguments, result):
        return []


def assign(form, size=GIB, number=1, label=""):
    """Return a workload with one target."""
    target = workloads.Target(number=number, form=form, size=size)
    return assignment.Assignment(
        Targeting(target), {"target": "volume"}, label
    )


@ddt.ddt
class DescribeTest(unittest.TestCase):
    @ddt.data(
        ([], ""),
        ([assign("device"), assign("device", label="b")], ""),
        ([assign("filesystem"), assign("device", number=2)], ""),
        (
            [assign("filesystem"), assign("device", label="b")],
            "workload targeting-b writes to the device of volume 1, and "
            "targeting needs a file system on it; measure them in two tasks, "
            "or set target: root for one of them",
        ),
    )
    @ddt.unpack
    def test_conflict(self, assignments, text):
        self.assertEqual(text, volumes.describe_conflict(assignments))

    @ddt.data(
        ([assign("device")], [GIB], ""),
        ([assignment.Assignment(Targeting(), {})], [], ""),
        (
            [assign("device")],
            [],
            "workload targeting target=volume: requires volume 1, and g1 has "
            "0 volumes; add one, or set target: root",
        ),
        (
            [assign("device", number=2)],
            [GIB],
            "workload targeting target=volume: requires volume 2, and g1 has "
            "1 volume; add one, or set target: root",
        ),
        (
            [assign("device", size=3 * GIB // 2)],
            [GIB],
            "workload targeting target=volume: requires 1.5 GiB, and volume 1 "
            "of g1 has 1.0 GiB; add one, or reduce the size in its arguments",
        ),
        ([assign("filesystem", size=GIB)], [2 * GIB], ""),
        (
            [assign("filesystem", size=GIB)],
            [GIB],
            "workload targeting target=volume: requires 1.00 GiB, and a file "
            "system on volume 1 of g1 has 0.97 GiB; add one, or reduce the "
            "size in its arguments",
        ),
    )
    @ddt.unpack
    def test_shortage(self, assignments, sizes, text):
        self.assertEqual(
            text,
            volumes.describe_shortage(assignments, sizes, "g1", "add one"),
        )


class AttachTest(unittest.TestCase):
    """Volumes are provided before the run, and again after boots."""

    def setUp(self):
        super().setUp()
        self.attach = self.enterContext(
            mock.patch.object(
                devices, "attach", mock.AsyncMock(return_value=[DEVICE])
            )
        )
        self.station = roles.Station(
            name="g1",
            machine=testing.FakeMachine("g1"),
            role="guest",
            folder="/work",
            volumes=(devices.Device(id="v1", least=GIB, most=GIB),),
        )
        self.bare = roles.Station(
            name="g2", machine=testing.FakeMachine("g2"), role="guest"
        )

    def test_first_time(self):
        sizes = asyncio.run(
            volumes.attach(
                [self.station],
                [
                    assign("filesystem", 9),
                    assignment.Assignment(Targeting(), {}),
                ],
            )
        )
        self.assertEqual({"g1": [DEVICE]}, sizes)
        self.attach.assert_awaited_once_with(
            self.station.machine,
            "/work",
            self.station.volumes,
            forms={1: "filesystem"},
            titles=["targeting"],
            is_new=True,
        )

    def test_unused_volumes(self):
        """They are verified, too."""
        asyncio.run(volumes.attach([self.station], []))
        self.assertEqual({}, self.attach.call_args.kwargs["forms"])

    def test_station_without_volumes(self):
        asyncio.run(volumes.attach([self.bare], []))
        self.attach.assert_not_awaited()
        with self.assertRaisesRegex(base.MachineError, "g2 has 0 volumes"):
            asyncio.run(volumes.attach([self.bare], [assign("device")]))

    def repeat(self):
        """Return what a repetition gives as the reasons of lost stations."""
        session = sessions.Session(
            assignments=(assign("device"),),
            stations=[self.station, self.bare],
            peer=None,
            progress=lambda line: None,
            runner=asyncio.Runner(),
        )
        self.addCleanup(session.runner.close)
        session.runner.run(volumes.attach([self.station], session.assignments))
        lost = []

        async def measure(*arguments, **options):
            lost.append(options["lost"])
            return []

        async def count(stations):
            return {station.name: mock.Mock() for station in stations}

        with (
            mock.patch("rally_vmperf.execution.measure.repetition", measure),
            mock.patch.multiple(
                "rally_vmperf.execution.stations.health",
                read_counters=count,
                compare=lambda before, after: [],
                count_cpu_time=lambda before, after: {},
            ),
        ):
            for _ in range(2):
                session.repeat(measured.Measured())
        return lost

    def test_next_repetition(self):
        self.assertEqual([{}, {}], self.repeat())
        self.assertEqual(
            [True, False],
            [call.kwargs["is_new"] for call in self.attach.await_args_list],
        )

    def test_volume_that_is_gone(self):
        """Its guest is not measured, for this reason."""
        self.attach.side_effect = [
            [DEVICE],
            base.MachineError("g1: no volume"),
        ]
        self.assertEqual([{}, {"g1": "g1: no volume"}], self.repeat())
