# SPDX-License-Identifier: Apache-2.0
"""The sizes and rate limits that flavors and volumes of guests promise.

A workload measures the boot disk or data volumes, of which each has limits of
its own.
"""

import collections
import collections.abc
import dataclasses
import posixpath
import re
import types

from rally_vmperf import documents
from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps

#: Bytes of a sector in sysfs, whatever the device has.
_SECTOR = 512
#: The prefixes of the names of drives with removable media.
_REMOVABLE = ("sr", "fd")
#: The name of a path to an NVMe disk, which has a name of its own.
_NVME_PATH = re.compile(r"nvme[0-9]+c[0-9]+n")
#: The bytes of a config drive that is no CD-ROM but a disk, as Nova makes it.
_CONFIG_DRIVE = 64 << 20
#: The reason why the size of an encrypted volume is not known.
_ENCRYPTED = "the header of its encryption takes a part of it"
#: The number of disks to which the fingerprint is limited.
_MAX_DISKS = 64
#: The name of a size, the promised and the delivered one, and the reason why
#: the latter is not known if it is None.
_Promise = tuple[str, int, int | None, str]
#: The reason why a limit of some volumes is not compared with a rate.
_PARTIAL_LIMIT = (
    "a workload measures volumes {numbers}, and not all of them have this "
    "limit for the same guests; give them the same volume type in each guest"
)
#: The names of metrics by the numbers of the volumes of their workload.
_Metrics = dict[tuple[int, ...], list[str]]


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
    yield from _list_local_disks(guest, facts, volumes)
    for number, (volume, device) in enumerate(
        zip(guest.volumes, volumes, strict=False), 1
    ):
        yield (
            f"volume_{number}",
            volume.size_gib << 30,
            None if volume.is_encrypted else device.size,
            _ENCRYPTED,
        )


def _list_local_disks(
    guest: models.Guest,
    facts: documents.Facts,
    volumes: collections.abc.Sequence[devices.Attached],
) -> collections.abc.Iterator[_Promise]:
    """Yield the promised sizes of the boot disk and of the extra disks.

    :param volumes: The devices of its data volumes.
    """
    disks = _LocalDisks(guest, facts, volumes)
    found = disks.match()
    for name, size in disks.promised.items():
        reason = "it is not known which of the disks of the guest it is"
        delivered = found.get(name)
        if name == _BOOT:
            reason = "the boot disk is not known"
            if guest.disk.source == "volume":
                name = promises.BOOT_VOLUME
            if guest.disk.is_encrypted:
                delivered, reason = None, _ENCRYPTED
        yield name, size, delivered, reason


#: The promise of the boot disk.
_BOOT = "disk"


class _LocalDisks:
    """The disks of a guest without data volumes, and what Nova promises.

    libvirt gives local disks no serial number. An extra disk is one that has
    the promised size, and is neither the boot disk nor a data volume. If no
    disk has the size, the only disk that is left is it.

    :param volumes: The devices of its data volumes.
    :ivar promised: The promised bytes of the boot disk and the extra disks.
    """

    def __init__(
        self,
        guest: models.Guest,
        facts: documents.Facts,
        volumes: collections.abc.Sequence[devices.Attached],
    ) -> None:
        self.promised = {
            _BOOT: guest.disk.size_gib << 30,
            promises.EPHEMERAL_DISK: guest.flavor.ephemeral_gib << 30,
            promises.SWAP_DISK: guest.flavor.swap_mib << 20,
        }
        self._has_config_drive = guest.config_drive
        self._is_listed = len(facts.get("disks") or ()) < _MAX_DISKS and len(
            volumes
        ) == len(guest.volumes)
        disks = _find_disks(facts, volumes)
        root = str(facts.get("root_disk"))
        if root not in disks and len(disks) == 1:  # also on a logical volume
            (root,) = disks
        self._is_boot_known = root in disks
        # The delivered sizes, and the disks that keep no promise so far.
        self._found = {_BOOT: disks.pop(root)} if self._is_boot_known else {}
        self._spare = [*disks.values()]

    def match(self) -> dict[str, int | None]:
        """Return the delivered sizes of the promises whose disk is known."""
        is_swap_unclear = self._is_swap_unclear()
        if self._is_boot_known or self.promised[_BOOT]:
            self._match_sizes({promises.SWAP_DISK} if is_swap_unclear else ())
        if (
            self._has_config_drive
            and _CONFIG_DRIVE in self._spare
            and not is_swap_unclear
        ):
            self._spare.remove(_CONFIG_DRIVE)
        if self._spare and not self._is_boot_known:
            return {}  # Each disk can be the boot disk.
        if (
            self._is_listed
            and self._is_boot_known
            and _CONFIG_DRIVE not in self._spare
        ):
            self._assign_rest()
        return self._found

    def _is_swap_unclear(self) -> bool:
        """Return whether the swap disk can be a config drive, or the reverse.

        A config drive is also attached if the cloud forces it.
        """
        return (
            self.promised[promises.SWAP_DISK] == _CONFIG_DRIVE
            and self._spare.count(_CONFIG_DRIVE) == 1
        )

    def _match_sizes(self, omitted: collections.abc.Container[str]) -> None:
        """Give each promise a disk that has exactly its size.

        :param omitted: The names of promises without a match.
        """
        for name, size in self.promised.items():
            is_missing = size and name not in self._found
            if is_missing and name not in omitted and size in self._spare:
                self._spare.remove(size)
                self._found[name] = size

    def _assign_rest(self) -> None:
        """Give the only missing promise the only spare disk, or none."""
        missing = [
            name
            for name, size in self.promised.items()
            if size and name not in self._found
        ]
        if not self._spare:
            self._found |= dict.fromkeys(missing, 0)
        elif len(missing) == len(self._spare) == 1:
            self._found[missing[0]] = self._spare[0]


