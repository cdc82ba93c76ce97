# SPDX-License-Identifier: Apache-2.0
"""Log lines and messages of unit tests, which only a failed test prints.

Rally, Tempest and asyncio log to the standard error, as do commands whose
arguments a test expects to be rejected.
"""

import contextlib
import functools
import sys
import tempfile
import unittest


def begin() -> None:
    """Capture the standard error of each test from now on, for good."""
    # One file for all tests: a log handler keeps the stream of its creation.
    captured = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
    run = unittest.TestCase.run

    @functools.wraps(run)
    def run_and_capture(self, result=None):
        # A test may run other tests.
        if sys.stderr is captured:
            return run(self, result)
        captured.seek(0)
        captured.truncate()
        outcomes = []
        # Its success is final after the last cleanup.
        self.addCleanup(lambda: outcomes.append(self._outcome))
        with contextlib.redirect_stderr(captured):
            returned = run(self, result)
        captured.seek(0)
        text = captured.read()
        if text and not all(outcome.success for outcome in outcomes):
            print(f"\nStandard error of {self.id()}:\n{text}", file=sys.stderr)
        return returned

    unittest.TestCase.run = run_and_capture
