"""Mounts of this machine."""

import pathlib

from rally_vmperf.cloud.system import commands

TABLE = pathlib.Path("/proc/self/mounts")


def below(folder: pathlib.Path, table: str) -> list[str]:
    """Return the mounts in a folder or on it, the last one first.

    :param folder: where to look
    :param table: what /proc/self/mounts says
    """
    targets = [line.split()[1] for line in table.splitlines()]
    return [
        target
        for target in reversed(targets)
        if pathlib.Path(target).is_relative_to(folder)
    ]


def unmount(folder: pathlib.Path) -> None:
    """Unmount everything in a folder and on it.

    :param folder: where to look
    """
    for target in below(folder, TABLE.read_text()):
        commands.quietly(["umount", target])
