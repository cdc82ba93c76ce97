# SPDX-License-Identifier: Apache-2.0
"""The guest image has the tools that its build is asked for."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from rally_vmperf.image import commands
from rally_vmperf.image import guest_image
from tests.long import long

PROGRAM = pathlib.Path(sys.executable).parent / "rally-vmperf"
#: Prints versions of tools of other workloads, where those of the usual ones
#: are, and for what the image was built.
SCRIPT = """
stress-ng --version; sockperf --version; openssl version
command -v fio sysbench mbw iperf3 || echo none
cat /etc/vmperf-image
"""
DATE = 1700000000


@long.LONG
@unittest.skipUnless(os.geteuid() == 0, "building an image needs root")
class TestBuild(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_tools_of_other_workloads(self):
        """They are in the image and run there; those of others are not."""
        image = self._build("stress_ng", "sockperf", "openssl")
        mount, disk = self.folder / "mounted", image.with_suffix(".raw")
        mount.mkdir()
        commands.run(["qemu-img", "convert", "-O", "raw", image, disk])
        output = self._run(disk, mount, "sh", "-c", SCRIPT)
        for text in ("stress-ng, version", "sockperf", "OpenSSL", "none"):
            self.assertIn(text, output)
        self.assertNotIn("/usr/bin", output)
        self.assertIn(f"SOURCE_DATE_EPOCH={DATE}\n", output)
        *manifest, _ = image.with_suffix(".manifest").read_text().splitlines()
        self.assertEqual(
            manifest,
            self._run(disk, mount, "dpkg-query", "--show").splitlines(),
        )
        date = self._run(disk, mount, "stat", "--format=%Y", "/etc/fstab")
        self.assertEqual(DATE, int(date))

    def _run(self, disk, mount, *command):
        """Return what a command in the image prints."""
        return subprocess.run(
            guest_image.inside_disk(
                disk, mount, ["chroot", str(mount), *command]
            ),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def _build(self, *workloads):
        image = self.folder / "image.qcow2"
        process = subprocess.run(
            [
                *(PROGRAM, "image", "build", "--output", image),
                *("--workloads", ",".join(workloads)),
            ],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(
            0, process.returncode, process.stdout + process.stderr
        )
        return image
