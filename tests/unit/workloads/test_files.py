# SPDX-License-Identifier: Apache-2.0
"""Tests of the files that workloads bring."""

import hashlib
import os
import pathlib
import tempfile
import unittest

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files


class ReadTestCase(unittest.TestCase):
    """A file is the package's or the operator's, and it is the right one."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "own"
        self.path.write_bytes(b"content")

    def refused(self, **file):
        with self.assertRaises(base.WorkloadError) as caught:
            files.read(base.File(name="x", **file))
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_of_the_operator(self):
        digest = hashlib.sha256(b"content").hexdigest()
        for expected in ("", digest):
            file = base.File(name="x", path=str(self.path), sha256=expected)
            self.assertEqual(b"content", files.read(file))

    def test_of_a_package(self):
        file = base.File(name="x", package="json", path="tool.py")
        self.assertIn(b"import", files.read(file))

    def test_another_one(self):
        message = self.refused(path=str(self.path), sha256="0" * 64)
        self.assertRegex(
            message, f"own has .* instead of {'0' * 64}; download it"
        )

    def test_a_pipe(self):
        """It is not waited for."""
        path = self.path.with_name("pipe")
        os.mkfifo(path)
        message = self.refused(path=str(path))
        self.assertIn("cannot be read: is not a regular file;", message)

    def test_missing_ones(self):
        path = self.path.with_name("absent")
        message = self.refused(path=str(path))
        self.assertEqual(
            f"file {path} of this machine cannot be read: No such file "
            "or directory; specify its absolute path on the machine that runs "
            "rally-vmperf",
            message,
        )
        for package in ("json", "no_such_package"):
            message = self.refused(package=package, path="none")
            self.assertRegex(message, f"package {package} cannot .* reinstall")
