# SPDX-License-Identifier: Apache-2.0
"""Loop devices of this computer, in place of disks."""

import os
import pathlib
import subprocess
import tempfile

from tests import skips

#: The programs that make, change and check a loop device.
PROGRAMS = ("losetup", "wipefs", "blockdev", "mkfs.ext4", "mkswap", "mount")
MIB = 1 << 20


def create(case, mib=64):
    """Return the path of a new loop device, which the test removes.

    :param case: The test, which is skipped if there are no loop devices.
    """
    skips.require(case, *PROGRAMS, root=True)
    folder = case.enterContext(tempfile.TemporaryDirectory())
    image = pathlib.Path(folder, "image")
    with image.open("wb") as file:
        file.truncate(mib * MIB)
    done = subprocess.run(
        ["losetup", "--find", "--show", str(image)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        case.skipTest(f"no loop device: {done.stderr}")
    device = done.stdout.strip()
    case.addCleanup(subprocess.run, ["losetup", "-d", device], check=True)
    return device


def use(case, device):
    """Open a device for this process alone, until the end of the test."""
    descriptor = os.open(device, os.O_RDONLY | os.O_EXCL)
    case.addCleanup(os.close, descriptor)
    return descriptor
