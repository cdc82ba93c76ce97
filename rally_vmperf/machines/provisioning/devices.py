# SPDX-License-Identifier: Apache-2.0
"""Volumes of a machine, provided in its work directory.

A workload finds the raw device of a volume as ``volume-1``, a symbolic link
in its directory, or a mounted file system as ``volume-1.fs``. A user other
than root gets access to these devices only.
"""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.measurement.samples import units

Form = t.Literal["device", "filesystem"]

#: The timeout in seconds, also for new file systems, whose tables are some 2 %
#: of the device.
_TIMEOUT, _FORMATTING = 120, 3600
_LINE = re.compile(
    r"volume ([0-9]{1,2}) ([0-9]{1,18})(?: (/dev/[A-Za-z0-9_.:/-]{1,200}))?"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    """A block device that a machine must have.

    :param id: The text with which its serial number begins; empty if it has a
        path.
    :param path: The path of the device; empty to find it by its serial number.
    :param least: The smallest size in bytes.
    :param most: The largest size in bytes.
    """

    id: str = ""
    path: str = ""
    least: int = 1
    most: int = 1 << 62


class Attached(t.NamedTuple):
    """A device that a machine has.

    :param size: The size in bytes.
    """

    path: str
    size: int


async def attach(
    machine: base.Machine,
    folder: str,
    volumes: collections.abc.Sequence[Device],
    *,
    forms: collections.abc.Mapping[int, Form],
    titles: collections.abc.Iterable[str] = (),
    is_new: bool,
) -> list[Attached]:
    """Link and mount volumes in a work directory; return their devices.

    It can be repeated after a reboot of the machine.

    :param folder: The path of the work directory.
    :param volumes: The volumes by number, beginning with 1.
    :param forms: The form of each volume that workloads use, by its number;
        the others are linked as devices.
    :param titles: The names of the directories of workloads in it.
    :param is_new: A flag that file systems are made.
    :raises MachineError: If a volume is missing or has another size, or if
        the machine cannot provide it; with its name.
    """
    arguments = [
        word
        for number, volume in enumerate(volumes, 1)
        for word in (
            volume.id,
            volume.path,
            forms.get(number, "device"),
            str(volume.least),
            str(volume.most),
        )
    ]
    elevated = await root.as_root(machine)
    done = await elevated.run(
        scripts.argv(
            "devices.bash",
            *("attach", folder, "1" if is_new else "0", str(len(volumes))),
            *arguments,
            *titles,
        ),
        timeout=_FORMATTING if is_new and forms else _TIMEOUT,
    )
    found = _parse(machine.name, done.stdout, volumes)
    done.check(
        f"{machine.name}: cannot provide its volumes",
        "it needs bash, coreutils, util-linux and, for iozone and cp, "
        "mkfs.ext4 (package e2fsprogs)",
    )
    if len(found) < len(volumes):
        raise base.MachineError(
            f"{machine.name} describes {len(found)} of {len(volumes)} "
            "volumes; check the output of its shell at its start"
        )
    return found


def _parse(
    name: str, text: str, volumes: collections.abc.Sequence[Device]
) -> list[Attached]:
    """Return the device of each volume, which must be of the right size.

    :param name: The name of the machine.
    """
    found = []
    for number, (line, volume) in enumerate(
        zip(text.splitlines(), volumes, strict=False), 1
    ):
        match = _LINE.fullmatch(line)
        if match is None or int(match[1]) != number:
            raise base.MachineError(
                f"{name}: {sanitize.line(line, 80)!r} is not the description "
                f"of volume {number}; check the output of its shell at its "
                "start"
            )
        size, device = int(match[2]), match[3]
        if not device:
            place = volume.path or f"serial number {volume.id[:20]}"
            raise base.MachineError(
                f"{name} has no block device for volume {number} ({place}); "
                "check in its kernel log whether it was attached, and that "
                "the image has a driver for the bus of the disk"
            )
        if not volume.least <= size <= volume.most:
            found_size, expected = units.show_sizes(size, volume.most)
            raise base.MachineError(
                f"{name}: volume {number} ({device}) has {found_size}: must "
                f"have {expected}; check the size of the volume in Cinder"
            )
        found.append(Attached(device, size))
    return found


async def detach(machine: base.Machine, folder: str) -> None:
    """Unmount the file systems of volumes in a work directory.

    :raises MachineError: If one is in use.
    """
    elevated = await root.as_root(machine)
    done = await elevated.run(
        scripts.argv("devices.bash", "detach", folder), timeout=_TIMEOUT
    )
    done.check(
        f"{machine.name}: cannot unmount the volumes in {folder}",
        "end the programs that use them",
    )
