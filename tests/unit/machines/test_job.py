# SPDX-License-Identifier: Apache-2.0
import asyncio
import os
import pathlib
import signal
import tempfile
import time
import unittest
from unittest import mock

from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.measurement import command_result
from tests import patience
from tests.unit.machines import folders
from tests.unit.machines import jobs
from tests.unit.machines import programs
from tests.unit.machines import sleeper

GOOD = {
    "exit": "3",
    "started": "1000.5",
    "ended": "1010.5",
    "before": "1000.5",
    "after": "1010.5",
    "up": "50.00",
    "up_ended": "60.00",
    "user": "1.250",
    "system": "0.125",
}


def read_uptime():
    """Return the seconds since the machine booted."""
    return float(pathlib.Path("/proc/uptime").read_text().split()[0])


class JobTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.machine = local.Local("g1")
        self.folder = str(folders.below(self))

    async def start(self, *argv, timeout=60, **arguments):
        return await jobs.start(
            self.machine,
            self.folder,
            "fio",
            argv,
            timeout=timeout,
            **arguments,
        )

    async def run_job(self, *argv, **arguments):
        handle = await self.start(*argv, **arguments)
        return await handle.finish()

    async def test_a_job_and_its_account(self):
        before = time.time()
        result = await self.run_job(
            "sh", "-c", "echo out; echo err >&2; pwd; exit 3"
        )
        self.assertEqual(f"out\n{self.folder}\n", result.stdout)
        self.assertEqual("err\n", result.stderr)
        self.assertEqual(3, result.exit_status)
        self.assertLessEqual(before, result.started)
        self.assertLessEqual(result.started, result.ended)
        self.assertAlmostEqual(result.seconds, result.ended - result.started)
        self.assertEqual([], os.listdir(self.folder))

    async def test_a_job_next_to_another(self):
        """Both find the work directory that one of them creates."""
        self.folder = str(folders.made(self) / "iperf2")
        programs.create_before(self, self.folder)
        result = await self.run_job("echo", "out")
        self.assertEqual("out\n", result.stdout)

    async def test_cpu_seconds_of_all_that_a_command_waits_for(self):
        idle = await self.run_job("sleep", "0.2")
        loop = "for ((i = 0; i < 200000; i++)); do :; done"
        busy = await self.run_job("bash", "-c", f"({loop}) & wait")
        self.assertGreater(busy.user, idle.user)
        copied = await self.run_job(
            *("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=4000")
        )
        self.assertGreater(copied.system, idle.system)
        self.assertGreater(copied.system, copied.user)

    async def test_the_machine_reports_both_of_its_clocks(self):
        begin = read_uptime()
        handle = await self.start("sleep", "0.3")
        path = pathlib.Path(handle.path, "ended")
        while not path.exists():
            await asyncio.sleep(0.01)
        fields = job.parse_fields(path.with_name("status").read_text())
        ups = [begin, float(fields["up"]), float(fields["up_ended"])]
        ups.append(read_uptime())
        self.assertEqual(sorted(ups), ups)
        self.assertNotEqual(fields["up"], fields["up_ended"])
        times = [
            float(fields[key])
            for key in ("before", "started", "ended", "after")
        ]
        self.assertEqual(sorted(times), times)
        await handle.finish()

    async def test_arguments_are_not_interpreted(self):
        arguments = ["a b", "*", "$HOME", "it's", "a\nb", "", "-n"]
        result = await self.run_job("printf", "%s|", *arguments)
        self.assertEqual("".join(f"{w}|" for w in arguments), result.stdout)

    async def test_names_of_the_script_are_programs_all_the_same(self):
        result = await self.run_job("start", "keep", "exit 0")
        self.assertEqual(127, result.exit_status)
        self.assertIn("not found", result.stderr)

    async def test_a_signal_is_an_exit_status(self):
        result = await self.run_job("sh", "-c", "kill -9 $$")
        self.assertEqual(137, result.exit_status)

    async def test_the_prefix_is_run_around_the_command(self):
        result = await self.run_job(
            "sh", "-c", 'echo "$SHAPE"', prefix=("env", "SHAPE=a b")
        )
        self.assertEqual("a b\n", result.stdout)

    async def test_a_prefix_that_fails_is_reported(self):
        with self.assertRaisesRegex(base.MachineError, "g1: .*no-such-prefix"):
            await self.start("true", prefix=("no-such-prefix",))

    async def test_time_out_ends_all_processes(self):
        mark = pathlib.Path(self.folder, "mark")
        with self.assertRaisesRegex(base.TimedOut, "g1: command fio"):
            await self.run_job(
                *("sh", "-c", f"{sleeper.script(mark)} & wait"),
                timeout=patience.seconds(0.3),
            )
        await sleeper.wait_for_end(mark)

    async def test_output_beyond_the_limit_ends_the_job(self):
        with self.assertRaises(base.OutputTooLong):
            await self.run_job("yes", output_limit=100_000)
        with self.assertRaises(base.OutputTooLong):
            await self.run_job("sh", "-c", "yes >&2", output_limit=1000)

    async def test_output_that_the_machine_cannot_keep_is_refused(self):
        """A limit on file sizes simulates a full disk."""
        full = ("bash", "-c", 'ulimit -f 64; exec "$@"', "full")
        for script in ("yes", "yes >&2"):
            with self.assertRaisesRegex(
                base.MachineError, "g1: cannot store the output of command fio"
            ):
                await self.run_job(
                    *("sh", "-c", f"{script} | head -c 100000; {script}"),
                    prefix=full,
                    timeout=20,
                )

    async def test_output_of_exactly_the_limit_is_whole(self):
        result = await self.run_job(
            "head", "-c", "200000", "/dev/zero", output_limit=200_000
        )
        self.assertEqual("\x00" * 200_000, result.stdout)

    async def test_cancel_ends_and_clears(self):
        mark = pathlib.Path(self.folder, "mark")
        handle = await self.start("sh", "-c", sleeper.script(mark))
        await sleeper.wait_for_start(mark)
        await handle.cancel()
        await sleeper.wait_for_end(mark)
        self.assertEqual(["mark"], os.listdir(self.folder))

    async def test_a_job_without_its_supervisor_is_missed_at_once(self):
        handle = await self.start("sleep", "100")
        process = int(pathlib.Path(handle.path, "job").read_text())
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        try:
            with self.assertRaisesRegex(base.MachineError, "vanished"):
                await handle.finish()
        finally:
            await handle.cancel()

    async def test_remaining_processes_of_a_command_are_ended(self):
        mark = pathlib.Path(self.folder, "mark")
        result = await self.run_job(
            "sh",
            "-c",
            f"{sleeper.script(mark)} >/dev/null 2>&1 & "
            f"while [ ! -e '{mark}' ]; do sleep 0.01; done; echo done",
        )
        self.assertEqual("done\n", result.stdout)
        await sleeper.wait_for_end(mark)

    async def test_the_folder_is_made_but_none_above_it(self):
        folder = f"{self.folder}/a b"
        handle = await jobs.start(
            self.machine, folder, "fio", ["pwd"], timeout=60
        )
        result = await handle.finish()
        self.assertEqual(f"{folder}\n", result.stdout)
        folder = f"{self.folder}/nowhere/fio"
        with self.assertRaisesRegex(base.MachineError, "No such file"):
            await jobs.start(self.machine, folder, "fio", ["true"], timeout=5)

    async def test_a_folder_outside_the_work_directory(self):
        other = self.enterContext(tempfile.TemporaryDirectory())
        for folder in (other, f"{other}/work", f"{self.folder}/../../work"):
            with self.assertRaisesRegex(
                base.MachineError,
                "not below a directory that rally-vmperf made",
            ):
                await jobs.start(
                    self.machine, folder, "fio", ["true"], timeout=5
                )
        self.assertEqual([], os.listdir(other))

    async def test_a_folder_that_cannot_be_made(self):
        with self.assertRaisesRegex(base.MachineError, "writable directory"):
            await jobs.start(
                self.machine, "/proc/nowhere", "fio", ["true"], timeout=5
            )


