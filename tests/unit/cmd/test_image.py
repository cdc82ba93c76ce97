"""Tests of the command that builds the guest image."""

import unittest
from unittest import mock

from rally_vmperf.cmd import image
from rally_vmperf.image.system import errors


class TestBuild(unittest.TestCase):
    """Arguments, and the user."""

    def parse(self, *words):
        """Return the command and its parsed arguments."""
        command = image.Build(mock.Mock(), None)
        return command, command.get_parser("image").parse_args(words)

    def test_arguments(self):
        """Size and release have defaults."""
        _, parsed = self.parse("--size", "3G")
        self.assertEqual(("3G", "bookworm"), (parsed.size, parsed.suite))

    def test_other_user(self):
        """Only root can build an image."""
        command, parsed = self.parse()
        with (
            mock.patch("os.geteuid", autospec=True, return_value=1000),
            self.assertRaisesRegex(errors.HostError, "must be root"),
        ):
            command.take_action(parsed)
