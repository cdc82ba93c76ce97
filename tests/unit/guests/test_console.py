# SPDX-License-Identifier: Apache-2.0
"""Tests for the end of a console."""

import unittest
from unittest import mock

from rally_vmperf.guests import console
from tests.unit.guests import testing


class SanitiseTest(unittest.TestCase):
    def test_only_printable(self):
        text = "\x1b[2J\x1b[1;32mok\x1b[0m\x00\r\nl\u202en\tx\n\n"
        self.assertEqual("ok\nl n x", console.sanitise(text))

    def test_bounded(self):
        lines = console.sanitise("y" * 999 + "\n" * 9 + "x\n" * 99).split("\n")
        self.assertEqual(["x"] * 15, lines)
        self.assertEqual(200, len(console.sanitise("y" * 999)))


class LogTest(unittest.TestCase):
    def test_empty_answer(self):
        """The SDK raises an error of JSON for it."""
        cloud = testing.FakeCloud()
        for answer in (ValueError("Expecting value"), None, {}, {"output": 7}):
            with mock.patch.object(
                cloud.compute,
                "get_server_console_output",
                autospec=True,
                side_effect=[answer],
            ):
                diagnosis = console.diagnose(cloud, "server")
            self.assertEqual([], diagnosis.hints)
            self.assertEqual("(the console is empty)", diagnosis.end)

    def test_the_whole_console_is_requested(self):
        """Not only its end, where no sign of a failure need be."""
        cloud = testing.FakeCloud()
        cloud.compute.console = "Out of memory: Kill\n" + "later\n" * 100
        diagnosis = console.diagnose(cloud, "server")
        self.assertEqual([console.NO_MEMORY], diagnosis.hints)
