# SPDX-License-Identifier: Apache-2.0
"""Tests of commands that several machines begin together, on this computer."""

import asyncio
import time
import unittest
from unittest import mock

from rally_vmperf.execution import assignment
from rally_vmperf.execution import commands
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from tests import patience
from tests.unit.execution import test_measure
from tests.unit.machines import folders
from tests.unit.machines import test_job_armed

#: Leaves a line each time, and takes the longer the later the copy.
WORK = ("sh", "-c", 'echo x >>../log; sleep "$(cat ../seconds)"; echo 5')


class TogetherTestCase(unittest.IsolatedAsyncioTestCase):
    """Three stations, each with a folder of its own."""

    def setUp(self):
        """Let them take 0.1, 0.2 and 0.4 seconds."""
        super().setUp()
        self.folder = folders.made(self)
        self.stations = []
        for name, seconds in (("c1", 0.1), ("c2", 0.2), ("c3", 0.4)):
            (self.folder / name).mkdir()
            (self.folder / name / "seconds").write_text(str(seconds))
            self.stations.append(
                roles.Station(
                    name=name,
                    machine=local.Local(name),
                    role="copy",
                    folder=str(self.folder / name),
                )
            )
        self.result = measured.Measured()
        self.findings = []

    async def measure(
        self,
        first=WORK,
        second=("echo", "7"),
        bound="time",
        temporary=(),
    ):
        """Measure once."""
        workload = test_measure.Echo(first, second, bound, temporary)
        self.findings = await measure.repetition(
            [assignment.Assignment(workload, {})],
            self.stations,
            None,
            lambda line: None,
            self.result,
        )

    def lines(self, name):
        """Return how often a station ran its first command."""
        return len((self.folder / name / "log").read_text().splitlines())

    def jobs(self):
        """Return the jobs that are not cleared away."""
        return sorted(self.folder.glob("*/echo/.job-*"))

    def sources(self):
        """Return who gave the samples of the first command."""
        return {
            observation.source
            for observation in self.result.observations
            if observation.sample.metric.name == "cpu.echo.rate"
        }


