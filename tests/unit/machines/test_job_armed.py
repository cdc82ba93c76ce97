# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import time
import typing
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from tests.unit.machines import folders
from tests.unit.machines import jobs


class Supervisor(typing.NamedTuple):
    """The process of a job's supervisor, and the session that it is in.

    Each request to one of the machines in these tests has a session of its
    own, so that this one has no other processes.
    """

    pid: int
    session: int


def supervisor(handle, child="job"):
    """Return the supervisor of a job."""
    return supervisor_at(pathlib.Path(handle.path), child)


def supervisor_at(place, child="job"):
    """Return the same of a job whose place is known."""
    # bash creates the file before it writes the process ID.
    while not (text := place.joinpath(child).read_text()):
        time.sleep(0.01)
    process = int(text)
    stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    fields = stat.rpartition(")")[2].split()
    return Supervisor(pid=int(fields[1]), session=int(fields[3]))


def end_group(process):
    """Let a supervisor die at once, and all that it started."""
    for member in session(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def session(process):
    """Return the processes that are alive in a supervisor's session."""
    processes = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == process.session and fields[0] != "Z":
            processes.append(int(entry.parent.name))
    return processes


class Case(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.machine = local.Local("g1")
        self.folder = str(folders.below(self))
        self.finished = []

    async def arm(self, *argv, timeout=60, **arguments):
        return await jobs.arm(
            self.machine,
            self.folder,
            "fio",
            argv,
            timeout=timeout,
            finished=self.finished,
            **arguments,
        )

    async def release(self, handle, ahead=0.0):
        return await handle.release(time.time() + ahead)

    async def gone(self, process):
        """Wait until nothing is left of a supervisor and what it started."""
        while session(process):
            await asyncio.sleep(0.02)


class ArmedTestCase(Case):
    """A command that has everything ready and waits for an instant."""

    async def test_it_begins_at_its_instant(self):
        handle = await self.arm("sh", "-c", "echo out; echo err >&2; exit 3")
        at = time.time() + 0.5
        result = await handle.release(at)
        self.assertGreaterEqual(result.started, at)
        self.assertEqual("out\n", result.stdout)
        self.assertEqual("err\n", result.stderr)
        self.assertEqual(3, result.exit_status)

    async def test_released_twice_it_begins_no_sooner(self):
        handle = await self.arm("true")
        at = time.time() + 0.5
        first, second = await asyncio.gather(
            handle.release(at),
            handle.release(at),
        )
        self.assertEqual(first, second)
        self.assertGreaterEqual(first.started, at)

    async def test_an_instant_just_past_is_now(self):
        handle = await self.arm("true")
        result = await self.release(handle, -5)
        self.assertEqual(0, result.exit_status)

    async def test_an_instant_long_past_is_too_late(self):
        mark = pathlib.Path(self.folder, "mark")
        handle = await self.arm("touch", str(mark))
        with self.assertRaisesRegex(base.MachineError, "released too late"):
            await self.release(handle, -15)
        self.assertFalse(mark.exists())

    async def test_finished_jobs_go_when_the_next_one_is_armed(self):
        first = await self.arm("true")
        await self.release(first)
        self.finished = [first.path]
        second = await self.arm("true")
        self.assertEqual([], self.finished)
        self.assertEqual(
            [os.path.basename(second.path)], os.listdir(self.folder)
        )
        await second.cancel()

    async def test_cancelled_while_armed_nothing_is_left(self):
        handle = await self.arm("true")
        process = supervisor(handle)
        await handle.cancel()
        await self.gone(process)
        self.assertEqual([], os.listdir(self.folder))

    async def test_a_prefix_that_fails_is_reported_and_leaves_no_files(self):
        with self.assertRaisesRegex(base.MachineError, "no-such-prefix"):
            await self.arm("true", prefix=("no-such-prefix",))
        self.assertEqual([], os.listdir(self.folder))

    async def test_one_that_died_while_armed_is_missed_at_once(self):
        handle = await self.arm("true")
        end_group(supervisor(handle))
        with self.assertRaisesRegex(base.MachineError, "vanished"):
            await self.release(handle, 0.2)
        await handle.cancel()

    async def test_an_armed_job_ends_without_its_folder_or_supervisor(self):
        # It looks for them every five seconds.
        handles = [await self.arm("true"), await self.arm("true")]
        processes = [supervisor(handle) for handle in handles]
        while pathlib.Path(handles[0].path).exists():
            # The supervisor may still be making files of its own.
            shutil.rmtree(handles[0].path, ignore_errors=True)
        os.kill(processes[1].pid, signal.SIGKILL)
        await asyncio.gather(*map(self.gone, processes))

    async def test_a_machine_that_is_away_when_released(self):
        machine = testing.FakeMachine(
            "g1",
            {
                "bash": [
                    testing.completed(),
                    base.Unreachable("away"),
                    testing.completed(
                        "user=0.1 system=0.2 exit=0 started=1.5 ended=3.5 "
                        "before=1.5 after=3.5 up=10 up_ended=12\n\nout"
                    ),
                ]
            },
        )
        handle = await jobs.arm(
            machine, "/w", "fio", ["true"], timeout=9, finished=[]
        )
        result = await handle.release(77.5)
        self.assertEqual("out", result.stdout)
        for command in machine.commands[1:]:
            self.assertEqual(
                ("release", handle.path, "77.500000"), command[4:7]
            )


class KeptUpTestCase(Case):
    """A command that is repeated, uncounted, until all others are done."""

    async def keep(self, *argv, **arguments):
        """Return the job and its result, when its command is repeated."""
        handle = await self.arm(*argv, keep_up=True, **arguments)
        result = await self.release(handle)
        self.finished = [handle.path]
        return handle, result

    def lines(self):
        return pathlib.Path(self.folder, "log").read_text().splitlines()

    async def wait_for_lines(self, count):
        while len(self.lines()) < count:
            await asyncio.sleep(0.01)

    async def test_it_goes_on_until_it_is_ended(self):
        handle, result = await self.keep(
            "sh", "-c", "echo $$ >>log; echo out; sleep 0.05"
        )
        process = supervisor(handle, "load")
        self.assertEqual("out\n", result.stdout)
        await self.wait_for_lines(4)
        requested = time.time()
        ended = await handle.end_load()
        self.assertGreaterEqual(ended, requested)
        self.assertLessEqual(ended, time.time())
        await self.gone(process)
        before = self.lines()
        await asyncio.sleep(0.2)
        self.assertEqual(before, self.lines())
        # The answer may have been lost: it can be asked for again.
        self.assertEqual(ended, await handle.end_load())

    async def test_it_is_ended_in_the_middle(self):
        handle, result = await self.keep(
            "sh", "-c", "echo $$ >>log; [ $(wc -l <log) = 1 ] || sleep 100"
        )
        process = supervisor(handle, "load")
        await self.wait_for_lines(2)
        ended = await handle.end_load()
        self.assertGreater(ended, result.ended)
        await self.gone(process)

    async def test_a_command_that_fails_keeps_nothing_up(self):
        handle, result = await self.keep("sh", "-c", "echo x >>log; exit 7")
        self.assertEqual(7, result.exit_status)
        await self.wait_for_lines(2)
        while not pathlib.Path(handle.path, "load.ended").exists():
            await asyncio.sleep(0.01)
        before = time.time()
        ended = await handle.end_load()
        self.assertEqual(2, len(self.lines()))
        self.assertLess(ended, before)

    async def test_by_itself_it_ends_with_its_time(self):
        handle = await self.arm(
            "sh", "-c", "echo x >>log", keep_up=True, timeout=0.5
        )
        process = supervisor(handle)
        await self.release(handle)
        await self.gone(process)
        self.assertIsNotNone(await handle.end_load())

    async def test_ended_on_cancel_and_when_the_next_one_is_armed(self):
        for how in ("cancel", "arm", "run"):
            with self.subTest(how):
                handle, _ = await self.keep("sh", "-c", "sleep 0.01")
                process = supervisor(handle, "load")
                if how == "cancel":
                    await handle.cancel()
                    self.finished = []
                elif how == "arm":
                    other = await self.arm("true")
                    await other.cancel()
                else:
                    await jobs.run(
                        self.machine,
                        self.folder,
                        "fio",
                        ["true"],
                        timeout=9,
                        finished=self.finished,
                    )
                self.assertFalse(os.path.exists(handle.path))
                await self.gone(process)

    async def test_ended_though_its_supervisor_was_killed(self):
        handle, _ = await self.keep("sh", "-c", "sleep 0.01")
        process = supervisor(handle, "load")
        os.kill(process.pid, signal.SIGKILL)
        self.assertIsNone(await handle.end_load())
        await self.gone(process)

    async def test_no_load_is_kept_up_without_a_supervisor(self):
        handle, _ = await self.keep("sh", "-c", "sleep 0.01")
        process = supervisor(handle, "load")
        os.kill(process.pid, signal.SIGKILL)
        await self.gone(process)

    async def test_no_load_is_kept_up_after_its_end(self):
        handle = await self.arm(
            "sh", "-c", "sleep 100", keep_up=True, timeout=0.3
        )
        process = supervisor(handle)
        with self.assertRaises(base.TimedOut):
            await self.release(handle)
        await self.gone(process)
        self.assertIsNone(await handle.end_load())
        await handle.cancel()

    async def test_absurd_answers_are_not_a_time(self):
        handle = await self.arm("true")
        await handle.cancel()
        for value in ("", "nan", "-1", "1e99"):
            answer = f"kept_up_until={value}"
            machine = testing.FakeMachine("g1", {"bash": answer})
            self.assertIsNone(
                await dataclasses.replace(handle, machine=machine).end_load()
            )
