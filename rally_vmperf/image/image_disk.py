# SPDX-License-Identifier: Apache-2.0
"""The file system of a guest image.

The disk is one ext4 file system, with extlinux in the boot block that ext4
does not use. It has no partition table: on a larger disk, only the file system
grows. Each machine that can mount ext4 can build it.
"""

import collections.abc
import pathlib

# extlinux 6.04 cannot read these; the journal is added last, empty.
FEATURES = "^64bit,^metadata_csum,^has_journal"
LOADER = "boot/extlinux"


def make(
    disk: pathlib.Path,
    size: str,
    tree: pathlib.Path,
    run: collections.abc.Callable[[list[str]], object],
) -> None:
    """Create a bootable disk from the archive of a system.

    :param disk: The path of the raw image, in the directory of the build.
    :param size: The size of the image, such as 2G.
    :param tree: The archive of the system.
    :param run: The function that runs a command.
    """
    mount = disk.with_suffix(".mounted")
    mount.mkdir()
    run(["truncate", f"--size={size}", str(disk)])
    run(
        ["mkfs.ext4", "-q", "-F", "-L", "root", "-m", "0", "-O", FEATURES,
         "-e", "remount-ro", str(disk)]
    )  # fmt: skip
    run(inside(disk, mount, unpack(tree, mount)))
    install = ["extlinux", "--install", str(mount / LOADER)]
    run(inside(disk, mount, install))
    run(["tune2fs", "-j", str(disk)])
    run(["e2fsck", "-fn", str(disk)])


def unpack(tree: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Return the command that unpacks the system.

    :param tree: The archive of the system.
    :param folder: The directory to unpack it to.
    """
    # ping has its capability in an extended attribute.
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

    :param mount: The directory that the disk is mounted on.
    """
    script = disk.parent / "files" / "with-disk.sh"
    return [
        *("unshare", "--mount", "sh", str(script), str(disk), str(mount)),
        *command,
    ]
