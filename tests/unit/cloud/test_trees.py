"""Tests of what the comparison of two images tells."""

import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from tests.long import trees

#: Copies of a file have inodes and times of change of their own.
COPIED = ("mode", "uid", "gid", "size", "mtime_ns")


@mock.patch.object(trees, "FIELDS", COPIED)
class DifferencesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.one = pathlib.Path(folder.name, "one")
        self.other = pathlib.Path(folder.name, "other")
        (self.one / "etc").mkdir(parents=True)
        (self.one / "etc" / "file").write_text("text")
        (self.one / "link").symlink_to("etc")
        shutil.copytree(self.one, self.other, symlinks=True)
        shutil.copystat(
            self.one / "link", self.other / "link", follow_symlinks=False
        )

    def found(self):
        return list(trees.differences(self.one, self.other))

    def test_copies_do_not_differ(self):
        self.assertEqual([], self.found())

    def test_content_of_the_same_length_and_time(self):
        path = self.other / "etc" / "file"
        times = os.stat(path)
        path.write_text("TEXT")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(["etc/file: content"], self.found())

    def test_mode_and_time(self):
        path = self.other / "etc" / "file"
        path.chmod(0o600)
        os.utime(path, (1, 1))
        self.assertEqual(["etc/file: mode, mtime_ns"], self.found())

    def test_only_in_one(self):
        (self.one / "etc" / "file").rename(self.one / "etc" / "file-old")
        text = "\n".join(self.found())
        self.assertIn(f"etc/file: only in {self.other}", text)
        self.assertIn(f"etc/file-old: only in {self.one}", text)
