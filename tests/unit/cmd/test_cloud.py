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
        parsed = self.parse(cloud.Up, "--disk-cache", "directsync")
        self.assertEqual("directsync", parsed.disk_cache)

    def test_a_network_that_is_none(self):
        for given, said in (
            ("10.0.0.0/24", "10.0.0.0/24 is not from /8 to /22; use a"),
            ("here", "'here'; use a network such as 10.66.0.0/22"),
        ):
            with (
                self.assertRaises(SystemExit),
                contextlib.redirect_stderr(io.StringIO()) as shown,
            ):
                self.parse(cloud.Up, "--network", given)
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
