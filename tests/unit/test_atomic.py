# SPDX-License-Identifier: Apache-2.0
"""Tests of atomic writes."""

import errno
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf import atomic


@ddt.ddt
class AtomicTest(unittest.TestCase):
    """A file is complete, or does not exist."""

    def setUp(self):
        """Have a directory, which only contains the file afterwards."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder, "new")

    def list_names(self):
        """Return the names in the directory."""
        return os.listdir(self.path.parent)

    @ddt.data(None, errno.EPERM, errno.ENOTSUP)
    def test_existing_file(self, number):
        """It is kept, also on a file system without links."""
        failure = number and OSError(number, os.strerror(number))
        with mock.patch.object(
            os, "link", autospec=True, side_effect=failure or os.link
        ):
            atomic.write(self.path, "ü", replace=False, mode=0o640)
            with self.assertRaises(FileExistsError):
                atomic.write(self.path, "other", replace=False)
        self.assertEqual("ü", self.path.read_text(encoding="utf-8"))
        self.assertEqual(0o640, self.path.stat().st_mode & 0o777)
        self.assertEqual(["new"], self.list_names())
        atomic.write(self.path, b"other")
        self.assertEqual(b"other", self.path.read_bytes())

    @ddt.data("fsync", "fchmod", "link")
    def test_failure(self, function):
        """Nothing is left."""
        full = OSError(errno.ENOSPC, "No space left on device")
        with (
            mock.patch.object(os, function, autospec=True, side_effect=full),
            self.assertRaises(OSError) as raised,
        ):
            atomic.write(self.path, "text", replace=False)
        self.assertIs(full, raised.exception)
        self.assertEqual([], self.list_names())
