# SPDX-License-Identifier: Apache-2.0
"""Tests of caches that are dropped before commands."""

import asyncio
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from rally_vmperf.execution import assignment
from rally_vmperf.execution import caches
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from tests.unit.execution import test_measure

READ_ONLY = testing.completed(
    stderr="sh: 1: cannot create /proc/sys/vm/drop_caches: Read-only\n",
    exit_status=2,
)


def place(machine, name="g1"):
    """Return a station on a machine."""
    return roles.Station(name=name, machine=machine, role="guest")


class TestDrop(unittest.TestCase):
    """Each machine drops its caches once, as root, and reports a failure."""

    def drop(self, *places):
        """Return why machines did not."""
        return asyncio.run(caches.Caches().drop(places))

    def test_script(self):
        """It writes what the kernel wants, and fails where it may not."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "drop_caches")
            argv = scripts.argv("drop_caches.sh", str(path))
            subprocess.run(argv, check=True)
            self.assertEqual("3\n", path.read_text())
            argv = scripts.argv("drop_caches.sh", folder)
            done = subprocess.run(argv, check=False, capture_output=True)
            self.assertNotEqual(0, done.returncode)

    def test_copies_of_one_machine(self):
        """It is asked once, however many work on it."""
        machine = testing.FakeMachine("metal", {"id": "0\n", "sh": ""})
        self.assertEqual(
            {}, self.drop(place(machine, "c1"), place(machine, "c2"))
        )
        self.assertEqual(["id", "sh"], [argv[0] for argv in machine.commands])

    def test_by_sudo(self):
        """A user who is not root becomes it."""
        machine = testing.FakeMachine("g1", {"id": "1000\n", "sudo": ""})
        self.assertEqual({}, self.drop(place(machine)))
        self.assertEqual("drop_caches.sh", machine.commands[-1][6])

    def test_refused(self):
        """The station, the reason and the way out are named."""
        denied = testing.completed(
            stderr="sudo: a password is required\n", exit_status=1
        )
        for answers, pattern in (
            ({"id": "1000\n", "sudo": denied}, "drop_caches: g1: .*password"),
            ({"id": "0\n", "sh": READ_ONLY}, "Read-only; remove drop_caches"),
            ({"id": base.Unreachable("g1 is away")}, "g1 is away"),
        ):
            station = place(testing.FakeMachine("g1", answers))
            error = self.drop(station)["g1"]
            self.assertRegex(str(error), pattern)
            with self.assertRaisesRegex(base.MachineError, pattern):
                asyncio.run(caches.Caches().check([station]))


class Dropping(local.Local):
    """This computer, whose caches are not its own.

    :param answers: The answers to the requests to drop them, in order.
    """

    def __init__(self, name, log, *answers):
        super().__init__(name)
        self.log, self.answers = log, list(answers)

    async def run(self, argv, **limits):
        """Note what is dropped and what is run; run all else."""
        if argv[0] == "id":
            return testing.completed("0\n")
        if "drop_caches.sh" in argv[3:4]:
            self.log.append(f"{self.name} drops")
            return self.answers.pop(0) if self.answers else testing.completed()
        if {"run", "arm"} & {*argv[4:5]}:
            self.log.append(f"{self.name} {argv[-1]}")
        return await super().run(argv, **limits)


class TestBeforeCommands(test_measure.Case):
    """Every command of a workload that asks for it has cold caches."""

    def measure_cold(self, *answers, cooldown=0.0):
        """Return what was done in which order, and the results."""
        log = []
        for station in self.stations:
            station.machine = Dropping(station.name, log, *answers)
        result = measured.Measured()
        cold = assignment.Assignment(
            test_measure.Echo(), {}, cooldown=cooldown, drop_caches=True
        )
        warm = assignment.Assignment(test_measure.Echo(), {}, "warm")
        for station in self.stations:
            for title in ("echo", "echo-warm"):
                pathlib.Path(station.folder, title).mkdir()
        asyncio.run(
            measure.repetition(
                [cold, warm],
                self.stations,
                None,
                lambda line: None,
                result,
                page_caches=caches.Caches(),
            )
        )
        return log, result

    def test_each_command(self):
        """And no command of the other workload; all rest before it."""
        waits = []

        async def wait(seconds, result=None):
            waits.append(seconds)

        self.stations.pop()
        with mock.patch.object(measure.asyncio, "sleep", wait):
            log, result = self.measure_cold(cooldown=7.5)
        self.assertEqual(
            ["c1 drops", "c1 5", "c1 drops", "c1 7", "c1 5", "c1 7"], log
        )
        self.assertEqual([7.5, 7.5, 0, 0], waits)
        self.assertEqual([], result.missing)

    def test_refused(self):
        """A command with warm caches would be another one."""
        _, result = self.measure_cold(READ_ONLY)
        self.assertEqual(
            {("c1", "cpu.echo.rate"), ("c2", "cpu.echo.rate")},
            {(gap.machine, gap.name) for gap in result.missing},
        )
        self.assertIn("Read-only", result.missing[0].reason)
        values = [
            observation.sample.value
            for observation in result.observations
            if observation.source == "c1"
        ]
        self.assertEqual([7.0, 5.0, 7.0], values)
