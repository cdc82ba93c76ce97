# SPDX-License-Identifier: Apache-2.0
"""Tests of how an image's filesystem is made."""

import pathlib
import unittest

from rally_vmperf.image import image_disk
from tests.unit.cloud import base


class MakeTestCase(base.CloudTestCase):
    def make(self):
        """Return the commands that make a disk."""
        commands = []
        image_disk.make(
            self.folder / "disk.raw",
            "2G",
            self.folder / "system.tar",
            commands.append,
        )
        return commands

    def test_filesystem_the_loader_can_read(self):
        command = self.make()[1]
        self.assertEqual("mkfs.ext4", command[0])
        self.assertIn(
            "-O ^64bit,^metadata_csum,^has_journal ", " ".join(command)
        )

    def test_no_second_filesystem(self):
        """The archive is unpacked where it stays, and then made to boot."""
        disk = str(self.folder / "disk.raw")
        commands = self.make()
        for command in commands:
            self.assertIn(disk, command)
        self.assertEqual(
            ["truncate", "mkfs.ext4", "tar", "extlinux", "tune2fs", "e2fsck"],
            [
                command[6 if command[0] == "unshare" else 0]
                for command in commands
            ],
        )


class CommandsTestCase(unittest.TestCase):
    def test_unpacked_with_capabilities(self):
        command = image_disk.unpack(pathlib.Path("/t.tar"), pathlib.Path("/m"))
        self.assertEqual(
            "tar -xpf /t.tar -C /m --numeric-owner --xattrs "
            "--xattrs-include=*",
            " ".join(command),
        )

    def test_nobody_else_sees_the_mount(self):
        command = image_disk.inside(
            pathlib.Path("/w/d"), pathlib.Path("/m"), ["find", "/m"]
        )
        self.assertEqual(
            "unshare --mount sh /w/files/with-disk.sh /w/d /m find /m",
            " ".join(command),
        )
