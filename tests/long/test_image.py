"""The guest image is the same whenever and wherever it is built."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from rally_vmperf.cloud.image import guest_image
from rally_vmperf.cloud.image import image_disk
from rally_vmperf.cloud.system import commands
from tests.long import long

TOP = pathlib.Path(__file__).parents[2]
PROGRAM = pathlib.Path(sys.executable).parent / "rally-vmperf"
#: Tells versions of tools of other workloads, and where those of the usual
#: ones are.
VERSIONS = """
stress-ng --version; sockperf --version; openssl version
command -v fio sysbench mbw iperf3 || echo none
"""
#: A builder that has nothing in common with the first one.
ELSEWHERE = {"TZ": "Asia/Tokyo", "LANG": "C", "TMPDIR": "/var/tmp"}


@long.LONG
@unittest.skipUnless(os.geteuid() == 0, "building an image needs root")
class TestBuild(unittest.TestCase):
    """Two builds, minutes apart, differ in no bit; tools are those asked."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_two_builds_are_one(self):
        """If not, the message names the files that differ."""
        one = self._build("one", {}, 0o022)
        other = self._build("other", ELSEWHERE, 0o077)
        if _checksum(one) != _checksum(other):
            self.fail(self._differences(one, other))

    def test_tools_of_other_workloads(self):
        """They are in the image and run there; those of others are not."""
        image = self._build(
            "other", {}, 0o022, ("stress_ng", "sockperf", "openssl")
        )
        mount, disk = image.parent / "mounted", image.with_suffix(".raw")
        mount.mkdir()
        commands.run(["qemu-img", "convert", "-O", "raw", image, disk])
        said = subprocess.run(
            image_disk.inside(
                disk, mount, ["chroot", str(mount), "sh", "-c", VERSIONS]
            ),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in ("stress-ng, version", "sockperf", "OpenSSL", "none"):
            self.assertIn(words, said)
        self.assertNotIn("/usr/bin", said)

    def _build(self, name, extra, umask, workloads=guest_image.WORKLOADS):
        image = self.folder / name / "image.qcow2"
        image.parent.mkdir()
        done = subprocess.run(
            [
                *(PROGRAM, "image", "build", "--output", image),
                *("--workloads", ",".join(workloads)),
            ],
            env={**os.environ, **extra},
            umask=umask,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn(f"sha256 {_checksum(image)}", done.stdout)
        return image

    def _differences(self, *images):
        mounts = [image.parent / "mounted" for image in images]
        command = [sys.executable, "-m", "tests.long.trees", *mounts]
        for image, mount in zip(images, mounts, strict=True):
            mount.mkdir()
            disk = image.with_suffix(".raw")
            commands.run(["qemu-img", "convert", "-O", "raw", image, disk])
            command = image_disk.inside(disk, mount, map(str, command))
        listing = subprocess.run(
            command, cwd=TOP, capture_output=True, text=True, check=True
        ).stdout
        return listing.strip() or "all files are equal, their places are not"


def _checksum(image):
    with open(image, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
