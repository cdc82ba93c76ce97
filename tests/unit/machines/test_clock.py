# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import unittest
from unittest import mock

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.machines import local
from rally_vmperf.machines import root
from rally_vmperf.machines import testing
from rally_vmperf.machines.remote import ssh
from tests.unit.machines import sshd


class Foreign(local.Local):
    """A machine that runs here and is not known to have our clock."""

    shares_clock = False


class Clockwork(testing.FakeMachine):
    """Answers by a clock of its own, each time after other delays.

    :param offset: The seconds by which its clock is ahead.
    :param delays: The delays to and from it, a pair per round trip; the last
        pair is used from then on.
    """

    def __init__(self, offset, delays):
        super().__init__("g1", {"bash": self.answer})
        self.offset = offset
        self.delays = list(delays)
        self.now = 1700000000.0

    def answer(self, argv):
        forward, back = (
            self.delays.pop(0) if len(self.delays) > 1 else self.delays[0]
        )
        self.now += forward
        reported = self.now + self.offset
        self.now += back
        return testing.completed(f"{reported:.6f}\n")

    def time(self):
        return self.now

    monotonic = time


@ddt.ddt
class ClockTest(unittest.IsolatedAsyncioTestCase):
    async def read(self, machine):
        """Read a clock that differs from the clock here by an offset."""
        with mock.patch.object(clock, "time", machine):
            return await clock.read(machine)

    async def test_a_real_machine_with_our_clock(self):
        reading = await clock.read(Foreign("g1"))
        self.assertLessEqual(abs(reading.offset), reading.error)

    async def test_by_ssh(self):
        async with sshd.Sshd() as server:
            machine = ssh.Ssh(server.endpoint())
            async with machine:
                reading = await clock.read(machine)
            self.assertLessEqual(abs(reading.offset), reading.error)
            self.assertEqual(1, len(server.commands))

    async def test_a_connection_that_is_cut_is_replaced(self):
        async with sshd.Sshd() as server:
            machine = ssh.Ssh(server.endpoint())
            async with machine:
                await machine.run(["true"])
                server.drop()
                reading = await clock.read(machine)
            self.assertLessEqual(abs(reading.offset), reading.error)

    async def test_the_local_clock_is_not_read(self):
        machine = local.Local("here")
        self.assertEqual(clock.SAME, await clock.read(machine))
        self.assertEqual(clock.SAME, await clock.read(root.Root(machine)))

    async def test_the_shortest_round_trip_counts(self):
        machine = Clockwork(
            5,
            [
                *((1, 1), (0.3, 0.01), (0.002, 0.004), (0.1, 2), (0.5, 0.5)),
                *((n, n) for n in range(1, 30)),
            ],
        )
        reading = await self.read(machine)
        self.assertAlmostEqual(0.003, reading.error, places=5)
        self.assertAlmostEqual(5 - 0.001, reading.offset, places=5)

    async def test_a_quiet_line_needs_few_and_no_line_needs_many(self):
        quiet = Clockwork(5, [(0.001, 0.001)])
        noisy = Clockwork(5, [(n, n) for n in range(1, 99)])
        for machine, fewest, most in ((quiet, 3, 5), (noisy, 6, 10)):
            await self.read(machine)
            self.assertTrue(fewest <= len(machine.calls) <= most)

    @hypothesis.given(
        strategies.floats(-1e6, 1e6),
        strategies.lists(
            strategies.tuples(
                strategies.floats(0, 10), strategies.floats(0, 10)
            ),
            min_size=1,
            max_size=12,
        ),
    )
    def test_the_error_is_never_too_small(self, offset, delays):
        machine = Clockwork(offset, delays)
        reading = asyncio.run(self.read(machine))
        self.assertLessEqual(
            abs(reading.offset - offset), reading.error + 1e-6
        )

    @ddt.data(
        "",
        "nan",
        "1e9",
        "-1700000000.000000",
        "1700000000",
        "1700000000,123456",
        "99999999999999.000000",
        "\uff11700000000.000000",
        "1700000000.000000 1700000000.000000",
    )
    async def test_an_invalid_time_is_named(self, answer):
        machine = testing.FakeMachine("g1", {"bash": f"{answer}\n"})
        with self.assertRaisesRegex(
            base.MachineError, "g1: .* is not a valid time"
        ):
            await clock.read(machine)

    @ddt.data(
        (["sh", "-c", "exit 3"], "ended too early|Broken pipe"),
        (["no-such-program"], "no-such-program ended too early"),
        (["yes"], None),
        (["sh", "-c", "yes | tr -d '\\n'"], "more than 4096 bytes"),
    )
    @ddt.unpack
    async def test_a_program_that_does_not_talk(self, argv, message):
        with contextlib.ExitStack() as stack:
            if message:
                stack.enter_context(
                    self.assertRaisesRegex(base.MachineError, message)
                )
            async with Foreign("g1").converse(argv, timeout=60) as talk:
                await talk.send("")
                self.assertEqual("y", await talk.receive())

    async def test_silence_has_an_end(self):
        with self.assertRaisesRegex(base.TimedOut, "g1: command sleep"):
            async with Foreign("g1").converse(
                ["sleep", "100"], timeout=0.2
            ) as talk:
                await talk.receive()

    async def test_of_many_each_has_its_answer(self):
        answers = await clock.read_all(
            [
                Foreign("g1"),
                testing.FakeMachine("g2", {"bash": base.Unreachable("away")}),
                local.Local("g3"),
                *(Foreign(str(n)) for n in range(20)),
            ]
        )
        self.assertLessEqual(abs(answers[0].offset), answers[0].error)
        self.assertEqual("away", str(answers[1]))
        self.assertEqual(clock.SAME, answers[2])
        for answer in answers[3:]:
            self.assertIsInstance(answer, clock.Reading)
