# SPDX-License-Identifier: Apache-2.0
"""Verification of the settings that are requested for a guest.

The table maps each property to the fact that shows it: devices and processors
as the guest reports them, and for pinning and page sizes the topology that
Nova reports. The names are those of image properties; the extra spec
``hw:cpu_policy`` and the property ``hw_cpu_policy`` have the same meaning.
"""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding

Outcome = t.Literal["applied", "not_applied", "not_proven"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestSetting:
    """A setting that was requested for a guest, with the detected value.

    :param name: The name of the extra spec or of the image property.
    :param detected: The value in the guest or in Nova; None if neither shows
        it.
    """

    name: str
    requested: str
    detected: str | None
    outcome: Outcome


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence:
    """The facts that show the settings of a guest.

    :param vcpus: The number of vCPUs in the flavor.
    :param fingerprint: The fingerprint of the guest.
    :param topology: The topology of the server from Nova; None if it is not
        known.
    :param volume_types: The types of the data volumes from Cinder; None for
        one that it does not report.
    """

    vcpus: int
    fingerprint: documents.Facts
    topology: documents.Facts | None = None
    volume_types: tuple[str | None, ...] = ()


def verify(
    requested: documents.Arguments, evidence: Evidence
) -> tuple[GuestSetting, ...]:
    """Return the settings that were requested, as one guest has them.

    :param requested: The values of extra specs and image properties by name.
    """
    return tuple(
        _verify_setting(name, value, evidence)
        for name, value in requested.items()
    )


def list_requested(guest: models.Guest) -> documents.Arguments:
    """Return the settings that were requested for a guest, by name.

    The types of data volumes are one setting.
    """
    types = sorted(
        {
            volume.requested_type
            for volume in guest.volumes
            if volume.requested_type
        }
    )
    volume_type = {"volume_type": ", ".join(types)} if types else {}
    return {**guest.settings, **volume_type}


def find_differences(
    guest: models.Guest, fingerprint: documents.Facts
) -> list[finding.Finding]:
    """Return a finding on each requested setting that is not verified.

    :param fingerprint: The fingerprint of the guest.
    """
    evidence = Evidence(
        vcpus=guest.flavor.vcpus,
        fingerprint=fingerprint,
        topology=guest.topology,
        volume_types=tuple(volume.type for volume in guest.volumes),
    )
    findings = []
    for setting in verify(list_requested(guest), evidence):
        title = f"{setting.name}={setting.requested} was requested"
        if setting.outcome == "not_applied":
            detail = f"{title}, {guest.name} has {setting.detected}"
            findings.append(
                finding.Finding("variant_not_applied", guest.name, detail)
            )
        elif setting.outcome == "not_proven":
            detail = f"{title}, neither {guest.name} nor the cloud shows it"
            findings.append(
                finding.Finding("variant_not_proven", guest.name, detail)
            )
    return findings


def _verify_setting(
    name: str, requested: str, evidence: Evidence
) -> GuestSetting:
    """Return one setting with its detected value and the outcome."""
    detected, is_applied = None, None
    rule = _RULES.get(name.replace(":", "_"))
    if rule is not None:
        detected = rule.detect(evidence)
    if rule is not None and detected is not None:
        is_applied = rule.match(requested.lower(), detected)
    outcomes: dict[bool | None, Outcome] = {
        True: "applied",
        False: "not_applied",
        None: "not_proven",
    }
    return GuestSetting(
        name=name,
        requested=requested,
        detected=detected,
        outcome=outcomes[is_applied],
    )


#: Drivers of network interfaces -> the model.
_VIF_MODELS = {
    "8139cp": "rtl8139",
    "8139too": "rtl8139",
    "ibmveth": "spapr-vlan",
    "ne2k-pci": "ne2k_pci",
    "pcnet32": "pcnet",
    "virtio_net": "virtio",
}
#: Drivers of SCSI controllers -> the model.
_SCSI_MODELS = {
    "BusLogic": "buslogic",
    "ibmvscsi": "ibmvscsi",
    "megaraid_sas": "lsisas1078",
    "mptsas": "lsisas1068",
    "sym53c8xx": "lsilogic",
    "virtio_scsi": "virtio-scsi",
    "vmw_pvscsi": "vmpvscsi",
}
#: Drivers of disks and of their controllers -> the bus.
_DISK_BUSES = {
    **dict.fromkeys(_SCSI_MODELS, "scsi"),
    "ahci": "sata",
    "ata_piix": "ide",
    "uas": "usb",
    "usb-storage": "usb",
    "virtio_blk": "virtio",
}
#: Devices that are not disks of the flavor: CD-ROM and floppy drives.
_REMOVABLE = ("sr", "fd")
#: The texts that Nova reads as true.
_TRUE = ("1", "on", "t", "true", "y", "yes")


def _list_devices(
    evidence: Evidence, kind: str
) -> list[collections.abc.Mapping[str, str | None]]:
    """Return the devices of a kind in the fingerprint."""
    return [
        device
        for device in evidence.fingerprint.get(kind) or ()
        if not str(device.get("name")).startswith(_REMOVABLE)
    ]


def _join(values: collections.abc.Iterable[str | None]) -> str | None:
    """Return the different values as text; None if one is not known."""
    different = set(values)
    if not different or None in different:
        return None
    return ", ".join(sorted(t.cast(set[str], different)))


def _detect_vif_model(evidence: Evidence) -> str | None:
    """Return the model of the network interfaces."""
    drivers = (
        device.get("driver") or None
        for device in _list_devices(evidence, "network_interfaces")
    )
    return _join(
        driver and _VIF_MODELS.get(driver, driver) for driver in drivers
    )


def _detect_multiqueue(evidence: Evidence) -> str | None:
    """Return whether network interfaces have several queues.

    A guest with one vCPU has one queue in both cases.
    """
    if evidence.vcpus < 2:
        return None
    return _join(
        {"": None, "1": "false"}.get(device.get("queues") or "", "true")
        for device in _list_devices(evidence, "network_interfaces")
    )


def _detect_disk_bus(evidence: Evidence) -> str | None:
    """Return the bus of the disks; disks with a controller have its bus."""
    return _join(
        _DISK_BUSES.get(device.get("controller") or device.get("driver") or "")
        for device in _list_devices(evidence, "disks")
    )


def _detect_scsi_model(evidence: Evidence) -> str | None:
    """Return the model of the SCSI controllers."""
    return _join(
        _SCSI_MODELS.get(device.get("controller") or "")
        for device in _list_devices(evidence, "disks")
    )


def _detect_machine_type(evidence: Evidence) -> str | None:
    """Return QEMU's name of the machine type."""
    return evidence.fingerprint.get("machine_type")


def _match_machine_type(requested: str, detected: str) -> bool:
    """Return whether a machine type has a name, or the alias of a family."""
    families = {"pc": "pc-i440fx-", "q35": "pc-q35-", "virt": "virt-"}
    family = families.get(requested)
    return detected.startswith(family) if family else requested == detected


def _detect_numa_nodes(evidence: Evidence) -> str | None:
    """Return the number of NUMA nodes."""
    return _format_ratio(evidence.fingerprint.get("numa_nodes"), 1)


def _detect_sockets(evidence: Evidence) -> str | None:
    """Return the number of sockets."""
    return _format_ratio(evidence.fingerprint.get("sockets"), 1)


def _detect_cores(evidence: Evidence) -> str | None:
    """Return the number of cores in a socket."""
    facts = evidence.fingerprint
    return _format_ratio(facts.get("cores"), facts.get("sockets"))


def _detect_threads(evidence: Evidence) -> str | None:
    """Return the number of threads in a core."""
    facts = evidence.fingerprint
    return _format_ratio(facts.get("threads"), facts.get("cores"))


def _format_ratio(total: int | None, parts: int | None) -> str | None:
    """Return the number of units in each part as text; None if unknown."""
    return f"{total / parts:g}" if total and parts else None


def _list_nodes(evidence: Evidence) -> list[documents.Facts] | None:
    """Return the NUMA nodes in Nova's topology; None if it is not known."""
    if evidence.topology is None:
        return None
    return list(evidence.topology.get("nodes") or ())


def _detect_cpu_policy(evidence: Evidence) -> str | None:
    """Return the policy by which vCPUs are pinned to processors."""
    nodes = _list_nodes(evidence)
    if nodes is None or any("cpu_pinning" not in node for node in nodes):
        return None
    pinned = sum(len(node["cpu_pinning"] or ()) for node in nodes)
    if pinned == 0:
        return "shared"
    return "dedicated" if pinned == evidence.vcpus else "mixed"


def _detect_thread_policy(evidence: Evidence) -> str | None:
    """Return ``require`` if vCPUs are siblings.

    Nova shows no difference between the other policies.
    """
    siblings = (node.get("siblings") for node in _list_nodes(evidence) or ())
    return "require" if any(siblings) else None


def _match_thread_policy(requested: str, detected: str) -> bool | None:
    """Return whether siblings prove a policy; None if they do not."""
    return {"require": True, "isolate": False}.get(requested)


def _detect_page_size(evidence: Evidence) -> str | None:
    """Return the size of memory pages in KiB, or "default"."""
    if evidence.topology is None:
        return None
    return str(evidence.topology.get("pagesize_kb") or "default")


#: The largest pages that are not huge pages, in KiB.
_SMALL_PAGE_KIB = 64
_KIB = {"": 1, "k": 1, "m": 1 << 10, "g": 1 << 20}


def _match_page_size(requested: str, detected: str) -> bool | None:
    """Return whether a page size is the requested one; None for any."""
    size = re.fullmatch(r"([0-9]{1,9}) ?([kmg]?)(?:i?b)?", requested)
    if not size and requested not in ("small", "large"):
        return None
    if detected == "default":
        return False
    if size:
        return int(size[1]) * _KIB[size[2]] == int(detected)
    is_small = int(detected) <= _SMALL_PAGE_KIB
    return is_small is (requested == "small")


def _detect_volume_type(evidence: Evidence) -> str | None:
    """Return the types of the data volumes; None if one is not known."""
    return _join(evidence.volume_types)


def _match_volume_type(requested: str, detected: str) -> bool:
    """Return whether volumes have the requested types.

    Others have the default type, which is not requested.
    """
    types = set(detected.lower().split(", "))
    return types.issuperset(requested.split(", "))


def _match_text(requested: str, detected: str) -> bool:
    """Return whether a value is the requested one."""
    return requested == detected


def _match_boolean(requested: str, detected: str) -> bool:
    """Return whether a Boolean value is the requested one."""
    return (requested in _TRUE) is (detected == "true")


@dataclasses.dataclass(frozen=True)
class _Rule:
    """How a property is detected, and compared with the request.

    :param detect: The function that returns the detected value, or None.
    :param match: The function that compares the request, in lower case, with
        the detected value; it returns None if this proves nothing.
    """

    detect: collections.abc.Callable[[Evidence], str | None]
    match: collections.abc.Callable[[str, str], bool | None] = _match_text


_RULES = {
    "hw_cpu_cores": _Rule(_detect_cores),
    "hw_cpu_policy": _Rule(_detect_cpu_policy),
    "hw_cpu_sockets": _Rule(_detect_sockets),
    "hw_cpu_thread_policy": _Rule(_detect_thread_policy, _match_thread_policy),
    "hw_cpu_threads": _Rule(_detect_threads),
    "hw_disk_bus": _Rule(_detect_disk_bus),
    "hw_machine_type": _Rule(_detect_machine_type, _match_machine_type),
    "hw_mem_page_size": _Rule(_detect_page_size, _match_page_size),
    "hw_numa_nodes": _Rule(_detect_numa_nodes),
    "hw_scsi_model": _Rule(_detect_scsi_model),
    "hw_vif_model": _Rule(_detect_vif_model),
    "hw_vif_multiqueue_enabled": _Rule(_detect_multiqueue, _match_boolean),
    "volume_type": _Rule(_detect_volume_type, _match_volume_type),
}
