# SPDX-License-Identifier: Apache-2.0
"""Tests of readings around the stop of a guest."""

import asyncio
import time
import unittest
from unittest import mock

from rally_vmperf.execution.stations import event_monitor
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.machines import testing


class Prober:
    """A guest that is away for some probes, and then has another boot.

    :param absent: The number of probes without an answer.
    :param boots: The boot identifiers, one for each time it is asked.
    """

    name = "g1"
    read_boot_id = base.Machine.read_boot_id

    def __init__(self, absent, boots):
        self.absent = absent
        self.boots = iter(boots)
        self.closed = 0

    async def wait_ready(self, seconds, on_wait):
        for _ in range(self.absent):
            await asyncio.sleep(0.05)
            on_wait("no route")
        await asyncio.sleep(0.05)
        if not self.absent:
            raise base.Unreachable("g1: no SSH")

    async def run(self, argv, timeout):
        return testing.completed(f"{next(self.boots)}\n")

    async def close(self):
        self.closed += 1


class TestStop(unittest.IsolatedAsyncioTestCase):
    """The time between the last answer and the first one of a new boot."""

    def setUp(self):
        """Have a guest whose clock is read for 0.2 s, and not after."""
        super().setUp()
        self.machine = testing.FakeMachine("g1")
        self.enterContext(mock.patch.object(event_monitor, "_SILENT", 0.1))
        self.enterContext(mock.patch.object(clock, "follow", new=self.follow))
        self.followed = 0

    async def follow(self, machine, interval, on_reading):
        """Read the clock for a while, after each connection."""
        self.followed += 1
        for _ in range(10):
            on_reading(time.time(), clock.Reading(offset=0.0, error=0.001))
            await asyncio.sleep(0.02)
        await asyncio.Event().wait()

    async def monitor(self, prober):
        """Return the monitor after its decision, and what it was."""
        station = roles.Station(name="g1", machine=self.machine, role="guest")
        monitor = event_monitor.Monitor(
            station, "192.0.2.1", None, prober, patience=5.0
        )
        begun = time.time()
        self.assertEqual("", await monitor.begin())
        async with asyncio.timeout(10):
            returned = await monitor.wait_for_return()
        await monitor.end()
        return monitor, returned, begun

    async def test_reboot(self):
        """Its bounds are the probes around it."""
        prober = Prober(4, ["first", "second"])
        monitor, returned, begun = await self.monitor(prober)
        self.assertTrue(returned)
        stop = monitor.stop
        self.assertLess(begun, stop.last)
        self.assertLess(stop.last, stop.silent)
        self.assertLess(stop.silent, stop.absent)
        self.assertLess(stop.absent, stop.answered)
        estimate = stop.estimate_downtime()
        self.assertLess(estimate.error, estimate.value)
        self.assertTrue(estimate.contains(stop.absent - stop.last))
        # The clock is read again, over new connections.
        self.assertEqual(2, self.followed)
        self.assertTrue(self.machine.closed)

    async def test_slow_guest(self):
        """A guest that was silent, and has not booted, has not stopped."""
        prober = Prober(1, ["first", "first", "second"])
        _, returned, _ = await self.monitor(prober)
        self.assertTrue(returned)
        self.assertGreaterEqual(prober.closed, 2)

    async def test_no_return(self):
        prober = Prober(0, ["first"])
        monitor, returned, _ = await self.monitor(prober)
        self.assertFalse(returned)
        self.assertEqual("g1: no SSH", monitor.reasons["stop"])

    async def test_unknown_boot(self):
        """A guest that hides its boot may have booted."""
        monitor, returned, _ = await self.monitor(Prober(1, ["first", ""]))
        self.assertFalse(returned)
        self.assertIn("boot_id cannot be read", monitor.reasons["stop"])

    async def test_given_up(self):
        """An event that failed stops no guest."""
        prober = Prober(1, ["first"])
        prober.wait_ready = lambda *_: asyncio.sleep(60)
        station = roles.Station(name="g1", machine=self.machine, role="guest")
        monitor = event_monitor.Monitor(
            station, "192.0.2.1", None, prober, patience=5.0
        )
        await monitor.begin()
        monitor.give_up()
        self.assertFalse(await monitor.wait_for_return())
        await monitor.end()
