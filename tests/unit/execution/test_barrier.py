# SPDX-License-Identifier: Apache-2.0
"""Tests of the place where machines wait for one another."""

import asyncio
import time
import unittest
from unittest import mock

from rally_vmperf.execution import barrier
from rally_vmperf.machines import base


class TestMeeting(unittest.IsolatedAsyncioTestCase):
    """All machines start at one instant, without a futile wait."""

    def setUp(self):
        """Let three meet."""
        super().setUp()
        self.barrier = barrier.StartBarrier(["a", "b", "c"])

    def wait_for_start(self, name, seconds=0.0):
        """Say that a machine is ready."""
        return asyncio.create_task(self.barrier.wait_for_start(name, seconds))

    def wait_for_end(self, name):
        """Say that a machine has done its counted work."""
        return asyncio.create_task(self.barrier.wait_for_end(name))

    async def waits(self, *tasks):
        """Expect that none of them goes on."""
        await asyncio.sleep(0.02)
        self.assertFalse(any(task.done() for task in tasks))

    async def test_one_instant_for_all(self):
        """The last one to come sets it."""
        first, second = self.wait_for_start("a"), self.wait_for_start("b")
        await self.waits(first, second)
        before = time.time()
        instants = await asyncio.gather(
            first, second, self.wait_for_start("c")
        )
        self.assertEqual(1, len(set(instants)))
        self.assertGreater(instants[0], before)

    async def test_the_slowest_says_how_far_ahead(self):
        """As long as it took to be ready, and half as long again."""
        with mock.patch.object(
            barrier.time, "time", autospec=True, return_value=1000.0
        ):
            tasks = [
                self.wait_for_start(name, seconds)
                for name, seconds in (("a", 1), ("b", 4), ("c", 2))
            ]
            self.assertEqual([1006.0] * 3, await asyncio.gather(*tasks))

    async def test_the_instant_is_never_far(self):
        """A machine without a connection delays the others by seconds only."""
        with mock.patch.object(
            barrier.time, "time", autospec=True, return_value=1000.0
        ):
            tasks = [self.wait_for_start(name, 500) for name in "abc"]
            self.assertEqual([1030.0] * 3, await asyncio.gather(*tasks))

    async def test_who_leaves_is_not_waited_for(self):
        """Neither at the start nor at the end."""
        tasks = [self.wait_for_start("a"), self.wait_for_start("b")]
        await self.waits(*tasks)
        self.barrier.leave("c")
        await asyncio.gather(*tasks)
        ended = self.wait_for_end("a")
        await self.waits(ended)
        self.barrier.leave("b")
        self.barrier.leave("b")
        await ended

    async def test_the_end_waits_for_all(self):
        """The load is kept up until the last one has done its work."""
        await asyncio.gather(*(self.wait_for_start(name) for name in "abc"))
        tasks = [self.wait_for_end("a"), self.wait_for_end("b")]
        await self.waits(*tasks)
        await asyncio.gather(*tasks, self.wait_for_end("c"))

    async def test_late_comers_are_left_out(self):
        """The others begin without them, and end without them."""
        with mock.patch.object(barrier, "PATIENCE", 0.05):
            await asyncio.gather(
                self.wait_for_start("a"), self.wait_for_start("b")
            )
            with self.assertRaisesRegex(base.MachineError, "c was not ready"):
                await self.wait_for_start("c")
        await asyncio.gather(self.wait_for_end("a"), self.wait_for_end("b"))

    async def test_all_may_leave(self):
        """The barrier ends without machines."""
        for name in "abc":
            self.barrier.leave(name)