class RunTestCase(unittest.IsolatedAsyncioTestCase):
    """A job from its start to its end in one request."""

    def setUp(self):
        self.machine = local.Local("g1")
        self.folder = str(folders.below(self))
        self.finished = []

    async def run_job(self, *argv, timeout=60, **arguments):
        return await jobs.run(
            self.machine,
            self.folder,
            "fio",
            argv,
            timeout=timeout,
            finished=self.finished,
            **arguments,
        )

    async def test_output_and_account(self):
        result = await self.run_job(
            "sh", "-c", "echo out; echo err >&2; pwd; exit 3"
        )
        self.assertEqual(f"out\n{self.folder}\n", result.stdout)
        self.assertEqual("err\n", result.stderr)
        self.assertEqual(3, result.exit_status)

    async def test_finished_jobs_go_when_the_next_one_starts(self):
        await self.run_job("true")
        self.assertEqual(
            self.finished,
            [str(p) for p in pathlib.Path(self.folder).iterdir()],
        )
        first = self.finished[0]
        result = await self.run_job("ls", "-A", self.folder)
        self.assertNotIn(os.path.basename(first), result.stdout)
        self.assertEqual(1, len(os.listdir(self.folder)))

    async def test_only_job_folders_are_removed(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        link = f"{self.folder}/link"
        os.symlink(directory, link)
        for finished in (directory, link, f"{self.folder}/../../..", "/"):
            self.finished = [finished]
            with self.assertRaisesRegex(base.MachineError, "not below a dir"):
                await self.run_job("true")
            self.assertEqual([finished], self.finished)
        self.assertTrue(os.path.isdir(directory))

    async def test_one_that_lasts_longer_than_the_wait(self):
        with mock.patch.object(job, "HOLD", 0.2):
            result = await self.run_job("sh", "-c", "sleep 0.7; echo out")
        self.assertEqual("out\n", result.stdout)

    async def test_the_prefix_is_run_around_the_command(self):
        result = await self.run_job(
            "sh", "-c", 'echo "$SHAPE"', prefix=("env", "SHAPE=a b")
        )
        self.assertEqual("a b\n", result.stdout)

    async def test_failed_jobs_leave_no_files(self):
        for error, argv, arguments in (
            (base.TimedOut, ("sleep", "20"), {"timeout": 0.3}),
            (base.OutputTooLong, ("yes",), {"output_limit": 1000}),
            (base.MachineError, ("true",), {"prefix": ("no-such",)}),
        ):
            with self.subTest(error=error):
                with self.assertRaises(error):
                    await self.run_job(*argv, **arguments)
                self.assertEqual([], os.listdir(self.folder))

    async def test_given_up_it_is_ended(self):
        mark = pathlib.Path(self.folder, "mark")
        running = asyncio.create_task(
            self.run_job("sh", "-c", f"{sleeper.script(mark)}; rm '{mark}'")
        )
        await sleeper.wait_for_start(mark)
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        await sleeper.wait_for_end(mark)
        self.assertEqual(["mark"], os.listdir(self.folder))

    async def test_a_folder_that_cannot_be_made(self):
        with self.assertRaisesRegex(base.MachineError, "writable directory"):
            await jobs.run(
                self.machine,
                "/proc/nowhere",
                "fio",
                ["true"],
                timeout=5,
                finished=self.finished,
            )


class AwayTestCase(unittest.IsolatedAsyncioTestCase):
    def of(self, machine, timeout=9):
        """Return a job that was started on a machine."""
        return job.Job(
            machine=machine,
            folder="/w",
            name="fio",
            argv=["true"],
            timeout=timeout,
            output_limit=1000,
        )

    header = (
        "x=1\n"
        "exit=0 started=1.5 ended=3.5 before=1.5 after=3.5 up=10 up_ended=12 "
        "user=0.1 system=0.2"
        "\n\n"
    )

    def setUp(self):
        self.now = 1000.0
        clock = mock.Mock(monotonic=lambda: self.now)
        self.enterContext(mock.patch.object(job, "time", clock))
        waiting = mock.Mock(sleep=self.sleep)
        self.enterContext(mock.patch.object(job, "asyncio", waiting))

    async def sleep(self, seconds):
        self.now += seconds

    def away(self, until, error=base.Unreachable, each=2.0):
        """Return a machine whose requests fail until an instant."""

        def answer(argv):
            if self.now >= until:
                return testing.completed(f"{self.header}out")
            self.now += each
            raise error("no route")

        return testing.FakeMachine("g1", {"bash": answer})

    async def test_an_outage_of_45_seconds_is_survived(self):
        result = await self.of(self.away(1045)).finish()
        self.assertEqual("out", result.stdout)
        machine = self.away(self.now + 45)
        await jobs.start(machine, "/w", "fio", ["true"], timeout=9)

    async def test_a_machine_that_died_costs_a_minute(self):
        with self.assertRaisesRegex(
            base.Unreachable, r"g1: .* lost 6\d s ago at command fio.*no route"
        ):
            await self.of(self.away(10**9), 9000).finish()
        self.assertLess(self.now, 1070)
        before = self.now
        with self.assertRaisesRegex(base.Unreachable, "command fio"):
            await jobs.start(
                self.away(10**9), "/w", "fio", ["true"], timeout=9000
            )
        self.assertLess(self.now, before + 70)

    async def test_silence_before_the_loss_counts_and_one_more_is_tried(self):
        def silent(message):
            return base.Unreachable(message, silent=60)

        machine = self.away(10**9, silent)
        with self.assertRaisesRegex(base.Unreachable, "lost 6. s ago"):
            await self.of(machine).finish()
        self.assertEqual(2, len(machine.calls))
        machine = self.away(self.now + 1, silent)
        result = await self.of(machine).finish()
        self.assertEqual("out", result.stdout)

    async def test_a_slow_machine_is_not_an_absent_one(self):
        result = await self.of(
            self.away(1080, base.TimedOut, each=20)
        ).finish()
        self.assertEqual("out", result.stdout)
        with self.assertRaises(base.TimedOut):
            await self.of(self.away(10**9, base.TimedOut, each=20)).finish()

    async def test_a_result_survives_a_machine_that_goes_away(self):
        machine = testing.FakeMachine(
            "g1",
            {"bash": [f"{self.header}out", base.Unreachable("away")]},
        )
        result = await self.of(machine).finish()
        self.assertEqual("out", result.stdout)

    async def test_a_machine_that_returns_is_requested_again(self):
        machine = testing.FakeMachine(
            "g1",
            {
                "bash": [
                    base.Unreachable("away"),
                    testing.completed(exit_status=75),
                    testing.completed(f"{self.header}out\n\nmore"),
                    testing.completed(),
                ]
            },
        )
        result = await self.of(machine).finish()
        self.assertEqual(2, result.seconds)
        self.assertEqual("out\n\nmore", result.stdout)
        self.assertEqual("discard", machine.commands[-1][4])

    async def test_an_account_that_cannot_be_read(self):
        machine = testing.FakeMachine("g1", {"bash": "exit=\n\n"})
        with self.assertRaisesRegex(
            base.MachineError, "instead of its result"
        ):
            await self.of(machine).finish()


def _read(**changes):
    facts = {**GOOD, **changes}
    header = " ".join(f"{key}={value}" for key, value in facts.items())
    return job.parse_result("g1", "fio", header)


class AccountTestCase(unittest.TestCase):
    def test_a_good_one(self):
        self.assertEqual(
            command_result.CommandResult(
                name="fio",
                exit_status=3,
                seconds=10,
                started=1000.5,
                ended=1010.5,
                user=1.25,
                system=0.125,
                stdout="",
                stderr="",
            ),
            _read(),
        )

    def test_invalid_accounts(self):
        for key in GOOD:
            for value in ("nan", "inf", "-inf", "x", "", "1e999"):
                with (
                    self.subTest(key=key, value=value),
                    self.assertRaisesRegex(
                        base.MachineError,
                        "g1: command fio left .* instead of its result",
                    ),
                ):
                    _read(**{key: value})

    def test_negative_durations(self):
        for changes in (
            {"up_ended": "49"},
            {"ended": "1000.45", "up_ended": "50.00"},
            {"exit": "-1"},
            {"user": "-0.1"},
            {"system": "-1"},
            {"exit": "256"},
        ):
            with (
                self.subTest(changes),
                self.assertRaisesRegex(base.MachineError, "instead of"),
            ):
                _read(**changes)

    def test_a_clock_that_was_stepped(self):
        for ended, by in (
            (4610.5, r"\+3600\.00"),
            (1010.6, r"\+0\.10"),
            (1010.4, r"-0\.10"),
            (900.5, r"-110\.00"),
        ):
            with (
                self.subTest(ended),
                self.assertRaisesRegex(
                    base.MachineError,
                    f"clock of g1 was stepped by {by} s while fio ran; "
                    "repeat the run, or stop its time synchronisation",
                ),
            ):
                _read(ended=ended, after=ended)

    def test_two_digits_of_uptime_are_not_a_step(self):
        self.assertEqual(1010.51, _read(ended=1010.51, after=1010.51).ended)

    def test_a_cpu_lost_between_two_clocks_is_not_a_step(self):
        _read(up_ended="63.00", after="1013.6")
        _read(up="47.00", before="997.4")
