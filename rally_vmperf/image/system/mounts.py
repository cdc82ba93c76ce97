"""Mounts of this machine."""

import pathlib

import psutil

from rally_vmperf.image.system import commands


def below(folder: pathlib.Path) -> list[str]:
    """Return the mounts in a directory or on it, the last one first."""
    return [
        mount.mountpoint
        for mount in reversed(psutil.disk_partitions(all=True))
        if pathlib.Path(mount.mountpoint).is_relative_to(folder)
    ]


def unmount(folder: pathlib.Path) -> None:
    """Unmount everything in a directory and on it."""
    for target in below(folder):
        commands.quietly(["umount", target])
