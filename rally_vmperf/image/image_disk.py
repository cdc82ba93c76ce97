"""The filesystem of a guest image.

An ext4 filesystem on the whole disk, with extlinux in the boot block that
ext4 leaves free: no partition table, so there is nothing but the filesystem
to grow in a larger disk, and any machine that can mount ext4 can build it.
"""

import collections.abc
import pathlib

# What extlinux 6.04 cannot read; the journal is added last, empty.
FEATURES = "^64bit,^metadata_csum,^has_journal"
LOADER = "boot/extlinux"


def make(
    disk: pathlib.Path,
    size: str,
    tree: pathlib.Path,
    run: collections.abc.Callable[[list[str]], object],
) -> None:
    """Make a bootable disk from the archive of a system.

    :param disk: the raw image, in a folder for the time of the build
    :param size: of it, such as 2G
    :param tree: the archive of the system
    :param run: the function that runs a command
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
    script = disk.parent / "files" / "with-disk.sh"
    return [
        *("unshare", "--mount", "sh", str(script), str(disk), str(mount)),
        *command,
    ]
