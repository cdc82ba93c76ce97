"""Tests of the list of reasons for which tests may be skipped."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import testtools
from stestr.repository import file

from tests import skips


class Sample(unittest.TestCase):
    """The tests of a run, which are not run here."""

    def skipped(self):
        """Skip for a reason that is not listed."""
        self.skipTest("the moon is full")

    def excused(self):
        """For one that is."""
        self.skipTest("no IPv6 loopback: none")

    def passes(self):
        """Nothing special."""


class TestSkips(unittest.TestCase):
    """A skipped test is named unless its reason is listed."""

    def check(self, *names):
        """Return the exit code for a run of these, and what was said."""
        with tempfile.TemporaryDirectory() as folder:
            # The format is that of stestr, not that of its output.
            repository = file.RepositoryFactory().initialise(folder)
            inserter = repository.get_inserter()
            result = testtools.ExtendedToStreamDecorator(inserter)
            result.startTestRun()
            unittest.TestSuite(map(Sample, names)).run(result)
            result.stopTestRun()
            path = pathlib.Path(folder, ".stestr", str(inserter.get_id()))
            stream = io.TextIOWrapper(io.BytesIO())
            with contextlib.redirect_stdout(stream):
                code = skips.main([str(path)])
        stream.seek(0)
        return code, stream.read()

    def test_listed(self):
        """Nothing is said of it."""
        self.assertEqual((0, ""), self.check("excused", "passes"))

    def test_not_listed(self):
        """It is named with its reason."""
        code, output = self.check("excused", "skipped", "passes")
        self.assertEqual(1, code)
        self.assertRegex(output, r"Sample\.skipped was skipped: the moon is ")
        self.assertEqual(1, len(output.splitlines()))
