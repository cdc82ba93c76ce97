import asyncio
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import roster
from rally_vmperf.machines import testing


class EachTestCase(unittest.IsolatedAsyncioTestCase):
    machines = (testing.FakeMachine("a"), testing.FakeMachine("b"))

    async def test_results_and_errors_by_name(self):
        error = base.Unreachable("b is away")

        async def ask(machine):
            if machine.name == "b":
                raise error
            return 1

        answers = await roster.each(self.machines, ask)
        self.assertEqual({"a": 1, "b": error}, answers)

    async def test_all_at_once(self):
        barrier = asyncio.Barrier(2)

        async def meet(machine):
            await barrier.wait()

        await asyncio.wait_for(roster.each(self.machines, meet), 10)

    async def test_a_defect_is_no_answer_and_ends_the_rest(self):
        ended = []

        async def ask(machine):
            if machine.name == "b":
                raise ZeroDivisionError
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append(machine.name)
                raise

        with self.assertRaises(ZeroDivisionError):
            await roster.each(self.machines, ask)
        await asyncio.sleep(0)
        self.assertEqual(["a"], ended)

    async def test_cancellation_is_passed_on(self):
        async def sleep(machine):
            await asyncio.sleep(60)

        task = asyncio.create_task(roster.each(self.machines, sleep))
        await asyncio.sleep(0.01)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
