# SPDX-License-Identifier: Apache-2.0
"""Tests of the list of reasons for which tests may be skipped."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
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


@ddt.ddt
class TestRequirements(unittest.TestCase):
    """A test that lacks what it requires is skipped, with the reason."""

    def skip_reasons(self, user, *programs, root):
        """Return the reasons of two tests, with and without a decorator."""

        class Demanding(unittest.TestCase):
            def plain(self):
                skips.require(self, *programs, root=root)

        with mock.patch("os.geteuid", autospec=True, return_value=user):

            @skips.requires(*programs, root=root)
            class Decorated(unittest.TestCase):
                def plain(self):
                    """Nothing special."""

            result = unittest.TestResult()
            for test in (Demanding("plain"), Decorated("plain")):
                test.run(result)
        self.assertEqual((2, True), (result.testsRun, result.wasSuccessful()))
        return {reason for _, reason in result.skipped}

    @ddt.data(
        (0, ("sh",), True, set()),
        (1000, ("sh",), False, set()),
        (1000, (), True, {"requires root"}),
        (0, ("sh", "no-program"), True, {"requires no-program"}),
        (1000, ("no-program",), True, {"requires root, no-program"}),
    )
    @ddt.unpack
    def test_reason(self, user, programs, root, reasons):
        found = self.skip_reasons(user, *programs, root=root)
        self.assertEqual(reasons, found)
        # Where all packages are installed, as in CI, it is an error.
        for reason in found:
            self.assertIsNone(skips.KNOWN.fullmatch(reason))