class TestTogether(TogetherTestCase):
    """They begin together, and what they report says how well."""

    async def test_all_begin_at_one_instant(self):
        """No earlier than the last was ready, and by clocks corrected."""
        arm = commands.job.Job.arm
        armed = []

        async def slow(station, finished, **options):
            await arm(station, finished, **options)
            late = {"c1": 0, "c2": 0.3, "c3": 0}[station.machine.name]
            await asyncio.sleep(late)
            armed.append(commands.time.time())

        with mock.patch.object(commands.job.Job, "arm", slow):
            await self.measure()
        first = [run for run in self.result.runs if run.result.name == "rate"]
        self.assertEqual(3, len(first))
        for run in first:
            self.assertGreater(run.result.started, max(armed[:3]))
            self.assertEqual(0.0, run.clock_offset)
            self.assertEqual(0.0, run.clock_error)
        self.assertEqual([], self.result.missing)

    async def test_skew_and_overlap_of_fixed_duration(self):
        """The shortest of three ends long before the longest: no overlap."""
        await self.measure()
        rate, _ = self.result.starts
        self.assertEqual(
            ("echo", "rate", "time"), (rate.workload, rate.command, rate.bound)
        )
        self.assertEqual(0.0, rate.uncertainty)
        self.assertGreater(rate.skew, 0)
        self.assertLess(rate.overlap, 0.9)
        self.assertIn(
            ("partial_overlap", "cpu.echo.rate"),
            [(finding.kind, finding.subject) for finding in self.findings],
        )

    async def test_work_of_fixed_size_is_kept_up(self):
        """The first goes on until the last is done, and is counted once."""
        await self.measure(bound="size")
        rate, _ = self.result.starts
        self.assertEqual("size", rate.bound)
        self.assertGreater(rate.overlap, 0)
        self.assertGreater(self.lines("c1"), 1)
        for name in ("c1", "c2", "c3"):
            runs = [
                run
                for run in self.result.runs
                if (run.machine, run.result.name) == (name, "rate")
            ]
            self.assertEqual(1, len(runs))
        self.assertEqual({"c1", "c2", "c3"}, self.sources())

    async def test_one_alone_runs_as_it_would(self):
        """One request, no clock, no start to speak of."""
        machine = self.stations[0].machine
        with mock.patch.object(machine, "run", wraps=machine.run) as run:
            del self.stations[1:]
            await self.measure(bound="size")
        self.assertEqual(2, run.call_count)
        self.assertEqual([], self.result.starts)
        self.assertEqual(
            [None] * 2, [r.clock_offset for r in self.result.runs]
        )
        self.assertEqual(1, self.lines("c1"))

    async def test_outputs_are_not_held_until_the_end(self):
        """They are kept as they come; what remains has no text."""
        printed = []
        self.result.keep_raw = printed.append
        note, parts = measure.CommandLog.note, []

        def noting(log, title, metrics, runs):
            parts.extend(runs)
            note(log, title, metrics, runs)

        with mock.patch.object(measure.CommandLog, "note", noting):
            await self.measure()
        self.assertEqual(
            ["5\n"] * 3, [run.result.stdout for run in printed[:3]]
        )
        self.assertEqual(6, len(parts))
        for run_of_command in parts:
            self.assertEqual(
                ("", ""),
                (run_of_command.outcome.stdout, run_of_command.outcome.stderr),
            )
        self.assertEqual({""}, {run.result.stdout for run in self.result.runs})

    async def test_finished_jobs_are_removed(self):
        """Each command clears away the one before."""
        await self.measure()
        self.assertEqual(3, len(self.jobs()))
        self.assertTrue(all("size" in path.name for path in self.jobs()))

    async def test_temporary_files_are_removed(self):
        """They are there until the next command, which does not see them."""
        first = ("sh", "-c", "mkdir -p out/b; echo x >>out/b/a; echo 5")
        second = ("sh", "-c", "mkdir out && echo 7")
        for names in (["c1", "c2", "c3"], ["c1"]):
            with self.subTest(names=names):
                self.stations = [
                    station
                    for station in self.stations
                    if station.name in names
                ]
                self.result = measured.Measured()
                for bound in ("time", "size"):
                    await self.measure(first, second, bound, ("out", "none"))
                self.assertEqual([], self.result.missing)
                for name in names:
                    self.assertEqual(
                        [],
                        [*(self.folder / name / "echo" / "out").iterdir()],
                    )

    async def test_temporary_files_of_a_command_that_fails(self):
        """The rest of a copy takes no space from the next command."""
        first = ("sh", "-c", "echo x >out; exit 1")
        second = ("sh", "-c", "test ! -e out && echo 7")
        for names in (["c1", "c2", "c3"], ["c1"]):
            with self.subTest(names=names):
                self.stations = self.stations[: len(names)]
                self.result = measured.Measured()
                await self.measure(first, second, temporary=("out",))
                self.assertEqual(
                    {"cpu.echo.rate"},
                    {gap.name for gap in self.result.missing},
                )

    async def test_a_command_that_fails_is_no_part_of_the_overlap(self):
        """Its sample is missing, and its start does not count."""
        (self.folder / "c2" / "seconds").write_text("none")
        await self.measure(
            first=("sh", "-c", "sleep $(cat ../seconds) && echo 5")
        )
        self.assertEqual({"c1", "c3"}, self.sources())
        self.assertIsNotNone(self.result.starts[0].skew)


