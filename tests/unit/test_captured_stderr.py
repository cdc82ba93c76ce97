# SPDX-License-Identifier: Apache-2.0
"""Tests of what tests print."""

import os
import subprocess
import sys
import unittest

import ddt

from tests.unit import confinement

#: Runs tests that log, in a process of their own; the last one as given.
RUN = """
import logging, sys, unittest
from tests import unit
class Loud(unittest.TestCase):
    def test_handler(self):
        logging.basicConfig()
        logging.error("at first")
    def test_last(self):
        logging.error("at last")
        print("a message", file=sys.stderr)
        {deed}
for name in ("test_handler", "test_last"):
    Loud(name).run(unittest.TestResult())
print("outside", file=sys.stderr)
"""


@ddt.ddt
class CapturedStderrTest(unittest.TestCase):
    """The test, or the one before it, has made a log handler."""

    def print(self, deed):
        """Return the standard error of the tests."""
        process = subprocess.run(
            [sys.executable, "-c", RUN.format(deed=deed)],
            cwd=confinement.CHECKOUT,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            check=True,
        )
        return process.stderr

    def test_passed(self):
        """It prints nothing."""
        self.assertEqual("outside\n", self.print("pass"))

    @ddt.data(
        "self.fail()",
        "1 / 0",
        "self.addCleanup(self.fail)",
        "with self.subTest(): self.fail()",
    )
    def test_failed(self, deed):
        """It prints all that it wrote, and nothing of the other test."""
        self.assertEqual(
            "\nStandard error of __main__.Loud.test_last:\n"
            "ERROR:root:at last\na message\n\noutside\n",
            self.print(deed),
        )

    def test_that_runs_tests(self):
        """Their output is a part of its own."""
        text = self.print(
            "Loud('test_handler').run(unittest.TestResult()); self.fail()"
        )
        self.assertIn("at last", text)
        self.assertIn("at first", text)
