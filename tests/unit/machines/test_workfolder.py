# SPDX-License-Identifier: Apache-2.0
"""Tests of work directories that a machine creates: the real script."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import controller
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from rally_vmperf.machines import workfolder
from tests import skips
from tests.unit.machines import folders

MARK = ".made-by-rally-vmperf"


class Case(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.machine = local.Local("metal")
        folder = self.enterContext(
            tempfile.TemporaryDirectory(dir=folders.PLAIN)
        )
        self.parent = pathlib.Path(folder).resolve()

    async def make(self, parent=None):
        created = await workfolder.create(
            self.machine, str(parent or self.parent)
        )
        return pathlib.Path(created.path)


class MakeTestCase(Case):
    async def test_it_is_new_and_closed(self):
        folders = {await self.make() for _ in range(3)}
        self.assertEqual(folders, set(self.parent.iterdir()))
        for folder in folders:
            self.assertEqual(0o40700, folder.stat().st_mode)
            self.assertEqual(0o100600, (folder / MARK).stat().st_mode)
            owner = controller.get_current_process()
            self.assertEqual(
                f"{folder.name}\n{owner}\n", (folder / MARK).read_text()
            )

    async def test_a_lax_umask_opens_nothing(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        made = await self.make()
        await self.machine.put(b"x", f"{made}/echo/script")
        self.assertEqual(0o40700, (made / "echo").stat().st_mode)
        self.assertEqual(0o40700, made.stat().st_mode)
        self.assertEqual(0o100600, (made / MARK).stat().st_mode)

    async def test_links_are_followed_once(self):
        (self.parent / "real").mkdir()
        (self.parent / "link").symlink_to("real")
        made = await self.make(self.parent / "link")
        self.assertEqual(self.parent / "real", made.parent)

    async def test_a_relative_one_is_below_the_home(self):
        (self.parent / "a b").mkdir()
        with mock.patch.dict(os.environ, HOME=str(self.parent)):
            made = await workfolder.create(self.machine, "a b")
            self.assertEqual(f"{self.parent}/a b", os.path.dirname(made.path))
            made = await workfolder.create(self.machine, "")
            self.assertEqual(str(self.parent), os.path.dirname(made.path))
            (self.parent / "-").mkdir()
            made = await workfolder.create(self.machine, "-")
            self.assertEqual(f"{self.parent}/-", os.path.dirname(made.path))

    async def test_a_user_without_a_home(self):
        environment = {k: v for k, v in os.environ.items() if k != "HOME"}
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            self.assertRaisesRegex(
                base.MachineError, "metal: home directory: .*HOME: is not set"
            ),
        ):
            await workfolder.create(self.machine, "")

    async def test_sticky_folders_are_shared(self):
        self.parent.chmod(0o1777)
        below = self.parent / "below"
        below.mkdir()
        self.assertEqual(below, (await self.make(below)).parent)

    async def test_a_replaceable_parent_is_rejected(self):
        below = self.parent / "a b"
        below.mkdir()
        for path, mode in (
            (below, 0o777),
            (below, 0o770),
            (self.parent, 0o702),
        ):
            with self.subTest(path=path, mode=oct(mode)):
                before = path.stat().st_mode
                path.chmod(mode)
                with self.assertRaisesRegex(
                    base.MachineError,
                    f"^metal: directory {below}: .*{path}.*mode {mode:o}"
                    ".*go-w",
                ):
                    await self.make(below)
                path.chmod(before & 0o777)
        self.assertEqual([], list(below.iterdir()))

    @skips.requires(root=True)
    async def test_a_parent_of_another_owner_is_rejected(self):
        below = self.parent / "below"
        below.mkdir()
        for path in (below, self.parent):
            with self.subTest(path=path):
                os.chown(path, 65534, 65534)
                for mode in (0o700, 0o1777):
                    path.chmod(mode)
                    with self.assertRaisesRegex(
                        base.MachineError,
                        f"metal: directory {below}: {path} belongs to .*65534"
                        f".*mount --bind {below}/rally-vmperf ",
                    ):
                        await self.make(below)
                os.chown(path, 0, 0)
        self.assertEqual([], list(below.iterdir()))

    async def test_a_missing_parent(self):
        with self.assertRaisesRegex(
            base.MachineError,
            "metal: directory .*/nowhere is not an accessible .*mkdir",
        ):
            await self.make(self.parent / "nowhere")
        (self.parent / "a\nb").mkdir()
        with self.assertRaisesRegex(
            base.MachineError, "control characters"
        ) as caught:
            await self.make(self.parent / "a\nb")
        self.assertNotIn("a\nb", str(caught.exception).partition(": ")[2][:9])

    async def test_available_space(self):
        created = await workfolder.create(self.machine, str(self.parent))
        free = os.statvfs(self.parent)
        blocks = free.f_bavail if os.geteuid() else free.f_bfree
        self.assertAlmostEqual(
            blocks * free.f_frsize, created.available_bytes, delta=1 << 28
        )

    async def test_available_space_of_other_file_systems(self):
        """Root may use reserved blocks; one without a size has no limit."""
        real = shutil.which("stat")
        programs = self.parent / "programs"
        programs.mkdir()
        fake = programs / "stat"
        path = f"{programs}:{os.environ['PATH']}"
        for printed, expected in (
            ("4096 100 30 20", 4096 * (20 if os.geteuid() else 30)),
            ("4096 100 0 0", 0),
            ("4096 0 0 0", None),
            ("", None),
        ):
            fake.write_text(
                f'#!/bin/sh\n[ "$1" = -f ] || exec {real} "$@"\n'
                f"echo {printed}\n"
            )
            fake.chmod(0o755)
            with (
                self.subTest(printed=printed),
                mock.patch.dict(os.environ, PATH=path),
            ):
                created = await workfolder.create(
                    self.machine, str(self.parent)
                )
                self.assertEqual(expected, created.available_bytes)

    async def test_where_nothing_can_be_made(self):
        with self.assertRaisesRegex(base.MachineError, "/proc: cannot create"):
            await self.make("/proc")


@ddt.ddt
class AnswerTestCase(unittest.IsolatedAsyncioTestCase):
    """A guest may answer what it likes."""

    @ddt.data(
        *("", "/", "/etc", "rally-vmperf-0123456789", "/x/rally-vmperf-"),
        *("/x/../rally-vmperf-0123456789", "/rally-vmperf-012345678\x1b"),
        "/\x1b[2J/rally-vmperf-0123456789",
        "/x/rally-vmperf-0123456789\n/etc",
        "/" + 5000 * "x" + "/rally-vmperf-0123456789",
    )
    async def test_an_invalid_answer(self, answer):
        machine = testing.FakeMachine("g1", {"bash": answer})
        with self.assertRaisesRegex(base.MachineError, "^g1: ") as caught:
            await workfolder.create(machine, "")
        self.assertTrue(str(caught.exception).isprintable())
        self.assertLess(len(str(caught.exception)), 1000)

    @ddt.data("owner\n\x1b[2J\n/x", "owner", "\n\n", "{path}\na\nb", "mode\n")
    async def test_reasons(self, answer):
        refusal = testing.completed(answer, exit_status=3)
        machine = testing.FakeMachine("g1", {"bash": refusal})
        with self.assertRaisesRegex(base.MachineError, "^g1: ") as caught:
            await workfolder.create(machine, "")
        self.assertTrue(str(caught.exception).isprintable())

    async def test_one_that_is(self):
        path = "/home/a b/rally-vmperf-0123456789"
        for text, expected in (("4096", 4096), ("0", 0), ("unknown", None)):
            answer = f"{path}\navailable {text}\n"
            machine = testing.FakeMachine("g1", {"bash": answer})
            self.assertEqual(
                workfolder.NewDirectory(path=path, available_bytes=expected),
                await workfolder.create(machine, ""),
            )

    @ddt.data(
        *("", "available\n", "available -1\n", "available 1e9\n"),
        *("available 1\navailable 2\n", "available \u0661\n"),
        *("available 1", f"available {'9' * 19}\n", "free 1\n"),
    )
    async def test_an_invalid_size(self, line):
        answer = f"/root/rally-vmperf-0123456789\n{line}"
        machine = testing.FakeMachine("g1", {"bash": answer})
        with self.assertRaisesRegex(base.MachineError, "^g1: ") as caught:
            await workfolder.create(machine, "")
        self.assertTrue(str(caught.exception).isprintable())


class RemoveTestCase(Case):
    async def refuse(
        self, path, reason="not below a directory that rally-vmperf"
    ):
        with self.assertRaisesRegex(
            base.MachineError, f"^metal: cannot remove .*{reason}.*manually$"
        ):
            await workfolder.remove(self.machine, str(path))

    async def test_all_of_it_goes_and_no_more(self):
        made, other = await self.make(), await self.make()
        untouched = self.parent / "kept"
        untouched.mkdir()
        (untouched / "file").write_text("x")
        (made / "below").mkdir()
        (made / "below" / "link").symlink_to(untouched)
        (made / "link").symlink_to(untouched)
        await workfolder.remove(self.machine, str(made))
        self.assertFalse(made.exists())
        self.assertTrue((untouched / "file").exists())
        self.assertTrue((other / MARK).exists())

    async def test_a_missing_folder_is_ignored(self):
        made = await self.make()
        await workfolder.remove(self.machine, str(made))
        await workfolder.remove(self.machine, str(made))

    async def test_folders_without_a_marker_stay(self):
        made = await self.make()
        plain = self.parent / "rally-vmperf-0123456789"
        plain.mkdir()
        copy = self.parent / "rally-vmperf-aaaaaaaaaa"
        shutil.copytree(made, copy)
        link = self.parent / "rally-vmperf-bbbbbbbbbb"
        link.symlink_to(made)
        (made / "link").symlink_to(plain)
        for path in (
            *(plain, copy, link, self.parent, made / "link", f"{made}/"),
            *("/", f"{made}/..", f"{made}/.", f"{made}/../{plain.name}"),
            f"{link}/{MARK}",
        ):
            with self.subTest(path=path):
                await self.refuse(path)
        for path in (plain, made / MARK, copy / MARK):
            self.assertTrue(path.exists())

    @skips.requires(root=True)
    async def test_a_mark_of_another_user_is_none(self):
        made = await self.make()
        for path in (made / MARK, made):
            os.chown(path, 65534, 65534)
            await self.refuse(made)
            os.chown(path, 0, 0)
        self.assertTrue((made / MARK).exists())

    @skips.requires("unshare", root=True)
    async def test_mounts_are_not_crossed(self):
        untouched = self.parent / "kept"
        untouched.mkdir()
        (untouched / "file").write_text("x")
        (self.parent / "a b").mkdir()
        made = await self.make(self.parent / "a b")
        (made / "on").mkdir()

        class Mounted(local.Local):
            async def run(self, argv, **arguments):
                bound = 'mount --bind "$1" "$2" || exit 9; shift 2; exec "$@"'
                return await super().run(
                    [
                        *("unshare", "--mount", "sh", "-c", bound, "sh"),
                        *(str(untouched), str(made / "on"), *argv),
                    ],
                    **arguments,
                )

        tried = await Mounted("metal").run(["true"])
        if tried.exit_status:
            self.skipTest(f"nothing can be mounted: {tried.stderr}")
        self.machine = Mounted("metal")
        await self.refuse(made, "mounted below")
        await self.refuse(made / "on", "mounted below")
        self.assertTrue((untouched / "file").exists())
        self.assertTrue((made / MARK).exists())


class FindTestCase(Case):
    """Remains of runs are found, and removed with their processes."""

    async def find(self):
        """Return the directories in the test's parent."""
        return await workfolder.find(self.machine, [str(self.parent)])

    async def test_a_killed_run(self):
        """Its directory, its size and its job are reported, then removed."""
        folder = folders.leave_run(self, self.parent)
        (directory,) = await self.find()
        self.assertEqual((folder, "killed"), (directory.path, directory.state))
        self.assertGreater(directory.kib, 2900)
        programs = [process.program for process in directory.processes]
        self.assertEqual(1, programs.count("sleep"))
        self.assertIn("bash", programs)
        await workfolder.end(self.machine, folder)
        self.assertEqual([], await self.find())
        self.assertEqual([], list(self.parent.iterdir()))
        for process in directory.processes:
            self.assertFalse(is_running(process.pid), process)

    async def test_a_process_that_ends_meanwhile(self):
        """It is not listed, and the list is complete."""
        made = await self.make()
        scripts.argv("folder.bash")  # reads the scripts
        read = scripts._read_script

        def read_script(name):
            """Return a script that finds a process without an entry."""
            return read(name).replace(
                "\nunset CDPATH\n",
                "\ninside() { echo 0999999999; }\nunset CDPATH\n",
            )

        with mock.patch.object(
            scripts, "_read_script", autospec=True, side_effect=read_script
        ):
            (directory,) = await self.find()
        self.assertEqual(str(made), directory.path)
        self.assertEqual((), directory.processes)

    async def test_a_running_run(self):
        _, folder = folders.start_run(self, self.parent)
        (directory,) = await self.find()
        self.assertEqual(
            (folder, "running"), (directory.path, directory.state)
        )

    async def test_a_run_of_another_controller(self):
        made = await self.make()
        for owner in ("h 0123456789abcdef 1 2", "", "\x1b[2J", "a b c d"):
            with self.subTest(owner):
                (made / MARK).write_text(f"{made.name}\n{owner}\n")
                (directory,) = await self.find()
                self.assertEqual("unknown", directory.state)

    async def test_only_folders_of_runs(self):
        """Neither copies nor links nor others' directories are found."""
        made = await self.make()
        shutil.copytree(made, self.parent / "rally-vmperf-copy567890")
        (self.parent / "rally-vmperf-link567890").symlink_to(made)
        (self.parent / "rally-vmperf-plain67890").mkdir()
        (directory,) = await self.find()
        self.assertEqual(str(made), directory.path)
        for name in ("copy567890", "link567890", "plain67890"):
            path = self.parent / f"rally-vmperf-{name}"
            with self.assertRaisesRegex(base.MachineError, "cannot remove"):
                await workfolder.end(self.machine, str(path))
            self.assertTrue(path.exists())

    async def test_a_process_of_a_user_at_a_terminal(self):
        """A shell in the directory is not killed."""
        made = await self.make()
        master, terminal = os.openpty()
        self.addCleanup(os.close, master)
        program = (
            "import fcntl, os, sys, termios, time; os.setsid(); "
            "fcntl.ioctl(0, termios.TIOCSCTTY, 0); print(1, flush=True); "
            "time.sleep(600)"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=terminal,
            stdout=subprocess.PIPE,
            cwd=made,
        )
        os.close(terminal)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()
        (directory,) = await self.find()
        self.assertEqual((), directory.processes)
        await workfolder.end(self.machine, str(made))
        self.assertIsNone(process.poll())
        self.assertFalse(made.exists())

    async def test_a_name_that_looks_like_an_answer(self):
        """The working directory of another process decides nothing."""
        made = await self.make()
        odd = self.parent / f"x\n1/cwd {made}" / "y"
        odd.mkdir(parents=True)
        process = subprocess.Popen(["sleep", "600"], cwd=odd)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        (directory,) = await self.find()
        self.assertEqual((), directory.processes)

    async def test_an_untrusted_answer(self):
        """Lines that are not valid are ignored; text is made harmless."""
        path = "/srv/rally-vmperf-0123456789"
        machine = testing.FakeMachine(
            "h",
            {
                "bash": "kib 3\nowner x\n"
                "directory /etc\nkib 4\n"
                f"directory {path}\nkib -1\nkib 5\nkib 1e9\n"
                "process 1 x\nprocess x 1 y\nprocess 7 0 a\x1b[2Jb\nwhat\n"
            },
        )
        (directory,) = await workfolder.find(machine, ["/srv"])
        self.assertEqual((path, 5), (directory.path, directory.kib))
        (process,) = directory.processes
        self.assertEqual((7, 0), (process.pid, process.uid))
        self.assertNotIn("\x1b", process.program)


def is_running(pid):
    """Return whether a process exists and is not a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