class TestFaults(TogetherTestCase):
    """One machine's trouble is its own."""

    async def fail_at(self, what, error, **arguments):
        """Measure while c2 fails at a step of its first command."""
        real = getattr(commands.job.Job, what)

        async def fake(station, *arguments, **options):
            if station.machine.name == "c2":
                if callable(error):
                    return await error(real, station, *arguments, **options)
                raise error
            return await real(station, *arguments, **options)

        with mock.patch.object(commands.job.Job, what, fake):
            await self.measure(**arguments)

    def check_left_out(self, reason):
        """Expect that the others measured and that c2 is missing."""
        self.assertEqual({"c1", "c3"}, self.sources())
        self.assertEqual({"c2"}, {gap.machine for gap in self.result.missing})
        self.assertRegex(self.result.missing[0].reason, reason)

    async def test_one_that_cannot_be_armed(self):
        """The others begin without it."""
        await self.fail_at("arm", base.Unreachable("c2 is away"))
        self.check_left_out("c2 is away")

    async def test_one_that_is_never_ready(self):
        """The others wait for a while, and begin without it."""
        wait = patience.seconds(0.3)

        async def late(real, station, *arguments, **options):
            await real(station, *arguments, **options)
            await asyncio.sleep(3 * wait)

        with mock.patch.object(commands, "PATIENCE", wait):
            await self.fail_at("arm", late)
        self.check_left_out("started without it")
        self.assertEqual(2, len(self.jobs()))

    async def test_one_that_dies_while_armed(self):
        """The others begin; of this one nothing is left."""

        async def die(real, station, *arguments, **options):
            await real(station, *arguments, **options)
            process = test_job_armed.supervisor(station)
            test_job_armed.end_group(process)

        await self.fail_at("arm", die)
        self.check_left_out("vanished")

    async def test_one_that_dies_while_running(self):
        """The other commands are ended."""

        async def die(real, station, at):
            running = asyncio.create_task(real(station, at))
            while not (self.folder / "c2" / "log").exists():
                await asyncio.sleep(0.01)
            test_job_armed.end_group(test_job_armed.supervisor(station))
            return await running

        await self.fail_at("release", die, bound="size")
        self.check_left_out("vanished")

    async def test_one_that_is_released_late(self):
        """It starts at once, after the end of another, and is reported."""

        async def late(real, station, at):
            while not [*self.folder.glob("c1/echo/.job-*/ended")]:
                await asyncio.sleep(0.01)
            return await real(station, at)

        await self.fail_at("release", late)
        self.assertEqual({"c1", "c2", "c3"}, self.sources())
        spans = {
            run.machine: run.result
            for run in self.result.runs
            if run.result.name == "rate"
        }
        self.assertGreater(spans["c2"].started, spans["c1"].ended)
        self.assertGreater(self.result.starts[0].skew, 0)
        self.assertIn(
            "partial_overlap", {finding.kind for finding in self.findings}
        )

    async def test_one_that_is_released_far_too_late(self):
        """It does not begin at all."""

        async def late(real, station, at):
            return await real(station, at - 60)

        await self.fail_at("release", late)
        self.check_left_out("released too late")

    async def test_load_that_cannot_be_ended(self):
        """Its sample stands, and the next step finds out about it."""
        await self.fail_at(
            "end_load", base.Unreachable("c2 is away"), bound="size"
        )
        self.assertEqual({"c1", "c2", "c3"}, self.sources())
        self.assertEqual(
            {("c2", "cpu.echo.size")},
            {(gap.machine, gap.name) for gap in self.result.missing},
        )

    async def test_one_whose_clock_cannot_be_read(self):
        """It is left out from the start."""
        with mock.patch.object(measure.clock, "read", self.read):
            await self.measure()
        self.check_left_out("no bash")

    async def read(self, machine, station_run):
        """Fail to read the clock of c2."""
        if machine.name == "c2":
            raise base.MachineError("c2 has no bash")
        return measure.clock.SAME


class TestCancelled(TogetherTestCase):
    """An interrupted controller leaves no process."""

    async def cancel(self, moment, **arguments):
        """Cancel when a moment has come; return the supervisors there were."""
        running = asyncio.create_task(self.measure(**arguments))
        while not moment():
            await asyncio.sleep(0.01)
        processes = [
            test_job_armed.supervisor_at(
                path, "load" if (path / "load").exists() else "job"
            )
            for path in self.jobs()
        ]
        self.assertGreater(len(processes), 1)
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        self.assertEqual([], self.jobs())
        for process in processes:
            while test_job_armed.session(process):
                await asyncio.sleep(0.02)

    async def test_while_armed(self):
        """Two wait for the third, which is never ready."""
        arm = commands.job.Job.arm

        async def two(station, *arguments, **options):
            if station.machine.name == "c2":
                await asyncio.sleep(3600)
            await arm(station, *arguments, **options)

        with mock.patch.object(commands.job.Job, "arm", two):
            await self.cancel(
                lambda: (
                    sum((path / "job").exists() for path in self.jobs()) == 2
                )
            )

    async def test_while_running(self):
        """Running commands are ended; none ends by itself before that."""
        for name in ("c1", "c2", "c3"):
            (self.folder / name / "seconds").write_text("100")
        await self.cancel(lambda: (self.folder / "c3" / "log").exists())

    async def test_while_the_load_is_kept_up(self):
        """The uncounted work is ended too; what was counted is kept."""
        (self.folder / "c3" / "seconds").write_text("100")
        await self.cancel(
            lambda: (
                (self.folder / "c1" / "log").exists() and self.lines("c1") > 2
            ),
            bound="size",
        )
        self.assertLessEqual({"c1"}, self.sources())


class TestMeeting(unittest.IsolatedAsyncioTestCase):
    """All machines start at one instant, without a futile wait."""

    def setUp(self):
        """Let three meet."""
        super().setUp()
        self.barrier = commands.StartBarrier(["a", "b", "c"])

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
            commands.time, "time", autospec=True, return_value=1000.0
        ):
            tasks = [
                self.wait_for_start(name, seconds)
                for name, seconds in (("a", 1), ("b", 4), ("c", 2))
            ]
            self.assertEqual([1006.0] * 3, await asyncio.gather(*tasks))

    async def test_the_instant_is_never_far(self):
        """A machine without a connection delays the others by seconds only."""
        with mock.patch.object(
            commands.time, "time", autospec=True, return_value=1000.0
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
        with mock.patch.object(commands, "PATIENCE", 0.05):
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
