# SPDX-License-Identifier: Apache-2.0
"""Removal of the product's own folders, and of no others."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf import removal
from tests import skips

#: What must outlive every refused deletion.
KEPT = ("root/a/b/file", "root/.rally-vmperf", "root/plain", "other/file")


@ddt.ddt
class RemovalCase(unittest.TestCase):
    """A marked folder and another one next to it."""

    def setUp(self):
        """Make both, with links between them."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        self.root = self.top / "root"
        self.other = self.top / "other"
        (self.root / "a" / "b").mkdir(parents=True)
        self.other.mkdir()
        for name in KEPT:
            (self.top / name).touch()
        (self.root / "a" / "b" / "out").symlink_to(self.other)
        (self.root / "out").symlink_to(self.other)
        (self.top / "alias").symlink_to(self.root)
        removal.mark(self.root)

    def refused(self, path, below, reason):
        """Expect an error in one line, and everything in its place."""
        with self.assertRaisesRegex(errors.VMPerfError, reason) as caught:
            removal.remove(path, below)
        self.assertNotIn("\n", str(caught.exception))
        for name in KEPT:
            self.assertTrue((self.top / name).exists(), name)

    def test_a_tree(self):
        """Links in it are removed, and what they lead to stays."""
        removal.remove(self.root / "a", self.root)
        removal.remove(self.root / "out", self.root)
        self.assertEqual({removal.MARKER, "plain"}, set(os.listdir(self.root)))
        self.assertTrue((self.other / "file").exists())

    def test_a_file_and_what_is_not_there(self):
        """A path that does not exist does not fail."""
        for name in ("a/b/file", "a/b/file", "none", "none/at/all"):
            removal.remove(self.root / name, self.root)
        self.assertFalse((self.root / "a/b/file").exists())

    @ddt.data(
        ("root", "root", "is not below"),
        ("other/file", "root", "is not below"),
        ("root/../other", "root", "is not below"),
        ("root/a/../../other", "root", "is not below"),
        ("other/file", "other", "has no file .rally-vmperf"),
        ("root/a/b", "root/a", "has no file .rally-vmperf"),
        ("root/out/file", "root", "contains a link"),
        ("root/plain/x", "root", "contains a link"),
        ("alias/a", "alias", "has no file .rally-vmperf"),
    )
    @ddt.unpack
    def test_refused(self, path, below, reason):
        """A folder outside, unmarked or behind a link is not deleted."""
        self.refused(self.top / path, self.top / below, reason)

    def test_a_marker_that_is_a_link(self):
        """The file of another user does not mark a folder."""
        (self.root / removal.MARKER).unlink()
        (self.root / removal.MARKER).symlink_to(self.other / "file")
        self.refused(self.root / "a", self.root, "has no file")

    @skips.requires(root=True)
    def test_a_marker_of_another_user(self):
        """Nor does one that another user wrote, or a folder of his."""
        for path in (self.root / removal.MARKER, self.root):
            os.chown(path, 65534, -1)
            self.refused(self.root / "a", self.root, "has no file")
            os.chown(path, 0, -1)

    @skips.requires("mount", root=True)
    def test_mounts(self):
        """Mounts inside stay, on the same filesystem too."""
        mounted = self.root / "a" / "b"
        process = subprocess.run(
            ["mount", "--bind", str(self.other), str(mounted)],
            capture_output=True,
            check=False,
        )
        if process.returncode:
            self.skipTest("nothing can be mounted here")
        try:
            for path in (self.root / "a", mounted, mounted / "file"):
                with self.assertRaisesRegex(
                    errors.VMPerfError, f"{mounted} is a mount point"
                ):
                    removal.remove(path, self.root)
        finally:
            subprocess.run(["umount", str(mounted)], check=True)
        self.assertTrue((self.other / "file").exists())

    def test_discard(self):
        """A folder of the product goes as a whole; others do not."""
        removal.discard(self.root)
        self.assertFalse(self.root.exists())
        with self.assertRaisesRegex(errors.VMPerfError, "has no file"):
            removal.discard(self.other)
        self.assertTrue((self.other / "file").exists())

    def test_temporary(self):
        """It is there for the time of the work, for us alone."""
        with removal.temporary("x-", self.top) as folder:
            (folder / "below").mkdir()
            self.assertEqual(0o700, folder.stat().st_mode & 0o777)
        self.assertFalse(folder.exists())


class OneWayTestCase(unittest.TestCase):
    """The product deletes trees nowhere else."""

    def test_the_embedded_cloud(self):
        """None of its modules deletes a tree by itself."""
        top = pathlib.Path(removal.__file__).parent
        modules = [
            *(top / "image").rglob("*.py"),
            *(top.parent / "tests" / "cloud").rglob("*.py"),
            *(top / "cmd").rglob("*.py"),
        ]
        self.assertGreater(len(modules), 40)
        for path in modules:
            text = path.read_text()
            for way in ("rmtree", "TemporaryDirectory", '"-rf"', '"rm"'):
                message = f"{path}: use rally_vmperf.removal instead"
                self.assertNotIn(way, text, message)
