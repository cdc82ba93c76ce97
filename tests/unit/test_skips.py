"""Tests of the list of reasons for which tests may be skipped."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import subunit
import testtools

from tests import skips


class Sample(unittest.TestCase):
    """What a run has, made without running it here."""

    def skipped(self):
        """For a reason that nobody listed."""
        self.skipTest("the moon is full")

    def excused(self):
        """For one that is."""
        self.skipTest("this machine has no iozone")

    def passes(self):
        """Nothing special."""


class TestSkips(unittest.TestCase):
    """A skipped test is named unless its reason is listed."""

    def check(self, *names):
        """Return the exit code for a run of these, and what was said."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "0")
            with path.open("wb") as stream:
                result = testtools.ExtendedToStreamDecorator(
                    subunit.StreamResultToBytes(stream)
                )
                result.startTestRun()
                unittest.TestSuite(map(Sample, names)).run(result)
                result.stopTestRun()
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                code = skips.main([str(path)])
        return code, said.getvalue()

    def test_listed(self):
        """Nothing is said of it."""
        self.assertEqual((0, ""), self.check("excused", "passes"))

    def test_not_listed(self):
        """It is named with its reason."""
        code, said = self.check("excused", "skipped", "passes")
        self.assertEqual(1, code)
        self.assertRegex(said, r"Sample\.skipped was skipped: the moon is ")
        self.assertEqual(1, len(said.splitlines()))
