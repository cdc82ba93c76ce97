# SPDX-License-Identifier: Apache-2.0
"""Options for raw devices of bare metal, which a recording overwrites."""

import argparse
import asyncio
import collections.abc
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.measurement.samples import units

if t.TYPE_CHECKING:
    from rally_vmperf.machines.provisioning import raw_devices

#: The beginnings of paths that name the same disk after a reboot.
_PERSISTENT = ("/dev/disk/by-", "/dev/mapper/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for raw devices."""
    parser.add_argument(
        "--device",
        metavar="PATH",
        type=_parse_path,
        action="append",
        default=[],
        help="raw block device that workloads with target: volume measure, "
        "such as /dev/disk/by-id/...; everything on it is lost; may be "
        "repeated: for each further volume, and for each copy; devices with "
        "mounts, partitions or data, and devices in use, are rejected",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="overwrite the devices of --device; without it, they are only "
        "checked",
    )


def _parse_path(text: str) -> str:
    """Return the path of a device; reject one that is not in /dev."""
    from rally_vmperf.machines.provisioning import raw_devices

    if not raw_devices.PATH.fullmatch(text) or "/../" in text:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be the path of a block device, such as /dev/sdb"
        )
    return text


def select(
    parsed: argparse.Namespace, covered: coverage.Coverage
) -> tuple[str, ...]:
    """Return the paths of the devices that a shape uses."""
    from rally_vmperf.execution import volumes

    number = volumes.count_needed(covered.assignments) * covered.shape.copies
    return tuple(parsed.device[:number])


def check(
    parsed: argparse.Namespace,
    coverages: collections.abc.Sequence[coverage.Coverage],
) -> list[str]:
    """Reject devices that must not be overwritten; return warnings.

    :returns: A line on each device whose content is lost.
    :raises BaselineError: If the devices are not those that the workloads
        use, or if --yes is missing.
    :raises MachineError: If a device is in use or has data.
    """
    _check_number(parsed, coverages)
    if not parsed.device:
        return []
    found = asyncio.run(_read_devices(parsed))
    _check_sizes(found, coverages)
    lines = []
    for device in found:
        name = device.name
        if device.path != name:
            name += f" ({device.path})"
        lines.append(
            f"{name}, {units.show_sizes(device.size)[0]}: everything on it "
            "is lost, and nothing is restored"
        )
    if not parsed.yes:
        raise document.BaselineError(
            f"--device: {'; '.join(lines)}; to record, add --yes"
        )
    return [f"warning: {line}" for line in lines]


async def _read_devices(
    parsed: argparse.Namespace,
) -> "list[raw_devices.RawDevice]":
    """Return the devices on the machine; reject those in use."""
    from rally_vmperf.machines.provisioning import raw_devices

    machine = machine_options.connect(parsed)
    try:
        return await raw_devices.check(machine, parsed.device)
    finally:
        await machine.close()


def _check_number(
    parsed: argparse.Namespace,
    coverages: collections.abc.Iterable[coverage.Coverage],
) -> None:
    """Reject options that do not match the workloads.

    :raises BaselineError: If devices are missing or are not used, or could be
        others after a reboot.
    """
    from rally_vmperf.execution import volumes

    paths = parsed.device
    used = 0
    for covered in coverages:
        number = volumes.count_needed(covered.assignments)
        copies = covered.shape.copies
        used = max(used, number * copies)
        if conflict := volumes.describe_conflict(covered.assignments):
            raise document.BaselineError(conflict)
        if number * copies > len(paths):
            titles = ", ".join(
                assigned.title
                for assigned in covered.assignments
                if assigned.targets()
            )
            raise document.BaselineError(
                f"workload {titles}: target is not root, and requires "
                f"{number * copies} raw devices of bare metal "
                f"({number} for each of {copies} copies); --device names "
                f"{len(paths)}: add --device PATH, whose content is lost, or "
                "set target: root"
            )
        if number and covered.protocol.reboot != "never":
            _check_persistent(paths)
    if len(paths) > used:
        unused = ", ".join(paths[used:])
        raise document.BaselineError(
            f"--device={unused}: no workload uses it; set target: volume of "
            "fio, dd, iozone or cp, or remove the option"
        )
    if parsed.yes and not paths:
        raise document.BaselineError(
            "--yes: requires --device: remove it, or name a device"
        )


def _check_sizes(
    found: "list[raw_devices.RawDevice]",
    coverages: collections.abc.Iterable[coverage.Coverage],
) -> None:
    """Reject devices that are too small for the workloads."""
    from rally_vmperf.execution import volumes

    for covered in coverages:
        number = volumes.count_needed(covered.assignments)
        for copy in range(covered.shape.copies):
            sizes = [
                device.size
                for device in found[copy * number : (copy + 1) * number]
            ]
            shortage = volumes.describe_shortage(
                covered.assignments,
                sizes,
                f"--device for copy {copy + 1}",
                "name a larger device",
            )
            if shortage:
                raise document.BaselineError(shortage)


def _check_persistent(paths: collections.abc.Iterable[str]) -> None:
    """Reject names that the kernel may give to another disk at a boot."""
    for path in paths:
        if not path.startswith(_PERSISTENT):
            raise document.BaselineError(
                f"--device={path}: may be another disk after a reboot; use "
                "its name in /dev/disk/by-id, or add --reboot never"
            )
