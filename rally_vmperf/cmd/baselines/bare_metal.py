# SPDX-License-Identifier: Apache-2.0
"""Options for bare metal, its peer, and the raw devices to overwrite."""

import argparse
import asyncio
import collections.abc
import getpass
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.measurement.samples import units

if t.TYPE_CHECKING:
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import roles
    from rally_vmperf.machines import shapes
    from rally_vmperf.machines.provisioning import raw_devices

#: The beginnings of paths that name the same disk after a reboot.
_PERSISTENT = ("/dev/disk/by-", "/dev/mapper/")


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for bare metal, its peer and the SSH connections."""
    machine_options.add_arguments(parser, "measure", required=True)
    parser.add_argument(
        "--cpu-list",
        type=parse_cpu_list,
        metavar="LIST",
        help="CPUs of bare metal that may be used, such as 8-15 or 0-3,8; "
        "isolated CPUs must be listed; default: the CPUs that the kernel "
        "assigns to processes",
    )
    parser.add_argument(
        "--peer",
        metavar="USER@ADDRESS",
        help="other end of network workloads, [user@]host[:port]; default: "
        "the peer in the task",
    )


def peer_station(
    parsed: argparse.Namespace,
    assignments: "collections.abc.Iterable[assignment.Assignment]",
    peer: documents.Arguments | None,
) -> "roles.Station | None":
    """Return the station of the other end of network workloads, or None.

    :param parsed: The parsed arguments; their peer takes precedence.
    :param assignments: The workloads; without a network workload, no peer is
        required.
    :param peer: The peer in the task, or None.
    :raises BaselineError: If a peer is required and not specified.
    """
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import reach
    from rally_vmperf.machines.remote import jump
    from rally_vmperf.machines.remote import ssh_config

    if parsed.peer:
        login = jump.parse_hop(parsed.peer)
        host_config = ssh_config.read_entry(login.address)
        peer = {
            "address": login.address,
            "port": login.port,
            "user": login.user or host_config.user or getpass.getuser(),
            **machine_options.read_login_files(parsed),
        }
    if not assignment.required_endpoints(assignments):
        return None
    if peer is None:
        raise document.BaselineError(
            "network workloads require a peer: add --peer USER@ADDRESS"
        )
    return reach.peer_station(peer)


def find_too_large_shapes(
    parsed: argparse.Namespace,
    requested_shapes: collections.abc.Iterable[document.Shape],
) -> "dict[document.Shape, shapes.TooSmall]":
    """Return the error of each shape too large for the machine, by shape.

    :param parsed: The parsed arguments.
    :param requested_shapes: The shapes to check.
    :raises MachineError: If the machine does not answer.
    """
    from rally_vmperf.machines import shapes

    async def check_shapes() -> dict[document.Shape, shapes.TooSmall]:
        """Return the errors of the shapes that exceed the machine."""
        machine = machine_options.connect(parsed)
        shape_errors = {}
        try:
            for shape in requested_shapes:
                try:
                    await shapes.check(
                        machine,
                        cpus=shape.vcpus,
                        memory_mib=shape.memory_mib,
                        copies=shape.copies,
                        allowed=parsed.cpu_list or "",
                    )
                except shapes.TooSmall as error:
                    shape_errors[shape] = error
        finally:
            await machine.close()
        return shape_errors

    return asyncio.run(check_shapes())


def parse_cpu_list(text: str) -> str:
    """Return a list of CPUs such as ``0-3,8`` unchanged; reject others.

    :raises ArgumentTypeError: If the text is not a valid list of CPUs.
    """
    from rally_vmperf.machines import cpus

    if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", text) or (
        not cpus.parse_ranges(text)
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be a list of CPUs such as 8-15 or 0-3,8"
        )
    return text


def add_device_arguments(parser: argparse.ArgumentParser) -> None:
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


def select_devices(
    parsed: argparse.Namespace, covered: coverage.Coverage
) -> tuple[str, ...]:
    """Return the paths of the devices that a shape uses."""
    from rally_vmperf.execution import volumes

    number = volumes.count_needed(covered.assignments) * covered.shape.copies
    return tuple(parsed.device[:number])


def check_devices(
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
