import contextlib
import io
import pathlib
import unittest
from unittest import mock

from rally_vmperf.cloud.system import errors
from rally_vmperf.cmd import cloud
from rally_vmperf.cmd import image


class ParserTestCase(unittest.TestCase):
    def parse(self, command, *words):
        return command(None, None).get_parser("x").parse_args(words)

    def test_up(self):
        parsed = self.parse(cloud.Up)
        self.assertEqual(pathlib.Path("/var/lib/vmperf-cloud"), parsed.root)
        self.assertIsNone(parsed.disk_cache)
        self.assertIsNone(parsed.hypervisors)
        self.assertFalse(parsed.rebuild)
        parsed = self.parse(
            cloud.Up,
            *("--disk-cache", "directsync", "--hypervisors", "2", "--rebuild"),
        )
        self.assertEqual("directsync", parsed.disk_cache)
        self.assertEqual(2, parsed.hypervisors)
        self.assertTrue(parsed.rebuild)

    def test_rejected_values(self):
        for option, given, said in (
            ("--network", "10.0.0.0/24", "is not from /8 to /22; use a"),
            (
                "--network",
                "here",
                "'here'; use a network such as 10.66.0.0/22",
            ),
            ("--hypervisors", "3", "invalid choice: 3 (choose from 1, 2)"),
            ("--disk-cache", "fast", "invalid choice: 'fast'"),
        ):
            with (
                self.assertRaises(SystemExit),
                contextlib.redirect_stderr(io.StringIO()) as shown,
            ):
                self.parse(cloud.Up, option, given)
            self.assertIn(said, shown.getvalue())

    def test_down(self):
        self.assertFalse(self.parse(cloud.Down).purge)
        self.assertTrue(self.parse(cloud.Down, "--purge").purge)

    def test_image(self):
        parsed = self.parse(image.Build, "--size", "3G")
        self.assertEqual(("3G", "bookworm"), (parsed.size, parsed.suite))


class UserTestCase(unittest.TestCase):
    def test_not_root(self):
        for command in (cloud.Up, cloud.Down, cloud.Status, image.Build):
            with (
                self.subTest(command),
                mock.patch("os.geteuid", autospec=True, return_value=1000),
                self.assertRaisesRegex(errors.CloudError, "needs root"),
            ):
                shell = command(mock.Mock(), None)
                shell.take_action(shell.get_parser("x").parse_args([]))
