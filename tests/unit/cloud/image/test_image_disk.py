"""Tests of how an image's filesystem is made."""

import os
import pathlib
import shutil
import subprocess
import unittest

from rally_vmperf.cloud.image import image_disk
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

DATE = 1700000000


class CommandsTestCase(unittest.TestCase):
    def test_identity_and_seed_are_fixed(self):
        words = image_disk.mkfs(pathlib.Path("/w/disk.raw"))
        self.assertEqual("/w/disk.raw", words[-1])
        self.assertNotIn("-d", words)
        self.assertEqual(
            image_disk.IDENTITY, words[words.index("-U") + 1], words
        )
        self.assertIn(f"hash_seed={image_disk.IDENTITY},", " ".join(words))

    def test_what_the_loader_can_read(self):
        words = " ".join(image_disk.mkfs(pathlib.Path("/d")))
        self.assertIn("-O ^64bit,^metadata_csum,^has_journal ", words)

    def test_filled_from_a_folder(self):
        words = image_disk.mkfs(pathlib.Path("/d"), pathlib.Path("/tree"))
        self.assertEqual(["-d", "/tree", "/d"], words[-3:])

    def test_unpacked_with_capabilities(self):
        words = image_disk.unpack(pathlib.Path("/t.tar"), pathlib.Path("/m"))
        self.assertEqual(
            "tar -xpf /t.tar -C /m --numeric-owner --xattrs "
            "--xattrs-include=*",
            " ".join(words),
        )

    def test_nobody_else_sees_the_mount(self):
        words = image_disk.inside(
            pathlib.Path("/d"), pathlib.Path("/m"), ["find", "/m"]
        )
        self.assertEqual(["unshare", "--mount", "sh"], words[:3])
        self.assertTrue(pathlib.Path(words[3]).exists())
        self.assertEqual(["/d", "/m", "find", "/m"], words[4:])

    def test_date_for_old_and_new_tools(self):
        seen = image_disk.dated(DATE)
        self.assertEqual(str(DATE), seen["SOURCE_DATE_EPOCH"])
        self.assertEqual(str(DATE), seen["E2FSPROGS_FAKE_TIME"])


@unittest.skipUnless(
    shutil.which("debugfs", path=commands.SYSTEM_PATH), "no e2fsprogs"
)
class CorrectionsTestCase(base.CloudTestCase):
    """With the real tools, which need no root without a mount."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.tree = self.folder / "tree"
        loader = self.tree / "boot" / "extlinux"
        loader.mkdir(parents=True)
        for name in ("ldlinux.sys", "ldlinux.c32", "extlinux.conf"):
            (loader / name).write_text(name)

    def disk(self, name, *, corrected=True):
        """Return a filesystem made of the tree as it is now."""
        disk = self.folder / name
        with open(disk, "wb") as stream:
            stream.truncate(8 << 20)
        environment = image_disk.dated(DATE)
        commands.run(image_disk.mkfs(disk, self.tree), env=environment)
        if corrected:
            lines = image_disk.corrections(range(11, 19), DATE)
            image_disk.rewrite(disk, lines, environment, self.log)
        return disk

    def touch(self):
        """Give the tree other times than it had."""
        for path in (self.tree, *self.tree.rglob("*")):
            os.utime(path, (1, path.lstat().st_mtime))

    def test_equal_at_another_time(self):
        for path in self.tree.rglob("*"):
            os.utime(path, (DATE, DATE))
        one = self.disk("one").read_bytes()
        self.touch()
        self.assertEqual(one, self.disk("other").read_bytes())
        subprocess.run(
            ["e2fsck", "-fn", self.folder / "other"],
            env=commands.plain_environment(),
            check=True,
            capture_output=True,
        )

    def test_not_equal_without_the_corrections(self):
        """So that the other test means something."""
        one = self.disk("one", corrected=False).read_bytes()
        self.touch()
        other = self.disk("other", corrected=False).read_bytes()
        self.assertNotEqual(one, other)

    def test_a_line_that_debugfs_refuses(self):
        disk = self.disk("one")
        with self.assertRaisesRegex(
            errors.CloudError, "^debugfs: .*nosuch.*log"
        ):
            image_disk.rewrite(
                disk,
                ["sif <11> nosuch 1"],
                image_disk.dated(DATE),
                self.log,
            )
        self.assertIn("nosuch", self.log.read_text())
