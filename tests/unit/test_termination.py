# SPDX-License-Identifier: Apache-2.0
"""Tests of the signals that end a process."""

import os
import signal
import subprocess
import sys
import threading
import unittest

import ddt

from rally_vmperf import termination
from tests import patience
from tests import signals

# An event loop in which a task must be ended, not abandoned.
SCRIPT = """
import asyncio, os, signal, sys
from rally_vmperf import termination
termination.as_interrupt()
async def work():
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
        await asyncio.sleep(30)
    finally:
        print("cleaned up")
try:
    asyncio.run(work())
except KeyboardInterrupt:
    print("interrupted")
"""


@ddt.ddt
class TestAsInterrupt(unittest.TestCase):
    """SIGTERM and SIGHUP end a run as Ctrl-C does."""

    @ddt.data(signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    def test_tasks_are_ended_first(self, number):
        """Tasks that are running clean up after themselves."""
        self._check(number)

    @ddt.data(signal.SIGTERM, signal.SIGHUP)
    def test_where_ctrl_c_is_ignored(self, number):
        """Shells have what they start in the background ignore SIGINT."""
        self._check(number, "env", "--ignore-signal=INT")

    def test_tests_that_ignore_ctrl_c_do_not_hand_that_on(self):
        """A background job of a shell can test what Ctrl-C does."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        self._check(signal.SIGINT)

    def _check(self, number, *within):
        python = (sys.executable, "-c", SCRIPT, str(int(number)))
        process = subprocess.run(
            [*signals.DEFAULT, *within, *python],
            capture_output=True,
            text=True,
            check=True,
            timeout=patience.seconds(25),
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        self.assertEqual(
            ["cleaned up", "interrupted"], process.stdout.split("\n")[:2]
        )

    def test_other_handlers_are_kept(self):
        """Handlers that exist already are called."""
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        termination.as_interrupt()
        self.assertIs(signal.SIG_IGN, signal.getsignal(signal.SIGTERM))

    def test_other_threads_cannot(self):
        """They do not try."""
        thread = threading.Thread(target=termination.as_interrupt)
        thread.start()
        thread.join()
