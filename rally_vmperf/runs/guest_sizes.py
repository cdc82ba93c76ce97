"""The sizes of guests: those that Nova promises, and those that they have."""

import collections.abc
import posixpath
import types

from rally_vmperf import documents
from rally_vmperf.guests import models
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises

#: Bytes of a sector in sysfs, whatever the device has.
_SECTOR = 512
#: The prefixes of the names of drives with removable media.
_REMOVABLE = ("sr", "fd")
#: The name of a size, the promised and the delivered one, and the reason why
#: the latter is not known if it is None.
_Promise = tuple[str, int, int | None, str]


def find_sizes(
    guests: collections.abc.Iterable[models.Guest],
    fingerprints: collections.abc.Mapping[str, documents.Facts],
    attached: collections.abc.Mapping[
        str, collections.abc.Sequence[devices.Attached]
    ] = types.MappingProxyType({}),
) -> tuple[tuple[promises.Size, ...], list[finding.Finding]]:
    """Return the sizes of guests, and findings on those that are unknown.

    A flavor with a disk of 0 GB promises none.

    :param fingerprints: The facts by name of the guest; a guest that was not
        reached has none.
    :param attached: The devices of its data volumes by name of the guest.
    """
    sizes: list[promises.Size] = []
    unknown: list[finding.Finding] = []
    for guest in guests:
        if not (facts := fingerprints.get(guest.name)):
            continue
        for name, promised, delivered, reason in _list_promises(
            guest, facts, attached.get(guest.name, ())
        ):
            if not promised:
                continue
            if delivered is None:
                unknown.append(
                    finding.Finding(
                        "promise_not_checked", guest.name, f"{name}: {reason}"
                    )
                )
                continue
            sizes.append(
                promises.Size(
                    guest=guest.name,
                    name=name,
                    promised=promised,
                    delivered=delivered,
                )
            )
    return tuple(sizes), unknown


def _list_promises(
    guest: models.Guest,
    facts: documents.Facts,
    volumes: collections.abc.Sequence[devices.Attached],
) -> collections.abc.Iterator[_Promise]:
    """Yield the promised sizes of a guest.

    :param volumes: The devices of its data volumes.
    """
    yield (
        "vcpus",
        guest.flavor.vcpus,
        facts.get("online_cpus"),
        "the kernel does not list its online CPUs",
    )
    yield (
        "memory",
        guest.flavor.memory_mib << 20,
        facts.get("firmware_memory_bytes"),
        "/proc/zoneinfo does not have the memory of the firmware",
    )
    yield (
        "disk",
        guest.disk.size_gib << 30,
        _find_boot_disk(facts, volumes),
        "the boot disk is not known",
    )
    for number, (volume, device) in enumerate(
        zip(guest.volumes, volumes, strict=False), 1
    ):
        yield (
            f"volume_{number}",
            volume.size_gib << 30,
            None if volume.is_encrypted else device.size,
            "the header of its encryption takes a part of it",
        )


def _find_boot_disk(
    facts: documents.Facts, volumes: collections.abc.Iterable[devices.Attached]
) -> int | None:
    """Return the bytes of the disk with the root filesystem, or None.

    A root on a logical volume has the only disk of the guest.

    :param volumes: The devices of data volumes.
    """
    data_disks = {posixpath.basename(device.path) for device in volumes}
    disks = {
        str(disk.get("name")): str(disk.get("sectors"))
        for disk in facts.get("disks") or ()
    }
    fixed = [
        name
        for name in disks
        if not name.startswith(_REMOVABLE) and name not in data_disks
    ]
    name = facts.get("root_disk")
    if name not in disks:
        name = fixed[0] if len(fixed) == 1 else None
    sectors = disks.get(name or "", "")
    digits = sectors.isascii() and sectors.isdigit() and len(sectors) < 16
    return int(sectors) * _SECTOR if digits else None