def _find_disks(
    facts: documents.Facts, volumes: collections.abc.Iterable[devices.Attached]
) -> dict[str, int | None]:
    """Return the bytes of each local disk by its name; None if unknown.

    :param volumes: The devices of data volumes.
    """
    data_disks = {posixpath.basename(device.path) for device in volumes}
    disks = {
        str(disk.get("name")): str(disk.get("sectors"))
        for disk in facts.get("disks") or ()
        if disk.get("multipath") not in data_disks
    }
    return {
        name: int(sectors) * _SECTOR if _is_number(sectors) else None
        for name, sectors in disks.items()
        if not name.startswith(_REMOVABLE)
        and not _NVME_PATH.match(name)
        and name not in data_disks
    }


def _is_number(text: str) -> bool:
    """Return whether a text is a number of sectors."""
    return text.isascii() and text.isdigit() and len(text) < 16


def list_caps(
    booted: models.BootedGuests,
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> tuple[list[rate_caps.Cap], list[finding.Finding]]:
    """Return the policies that limit guests, those of unused volumes too.

    The findings name the limits that only some volumes of a workload have.
    """
    metrics: _Metrics = collections.defaultdict(list)
    for assigned in assignments:
        numbers = tuple(target.number for target in assigned.targets())
        metrics[numbers] += [metric.name for metric in assigned.metrics()]
    of_root = tuple(metrics.pop((), ()))
    caps = [
        dataclasses.replace(cap, metrics=of_root)
        if cap.part == "disk" and metrics
        else cap
        for cap in booted.caps
    ]
    findings = []
    for numbers, names in metrics.items():
        combined, partial = _combine(
            [booted.volume_caps.get(n, ()) for n in numbers]
        )
        caps += (
            dataclasses.replace(cap, metrics=tuple(names)) for cap in combined
        )
        text = ", ".join(map(str, numbers))
        findings += [
            promises.create_not_checked_finding(
                cap.name, _PARTIAL_LIMIT.format(numbers=text)
            )
            for cap in partial
        ]
    used = {number for numbers in metrics for number in numbers}
    caps += (
        dataclasses.replace(cap, metrics=())
        for number, volume_caps in booted.volume_caps.items()
        if number not in used
        for cap in volume_caps
    )
    return [*dict.fromkeys(caps)], [*dict.fromkeys(findings)]


def _combine(
    volumes: collections.abc.Sequence[collections.abc.Iterable[rate_caps.Cap]],
) -> tuple[list[rate_caps.Cap], list[rate_caps.Cap]]:
    """Return the caps of volumes that one run of a workload uses in turn.

    The slowest volume determines the rate of the others. If a volume has no
    cap, the rate of all has none; the caps of the others are the second list.

    :param volumes: The caps of each volume.
    """
    limits: dict[tuple[object, ...], list[rate_caps.Cap]] = {}
    for volume_caps in volumes:
        for cap in volume_caps:
            key = (cap.unit, cap.direction, cap.guests)
            limits.setdefault(key, []).append(cap)
    number = len(volumes)
    combined: list[rate_caps.Cap] = []
    partial: list[rate_caps.Cap] = []
    for caps in limits.values():
        if len(caps) < number:
            partial += caps
            continue
        least = min(caps, key=lambda cap: cap.rate)
        combined.append(
            least
            if number == 1
            else dataclasses.replace(
                least,
                rate=number * least.rate,
                payload_rate=number * least.payload_rate,
                burst=number * least.burst,
                name=f"{number} x {least.name}",
            )
        )
    return combined, partial
