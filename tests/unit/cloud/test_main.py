# SPDX-License-Identifier: Apache-2.0
"""Tests of the command line of the embedded cloud."""

import contextlib
import io
import pathlib
import unittest
from unittest import mock

import ddt

from rally_vmperf.image import commands
from tests.cloud import __main__ as main
from tests.cloud import bringup
from tests.cloud import status
from tests.cloud import teardown
from tests.cloud.state import state_root


def parse(*arguments):
    """Return the parsed command line."""
    return main.create_parser().parse_args(arguments)


def run(*arguments):
    """Return the exit code, the output and the errors of a command."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as output,
        contextlib.redirect_stderr(io.StringIO()) as messages,
    ):
        code = main.main(arguments)
    return code, output.getvalue(), messages.getvalue()


@ddt.ddt
class TestParser(unittest.TestCase):
    """Options and their values."""

    def test_up(self):
        """Defaults select the previous settings."""
        parsed = parse("up")
        self.assertEqual(pathlib.Path("/var/lib/vmperf-cloud"), parsed.root)
        self.assertIsNone(parsed.disk_cache)
        self.assertIsNone(parsed.network)
        self.assertIsNone(parsed.hypervisors)
        self.assertIsNone(parsed.volumes)
        self.assertFalse(parsed.rebuild)
        parsed = parse(
            *("up", "--disk-cache", "directsync", "--hypervisors", "2"),
            *("--rebuild", "--root", "/x", "--volumes"),
        )
        self.assertEqual(pathlib.Path("/x"), parsed.root)
        self.assertEqual("directsync", parsed.disk_cache)
        self.assertEqual(2, parsed.hypervisors)
        self.assertIs(True, parsed.volumes)
        self.assertIs(False, parse("up", "--no-volumes").volumes)
        self.assertTrue(parsed.rebuild)

    def test_down(self):
        """Files are deleted on request only."""
        self.assertFalse(parse("down").purge)
        self.assertTrue(parse("down", "--purge").purge)

    @ddt.data(
        ("--network", "10.0.0.0/24", "is not from /8 to /22; use a"),
        ("--network", "here", "'here'; use a network such as 10.66.0.0/22"),
        ("--hypervisors", "3", "invalid choice: '?3'? [(]choose from 1, 2[)]"),
        ("--disk-cache", "fast", "invalid choice: 'fast'"),
    )
    @ddt.unpack
    def test_rejected_value(self, option, value, message):
        """The message has the value and the rule."""
        with (
            self.assertRaises(SystemExit),
            contextlib.redirect_stderr(io.StringIO()) as messages,
        ):
            parse("up", option, value)
        self.assertRegex(messages.getvalue(), message)


class TestMain(unittest.TestCase):
    """Commands and their exit codes."""

    def setUp(self):
        """Run the commands as root, without an effect."""
        super().setUp()
        for module, name in (
            (bringup, "up"),
            (teardown, "down"),
            (status, "describe"),
        ):
            patch = mock.patch.object(module, name, autospec=True)
            setattr(self, name, self.enterContext(patch))
        self.enterContext(
            mock.patch.object(
                state_root,
                "check_name",
                autospec=True,
                side_effect=lambda x: x,
            )
        )
        self.user = self.enterContext(
            mock.patch("os.geteuid", autospec=True, return_value=0)
        )

    def test_options(self):
        """Options reach the functions that start and stop the cloud."""
        arguments = (
            "up",
            "--root",
            "/srv/x",
            "--hypervisors",
            "2",
            "--no-volumes",
            "--rebuild",
        )
        self.assertEqual((0, "", ""), run(*arguments))
        (folders, _), options = self.up.call_args
        self.assertEqual(pathlib.Path("/srv/x"), folders.root)
        self.assertEqual(
            {
                "disk_cache": None,
                "network": None,
                "hypervisor_count": 2,
                "with_volumes": False,
                "rebuild": True,
            },
            options,
        )
        run("down", "--root", "/srv/x", "--purge")
        self.assertEqual({"purge": True}, self.down.call_args.kwargs)

    def test_status(self):
        """The table has a heading and aligned columns."""
        self.describe.return_value = [("sshd", "h", "running", "7", "", "")]
        code, output, _ = run("status")
        self.assertEqual(0, code)
        self.assertEqual(
            "Service  Host  State    PID  Since  Trouble\n"
            "sshd     h     running  7\n",
            output,
        )

    def test_error(self):
        """An error is one line, and the exit code is 1."""
        self.up.side_effect = commands.HostError("no disk")
        self.assertEqual((1, "", "tests.cloud: no disk\n"), run("up"))

    def test_interrupt(self):
        """The exit code is that of a shell for Ctrl-C."""
        self.up.side_effect = KeyboardInterrupt
        self.assertEqual(130, run("up")[0])

    def test_other_user(self):
        """Each command requires root."""
        self.user.return_value = 1000
        for name in ("up", "down", "status"):
            code, _, message = run(name)
            self.assertEqual(1, code)
            self.assertIn("the user is 1000: must be root", message)
        self.up.assert_not_called()
        self.down.assert_not_called()
