"""Mounts of this machine."""

import pathlib

import psutil

from rally_vmperf.image.system import commands


def below(folder: pathlib.Path) -> list[str]:
    """Return the mount points in or on a directory, the last one first."""
    return [
        mount.mountpoint
        for mount in reversed(psutil.disk_partitions(all=True))
        if pathlib.Path(mount.mountpoint).is_relative_to(folder)
    ]


def unmount(folder: pathlib.Path) -> None:
    """Unmount all file systems in a directory, and on it."""
    for target in below(folder):
        commands.quietly(["umount", target])
