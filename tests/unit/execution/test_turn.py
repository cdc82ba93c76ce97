"""Tests of one station's turn at a workload, on this computer."""

import asyncio
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import station
from rally_vmperf.execution import turn
from rally_vmperf.machines import local
from tests.unit.execution import test_measure
from tests.unit.machines import folders


class TestTurn(unittest.IsolatedAsyncioTestCase):
    """What a command printed goes where it is kept, and is not held."""

    def setUp(self):
        """Give a station a folder; keep what it prints."""
        super().setUp()
        self.place = station.Station(
            name="c1",
            machine=local.Local("c1"),
            role="copy",
            folder=str(folders.made(self)),
        )
        self.kept = []
        self.result = measured.Measured(keep_raw=self.kept.append)

    def begin(self, **argvs):
        """Return its turn at a workload of two commands."""
        one = assignment.Assignment(test_measure.Echo(**argvs), {})
        return turn.begin(one, self.place, None, self.result, {})

    def printed(self):
        """Return what is kept of standard output, by command."""
        return [(one["command"], one["stdout"]) for one in self.kept]

    async def test_each_output_is_kept_as_soon_as_it_is_there(self):
        """With where it comes from."""
        own = self.begin()
        await own.step("rate")
        self.assertEqual(
            [
                {
                    "workload": "echo",
                    "command": "rate",
                    "machine": "c1",
                    "stdout": "5\n",
                    "stderr": "",
                }
            ],
            self.kept,
        )
        await own.step("size")
        self.assertEqual([("rate", "5\n"), ("size", "7\n")], self.printed())

    async def test_output_of_what_failed(self):
        """That is what one wants to read, on both streams."""
        own = self.begin(
            first=("sh", "-c", "echo half; echo trouble >&2; exit 3")
        )
        await own.step("rate")
        self.assertEqual(["rate: rate failed"], own.reasons)
        self.assertEqual([], self.result.observations)
        self.assertEqual([("rate", "half\n")], self.printed())
        self.assertEqual("trouble\n", self.kept[0]["stderr"])

    async def test_output_that_cannot_be_read(self):
        """It is kept before anybody tries."""
        own = self.begin(first=("echo", "five"))
        await own.step("rate")
        self.assertIn("five", own.reasons[0])
        self.assertEqual([("rate", "five\n")], self.printed())

    async def test_interrupted(self):
        """What was kept until then stays, of the rest there is nothing."""
        own = self.begin(second=("sleep", "60"))
        await own.step("rate")
        with self.assertRaises(TimeoutError):
            await asyncio.wait_for(own.step("size"), 0.5)
        self.assertEqual([("rate", "5\n")], self.printed())
