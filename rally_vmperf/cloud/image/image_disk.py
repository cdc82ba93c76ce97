"""The filesystem of a guest image.

An ext4 filesystem on the whole disk, with extlinux in the boot block that
ext4 leaves free: no partition table, so there is nothing but the filesystem
to grow in a larger disk, and any machine that can mount ext4 can build it.
"""

import collections.abc
import pathlib

from rally_vmperf import resources
from rally_vmperf.cloud.system import commands

# What extlinux 6.04 cannot read; the journal is added last, empty.
FEATURES = "^64bit,^metadata_csum,^has_journal"
LOADER = "boot/extlinux"


def make(
    disk: pathlib.Path, size: str, tree: pathlib.Path, log: pathlib.Path
) -> None:
    """Make a bootable disk from the archive of a system.

    :param disk: the raw image, in a folder for the time of the build
    :param size: of it, such as 2G
    :param tree: the archive of the system
    :param log: where the tools' output goes
    """
    mount = disk.with_suffix(".mounted")
    mount.mkdir()
    commands.run(["truncate", f"--size={size}", disk])
    commands.run(
        ["mkfs.ext4", "-q", "-F", "-L", "root", "-m", "0", "-O", FEATURES,
         disk],
        log=log,
    )  # fmt: skip
    commands.run(inside(disk, mount, unpack(tree, mount)), log=log)
    install = ["extlinux", "--install", str(mount / LOADER)]
    commands.run(inside(disk, mount, install), log=log)
    commands.run(["tune2fs", "-j", disk], log=log)
    commands.run(["e2fsck", "-fn", disk], log=log)


def unpack(tree: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Return the command that unpacks the system.

    :param tree: the archive
    :param folder: where to
    """
    # With extended attributes: ping has its capability in one.
    return [
        *("tar", "-xpf", str(tree), "-C", str(folder), "--numeric-owner"),
        *("--xattrs", "--xattrs-include=*"),
    ]


def inside(
    disk: pathlib.Path,
    mount: pathlib.Path,
    command: collections.abc.Iterable[str],
) -> list[str]:
    """Return the command that runs another one while a disk is mounted.

    :param mount: the folder that it is mounted on
    """
    script = resources.path("etc", "guest-image", "with-disk.sh")
    return [
        *("unshare", "--mount", "sh", str(script), str(disk), str(mount)),
        *command,
    ]
