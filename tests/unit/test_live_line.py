# SPDX-License-Identifier: Apache-2.0
"""Tests of the line of progress on a terminal."""

import contextlib
import io
import logging
import os
import pty
import select
import unittest
from unittest import mock

from rally_vmperf import errors
from rally_vmperf import live_line


class TestLiveLine(unittest.TestCase):
    """Log lines appear above the line, and do not break it."""

    def setUp(self):
        super().setUp()
        self.controller, terminal = pty.openpty()
        self.addCleanup(os.close, self.controller)
        stream = self.enterContext(os.fdopen(terminal, "w"))
        self.handler = logging.StreamHandler(stream)
        self.logger = logging.getLogger("live-line-test")
        self.logger.propagate = False
        self.logger.addHandler(self.handler)
        self.addCleanup(self.logger.removeHandler, self.handler)
        self.enterContext(
            mock.patch.object(
                logging, "getLogger", autospec=True, return_value=self.logger
            )
        )
        self.addCleanup(live_line.close)

    def read(self):
        """Return what the terminal was sent since the last call."""
        text = b""
        while select.select([self.controller], [], [], 0.2)[0]:
            text += os.read(self.controller, 1 << 16)
        return text.decode()

    def screen(self):
        """Return the lines of text that remain on the terminal."""
        lines = self.read().replace("\r\n", "\n").split("\n")
        return [line.rpartition("\x1b[K")[2] for line in lines]

    def test_log_lines(self):
        """They are whole, and the line follows them."""
        line = live_line.find_line()
        line.show("Repetition 2 of 6, about 3 minutes left")
        line.show("fio on g1")
        self.logger.warning("ITER: 2 START")
        shown = "Repetition 2 of 6, about 3 minutes left: fio on g1"
        self.assertEqual(["ITER: 2 START", shown], self.screen())

    def test_end(self):
        """Nothing remains of the line, and log lines are as before."""
        live_line.find_line().show("fio on g1")
        live_line.close()
        self.assertEqual([""], self.screen())
        self.logger.warning("done")
        self.assertEqual("done\r\n", self.read())

    def test_width(self):
        """A long line is cut, and control characters do nothing."""
        live_line.find_line().show("\x1b[2J" + "x" * 500)
        (shown,) = self.screen()
        self.assertLess(len(shown), 200)
        self.assertNotIn("\x1b", shown)

    def test_no_terminal(self):
        """Plain log lines are written instead."""
        with open(os.devnull, "w") as stream:
            self.handler.setStream(stream)
            self.assertIsNone(live_line.find_line())

    def test_replaced_messages(self):
        """There is one line until the end, with warnings above it."""
        self.logger.setLevel(logging.INFO)
        with live_line.replace_messages():
            self.logger.info("Starting:\ntask")
            self.assertEqual(["Starting: task"], self.screen())
            live_line.find_line().show("Repetition 1 of 3")
            live_line.find_line().show("fio on g1")
            self.logger.info("ITER: 1 START")
            self.logger.warning("g1 is slow")
            shown = "Repetition 1 of 3: fio on g1"
            self.assertEqual(["g1 is slow", shown], self.screen())
            # The context of guests deletes the line before it deletes them.
            live_line.close()
            self.assertEqual([""], self.screen())
            self.logger.info("Deleting g1")
            self.assertEqual(["Deleting g1"], self.screen())
        self.assertEqual([""], self.screen())
        self.logger.info("done")
        self.assertEqual("done\r\n", self.read())

    def test_errors(self):
        """The user can correct a known error; others have their traceback."""
        with live_line.replace_messages():
            for error in (errors.VMPerfError("g1: no SSH"), KeyError("x")):
                try:
                    raise error
                except Exception:
                    self.logger.exception("Unexpected exception during x")
        text = self.read().replace("\x1b[K", "").replace("\r", "")
        self.assertTrue(text.startswith("g1: no SSH\nUnexpected exc"), text)
        self.assertIn("KeyError: 'x'", text)

    def test_replaced_messages_without_terminal(self):
        """Repetitions are lines, and warnings have no prefix."""
        self.logger.setLevel(logging.INFO)
        log, repetitions = io.StringIO(), io.StringIO()
        self.handler.setStream(log)
        self.handler.setFormatter(logging.Formatter("LOG %(message)s"))
        with (
            contextlib.redirect_stderr(repetitions),
            live_line.replace_messages(),
        ):
            self.assertIsNone(live_line.find_line())
            for line in ("Starting", "Repetition 1 of 3", "fio on g1"):
                self.logger.info(line)
            self.logger.warning("g1 is slow")
        self.assertEqual("Repetition 1 of 3\n", repetitions.getvalue())
        self.logger.info("done")
        self.assertEqual("g1 is slow\nLOG done\n", log.getvalue())
