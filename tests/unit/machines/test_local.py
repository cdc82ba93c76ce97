# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from tests import patience
from tests.unit.machines import programs
from tests.unit.machines import sleeper


class LocalTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.machine = local.Local("here")
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    async def test_arguments_output_status_and_locale(self):
        completed = await self.machine.run(
            ["sh", "-c", 'echo "$1$LC_ALL"; echo e >&2; exit 3', "sh", "a *\n"]
        )
        self.assertEqual(
            base.Completed(exit_status=3, stdout="a *\nC\n", stderr="e\n"),
            completed,
        )

    async def test_missing_and_forbidden_commands_answer_as_a_shell_does(self):
        completed = await self.machine.run(["no-such-command"])
        self.assertEqual(127, completed.exit_status)
        completed = await self.machine.run([self.folder])
        self.assertEqual(126, completed.exit_status)

    async def test_signals_are_128_and_more(self):
        completed = await self.machine.run(["sh", "-c", "kill -9 $$"])
        self.assertEqual(137, completed.exit_status)

    async def test_time_out_ends_the_whole_group(self):
        mark = pathlib.Path(self.folder, "mark")
        with self.assertRaisesRegex(base.TimedOut, "here: command sh"):
            await self.machine.run(
                ["sh", "-c", f"{sleeper.script(mark)} & wait"],
                timeout=patience.seconds(0.2),
            )
        await sleeper.wait_for_end(mark)

    async def test_cancelling_ends_the_command(self):
        mark = pathlib.Path(self.folder, "mark")
        running = asyncio.create_task(
            self.machine.run(
                ["sh", "-c", f"{sleeper.script(mark)}; rm '{mark}'"]
            )
        )
        await sleeper.wait_for_start(mark)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        await sleeper.wait_for_end(mark)

    async def test_cancelling_ends_a_command_that_starts(self):
        """It runs before this process knows that it has started."""
        mark = pathlib.Path(self.folder, "mark")
        start = asyncio.create_subprocess_exec

        async def start_slowly(*argv, **options):
            process = await start(*argv, **options)
            await sleeper.wait_for_start(mark)
            running.cancel()
            await asyncio.sleep(0.01)
            return process

        argv = ["sh", "-c", f"{sleeper.script(mark)}; rm '{mark}'"]
        with mock.patch("asyncio.create_subprocess_exec", start_slowly):
            running = asyncio.create_task(self.machine.run(argv))
            with self.assertRaises(asyncio.CancelledError):
                await running
        await sleeper.wait_for_end(mark)

    async def test_endless_output_is_cut(self):
        with self.assertRaises(base.OutputTooLong):
            await self.machine.run(["yes"], output_limit=100_000)

    async def test_garbage_and_characters_at_the_edges_of_buffers(self):
        content = b"x" + "é€😀".encode() * 50_000 + b"\xff\x00\xc3"
        completed = await self.machine.run(["cat"], input_bytes=content)
        self.assertEqual(content.decode("utf-8", "replace"), completed.stdout)

    async def test_put(self):
        path = pathlib.Path(self.folder, "a b", "c")
        await self.machine.put(b"\x00\xff", str(path), 0o755)
        self.assertEqual(b"\x00\xff", path.read_bytes())
        self.assertEqual(0o755, path.stat().st_mode & 0o777)
        await self.machine.put(b"new", str(path))
        self.assertEqual([path], list(path.parent.iterdir()))
        self.assertEqual(b"new", path.read_bytes())

    async def test_put_next_to_another(self):
        """Both commands find the directory that one of them creates."""
        path = pathlib.Path(self.folder, "work", "file")
        programs.create_before(self, path.parent)
        await self.machine.put(b"text", str(path))
        self.assertEqual(b"text", path.read_bytes())
