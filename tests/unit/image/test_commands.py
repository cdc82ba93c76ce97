# SPDX-License-Identifier: Apache-2.0
import pathlib
import types
import unittest
from unittest import mock

from rally_vmperf.image import commands
from tests.unit.cloud import base


class RunTestCase(base.CloudTestCase):
    def test_what_it_printed(self):
        self.assertEqual("a\n", commands.run(["/bin/echo", "a"]))
        # It reads nothing of the caller.
        self.assertEqual("", commands.run(["/bin/cat"]))

    def test_a_failure_in_one_line(self):
        log = self.folder / "log"
        with self.assertRaises(commands.HostError) as failed:
            commands.run(
                ["/bin/sh", "-c", "echo first; echo last >&2; exit 3"], log=log
            )
        self.assertRegex(
            str(failed.exception),
            r"^'/bin/sh -c .* ended with code 3: last "
            r"\(whole output: .*log\)$",
        )
        self.assertEqual("first\nlast\n", log.read_text())

    def test_log_that_is_a_link(self):
        """Another user can own it; its target does not change."""
        target, log = self.folder / "target", self.folder / "log"
        log.symlink_to(target)
        for content in (None, "kept\n"):
            if content:
                target.write_text(content)
            with self.assertRaisesRegex(
                commands.HostError, f"^log {log}: is a link; remove it$"
            ):
                commands.run(["/bin/echo", "a"], log=log)
            self.assertEqual(bool(content), target.exists())
        self.assertEqual("kept\n", target.read_text())

    def test_log_of_several_commands(self):
        log = self.folder / "log"
        for text in ("a", "b"):
            commands.run(["/bin/echo", text], log=log)
        self.assertEqual("a\nb\n", log.read_text())

    def test_an_accepted_failure(self):
        command = ["/bin/sh", "-c", "exit 3"]
        self.assertEqual("", commands.run(command, accept=(0, 3)))
        self.assertFalse(commands.quietly(command))

    def test_too_long(self):
        with self.assertRaisesRegex(commands.HostError, "sleep did not end"):
            commands.run(["/bin/sleep", "60"], timeout=0.1)

    def test_user(self):
        commands.check_user(0)
        with self.assertRaisesRegex(commands.HostError, "1000: must be root"):
            commands.check_user(1000)

    def test_no_such_program(self):
        with self.assertRaisesRegex(commands.HostError, "program x is not"):
            commands.run(["/no/such/x"])


class HoldTestCase(base.CloudTestCase):
    def test_one_at_a_time(self):
        with (
            commands.hold_lock(self.folders.root),
            self.assertRaisesRegex(commands.HostError, "another command"),
            commands.hold_lock(self.folders.root),
        ):
            self.fail("both hold it")
        with commands.hold_lock(self.folders.root):
            """Free again."""


POINTS = ("/", "/run/netns", "/run/netns/a", "/run/netns-of-others/b")


class BelowTestCase(unittest.TestCase):
    def test_the_last_one_first(self):
        table = [types.SimpleNamespace(mountpoint=point) for point in POINTS]
        with mock.patch.object(
            commands.psutil,
            "disk_partitions",
            autospec=True,
            return_value=table,
        ):
            self.assertEqual(
                ["/run/netns/a", "/run/netns"],
                commands.list_mounts(pathlib.Path("/run/netns")),
            )

    def test_of_this_machine(self):
        self.assertIn("/proc", commands.list_mounts(pathlib.Path("/")))
