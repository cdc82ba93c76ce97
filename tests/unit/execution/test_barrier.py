"""Tests of the place where machines wait for one another."""

import asyncio
import time
import unittest
from unittest import mock

from rally_vmperf.execution import barrier
from rally_vmperf.machines import base


class TestMeeting(unittest.IsolatedAsyncioTestCase):
    """All begin at one instant; nobody is waited for in vain."""

    def setUp(self):
        """Let three meet."""
        super().setUp()
        self.meeting = barrier.Meeting(["a", "b", "c"])

    def ready(self, name, seconds=0.0):
        """Say that a machine is ready."""
        return asyncio.create_task(self.meeting.ready(name, seconds))

    def done(self, name):
        """Say that a machine has done its counted work."""
        return asyncio.create_task(self.meeting.done(name))

    async def waits(self, *tasks):
        """Expect that none of them goes on."""
        await asyncio.sleep(0.02)
        self.assertFalse(any(task.done() for task in tasks))

    async def test_one_instant_for_all(self):
        """The last one to come sets it."""
        first, second = self.ready("a"), self.ready("b")
        await self.waits(first, second)
        before = time.time()
        instants = await asyncio.gather(first, second, self.ready("c"))
        self.assertEqual(1, len(set(instants)))
        self.assertGreater(instants[0], before)

    async def test_the_slowest_says_how_far_ahead(self):
        """As long as it took to be ready, and half as long again."""
        with mock.patch.object(
            barrier.time, "time", autospec=True, return_value=1000.0
        ):
            tasks = [
                self.ready(name, seconds)
                for name, seconds in (("a", 1), ("b", 4), ("c", 2))
            ]
            self.assertEqual([1006.0] * 3, await asyncio.gather(*tasks))

    async def test_the_instant_is_never_far(self):
        """One that took minutes over a cut line holds nobody up as long."""
        with mock.patch.object(
            barrier.time, "time", autospec=True, return_value=1000.0
        ):
            tasks = [self.ready(name, 500) for name in "abc"]
            self.assertEqual([1030.0] * 3, await asyncio.gather(*tasks))

    async def test_who_leaves_is_not_waited_for(self):
        """Neither at the start nor at the end."""
        tasks = [self.ready("a"), self.ready("b")]
        await self.waits(*tasks)
        self.meeting.leave("c")
        await asyncio.gather(*tasks)
        ended = self.done("a")
        await self.waits(ended)
        self.meeting.leave("b")
        self.meeting.leave("b")
        await ended

    async def test_the_end_waits_for_all(self):
        """The load is kept up until the last one has done its work."""
        await asyncio.gather(*(self.ready(name) for name in "abc"))
        tasks = [self.done("a"), self.done("b")]
        await self.waits(*tasks)
        await asyncio.gather(*tasks, self.done("c"))

    async def test_late_comers_are_left_out(self):
        """The others begin without them, and end without them."""
        with mock.patch.object(barrier, "PATIENCE", 0.05):
            await asyncio.gather(self.ready("a"), self.ready("b"))
            with self.assertRaisesRegex(base.MachineError, "c was not ready"):
                await self.ready("c")
        await asyncio.gather(self.done("a"), self.done("b"))

    async def test_all_may_leave(self):
        """Nobody is left to wait."""
        for name in "abc":
            self.meeting.leave(name)
