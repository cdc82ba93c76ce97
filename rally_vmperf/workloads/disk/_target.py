# SPDX-License-Identifier: Apache-2.0
"""The disk that a workload measures, and commands that fill or read it."""

import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas

ROOT = "root"
#: The first volume, and several volumes in one run.
VOLUME, VOLUMES = "volume", "volumes"
#: Bytes per second of the slowest supported disk, and of a usual one.
SLOWEST, USUAL = 2 * 10**6, 200 * 10**6


def argument(volume: str, several: str = "") -> schemas.Rule:
    """Return the JSON Schema of the argument ``target``.

    :param volume: The form of the first volume in the description.
    :param several: The form of several volumes; empty if they are not
        supported.
    """
    description = (
        "Disk that is measured: root (the file system of the work directory), "
        f"volume ({volume}"
    )
    description += f"), volumes ({several})." if several else ")."
    names = (ROOT, VOLUME, VOLUMES) if several else (ROOT, VOLUME)
    return schemas.choice(description, names, default=ROOT)


def join(targets: tuple[base.Target, ...], path: str) -> str:
    """Return the path of a file on the first volume, or on the root disk."""
    return f"{targets[0].path}/{path}" if targets else path


def list_volumes(
    arguments: base.Arguments,
    size: int,
    form: t.Literal["device", "filesystem"],
) -> tuple[base.Target, ...]:
    """Return the volumes that the arguments select; empty for the root disk.

    :param size: The bytes that the workload needs on each.
    :param form: The form in which the workload uses them.
    """
    count = {VOLUME: 1, VOLUMES: arguments.get("volume_count", 1)}.get(
        arguments["target"], 0
    )
    return tuple(
        base.Target(number=number, form=form, size=size)
        for number in range(1, count + 1)
    )


def create_command(
    name: str, argv: tuple[str, ...], size: int
) -> base.Command:
    """Return a Command with a timeout that suits the number of bytes.

    :param size: The number of bytes that the command reads or writes.
    """
    return base.Command(
        name=name,
        argv=argv,
        timeout=120 + size / SLOWEST,
        seconds=size / USUAL,
        bound="size",
    )
