# SPDX-License-Identifier: Apache-2.0
"""Raw block devices of bare metal, which a recording overwrites."""

import collections.abc
import re
import shlex
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines.provisioning import devices

#: The characters of a path that devices have in /dev.
PATH = re.compile(r"/dev/[A-Za-z0-9_.:/-]{1,200}")

#: Timeout of a check in seconds, sufficient for disks that start to rotate.
_TIMEOUT = 120
_LINE = re.compile(
    r"device ([0-9]{1,2}) (?:"
    rf"(?P<path>{PATH.pattern}) (?P<size>[0-9]{{1,18}})"
    r"|refused (?P<cause>[a-z]{1,20})(?: (?P<detail>.{0,300}))?)"
)
#: Cause -> the reason to refuse a device, with the solution.
_REASONS = {
    "absent": "does not exist; list the devices there: lsblk",
    "kind": "is a {detail}: must be a block device; list them: lsblk",
    "empty": "has 0 bytes; insert a medium, or use another device",
    "readonly": "is read-only; run blockdev --setrw {path}, or use another "
    "device",
    "mounted": "or a partition of it is mounted at {detail}; unmount it if "
    "its data may be lost: umount {detail}",
    "swap": "or a partition of it is swap ({detail}); switch it off if it is "
    "not needed: swapoff {detail}",
    "holder": "or a partition of it is a part of {detail} (LVM, RAID or "
    "device mapper); use {detail} itself, or remove it from there",
    "partitions": "has partitions ({detail}); use one of them, or delete the "
    "partition table if all data may be lost: wipefs -a {path}",
    "signature": "has data of the type {detail}; if they may be lost, erase "
    "the signature: wipefs -a {path}",
    "busy": "is in use by another program or another mount namespace; end "
    "this use: lsof {path}",
    "unknown": "cannot be checked ({detail}); the machine needs bash, "
    "coreutils and util-linux",
}


class RawDevice(t.NamedTuple):
    """A block device that may be overwritten.

    :param name: The path, as the user named it.
    :param path: The path without symbolic links.
    :param size: The size in bytes.
    """

    name: str
    path: str
    size: int

    def to_device(self) -> devices.Device:
        """Return the device that a machine must have, of the same size."""
        return devices.Device(path=self.name, least=self.size, most=self.size)


async def check(
    machine: base.Machine, names: collections.abc.Sequence[str]
) -> list[RawDevice]:
    """Return the block devices with these paths; reject those in use.

    :raises MachineError: If a device must not be overwritten; with the device,
        the cause and the solution.
    """
    if not names:
        return []
    elevated = await root.as_root(machine)
    done = await elevated.run(
        scripts.argv("raw_devices.bash", "check", *names), timeout=_TIMEOUT
    )
    done.check(
        f"{machine.name}: cannot check {', '.join(names)}",
        "it needs bash, coreutils and util-linux",
    )
    lines = done.stdout.splitlines()
    if len(lines) != len(names):
        raise base.MachineError(
            f"{machine.name} describes {len(lines)} of {len(names)} devices; "
            "check the output of its shell at its start"
        )
    checked: list[RawDevice] = []
    for number, (name, line) in enumerate(zip(names, lines, strict=True), 1):
        device = _parse(machine.name, number, name, line)
        for other in checked:
            if other.path == device.path:
                raise base.MachineError(
                    f"{machine.name}: device {name} is {device.path}, and so "
                    f"is {other.name}; name each device once"
                )
        checked.append(device)
    return checked


def _parse(machine: str, number: int, name: str, line: str) -> RawDevice:
    """Return the device that a line of the script describes.

    :param machine: The name of the machine.
    :param number: The number of the device in the output.
    :param name: The path, as the user named it.
    :raises MachineError: If the line refuses the device or is not valid.
    """
    match = _LINE.fullmatch(line)
    cause = match["cause"] if match else None
    is_known = cause is None or cause in _REASONS
    if match is None or int(match[1]) != number or not is_known:
        raise base.MachineError(
            f"{machine}: {sanitize.line(line, 80)!r} is not the description "
            f"of device {name}; check the output of its shell at its start"
        )
    if cause is not None:
        reason = _REASONS[cause].format(
            detail=sanitize.line(match["detail"] or "?", 500),
            path=shlex.quote(name),
        )
        raise base.MachineError(f"{machine}: device {name} {reason}")
    if not int(match["size"]):
        reason = _REASONS["empty"]
        raise base.MachineError(f"{machine}: device {name} {reason}")
    return RawDevice(name, match["path"], int(match["size"]))


async def clear(
    machine: base.Machine, names: collections.abc.Sequence[str]
) -> None:
    """Erase the signatures on devices that a recording has overwritten.

    Otherwise the next recording would refuse the file systems of this one.

    :raises MachineError: If it fails; with the solution.
    """
    if not names:
        return
    elevated = await root.as_root(machine)
    done = await elevated.run(
        scripts.argv("raw_devices.bash", "clear", *names), timeout=_TIMEOUT
    )
    done.check(
        f"{machine.name}: cannot erase signatures on {', '.join(names)}",
        f"run wipefs -a {' '.join(map(shlex.quote, names))} there",
    )
