# SPDX-License-Identifier: Apache-2.0
"""Volumes that workloads measure, and the volumes that machines have."""

import collections.abc
import functools

from rally_vmperf.execution import assignment
from rally_vmperf.execution import disk_space
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.machines.provisioning import raw_devices
from rally_vmperf.measurement.samples import units

Assignments = collections.abc.Sequence[assignment.Assignment]


def describe_conflict(assignments: Assignments) -> str:
    """Return why workloads cannot use the same volumes, or "".

    A workload that writes to the device destroys the file system on it.
    """
    titles: dict[tuple[int, str], str] = {}
    for assigned in assignments:
        for target in assigned.targets():
            titles.setdefault((target.number, target.form), assigned.title)
    for (number, form), title in titles.items():
        other = titles.get((number, "filesystem"))
        if form == "device" and other:
            return (
                f"workload {title} writes to the device of volume {number}, "
                f"and {other} needs a file system on it; measure them in two "
                "tasks, or set target: root for one of them"
            )
    return ""


def describe_shortage(
    assignments: Assignments,
    sizes: collections.abc.Sequence[int],
    owner: str,
    way_out: str,
) -> str:
    """Return which workload does not fit on the volumes, or "".

    :param sizes: The bytes of the volumes by number.
    :param owner: The owner of the volumes, such as a guest or an option.
    :param way_out: How to have another volume, as the end of a sentence.
    """
    for assigned in assignments:
        option = f"workload {assigned.title} "
        option += f"target={assigned.arguments.get('target')}"
        for target in assigned.targets():
            if target.number > len(sizes):
                number = units.number_of("volume", len(sizes))
                return (
                    f"{option}: requires volume {target.number}, and {owner} "
                    f"has {number}; {way_out}, or set target: root"
                )
            free = sizes[target.number - 1]
            place = f"volume {target.number}"
            if target.form == "filesystem":
                free = int(free * disk_space.FILES_SHARE)
                place = f"a file system on {place}"
            if target.size > free:
                need, limit = units.show_sizes(target.size, free)
                return (
                    f"{option}: requires {need}, and {place} of {owner} has "
                    f"{limit}; {way_out}, or reduce the size in its arguments"
                )
    return ""


def count_needed(assignments: Assignments) -> int:
    """Return the number of volumes that workloads use on one machine."""
    return max(
        (
            target.number
            for assigned in assignments
            for target in assigned.targets()
        ),
        default=0,
    )


async def attach(
    stations: collections.abc.Sequence[roles.Station],
    assignments: Assignments,
) -> dict[str, list[devices.Attached]]:
    """Provide the volumes of stations; return their devices by station name.

    The stations keep a function that provides them again.

    :raises MachineError: If a volume is missing or has another size, or if a
        workload does not fit on it; with the name of the machine.
    """
    return dict(
        zip(
            [station.name for station in stations],
            await concurrency.wait_for_all(
                _attach(station, assignments) for station in stations
            ),
            strict=True,
        )
    )


async def _attach(
    station: roles.Station, assignments: Assignments
) -> list[devices.Attached]:
    """Provide the volumes of a station; return their devices."""
    attached: list[devices.Attached] = []
    if station.volumes:
        # Nothing has been written to them yet.
        await raw_devices.check(station.machine, station.device_paths)
        provide = functools.partial(
            devices.attach,
            station.machine,
            station.folder,
            station.volumes,
            forms=_list_forms(assignments),
            titles=[
                assigned.title
                for assigned in assignment.merge_loads(assignments)
                if assigned.targets()
            ],
        )
        attached = await provide(is_new=True)
        station.attach_again = functools.partial(provide, is_new=False)
    reason = describe_shortage(
        assignments,
        [device.size for device in attached],
        station.name,
        "attach a larger or a further one",
    )
    if reason:
        raise base.MachineError(reason)
    return attached


def _list_forms(assignments: Assignments) -> dict[int, devices.Form]:
    """Return the form in which each volume is used, by its number."""
    return {
        target.number: target.form
        for assigned in assignments
        for target in assigned.targets()
    }


async def attach_again(
    stations: collections.abc.Iterable[roles.Station],
) -> dict[str, str]:
    """Provide the volumes of stations that may have booted again.

    :returns: The reasons by the name of stations that failed.
    """
    booted = [station for station in stations if station.attach_again]
    answers = await concurrency.wait_for_all(map(_try_again, booted))
    return {
        station.name: reason
        for station, reason in zip(booted, answers, strict=True)
        if reason
    }


async def _try_again(station: roles.Station) -> str:
    """Provide the volumes of a station again; return an error, or ""."""
    try:
        if station.attach_again is not None:
            await station.attach_again()
    except base.MachineError as error:
        return str(error)
    return ""
