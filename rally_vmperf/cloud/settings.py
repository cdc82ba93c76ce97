"""The choices a cloud was brought up with, on record."""

import dataclasses
import json

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import layout

DISK_CACHES = ("none", "writethrough", "writeback", "directsync", "unsafe")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What figures measured on this cloud depend on.

    :param disk_cache: how guests' disks use the machine's page cache
    :param virtualization: kvm, or qemu for emulation
    """

    disk_cache: str = "none"
    virtualization: str = "qemu"


def load(place: layout.Layout) -> Settings:
    """Return the recorded choices, or the defaults.

    :param place: the state root's folders
    """
    content = documents.read(place.settings) or {}
    disk_cache = content.get("disk_cache")
    virtualization = content.get("virtualization")
    return Settings(
        disk_cache if disk_cache in DISK_CACHES else "none",
        "kvm" if virtualization == "kvm" else "qemu",
    )


def save(place: layout.Layout, chosen: Settings) -> None:
    """Record the choices.

    :param place: the state root's folders
    :param chosen: what to record
    """
    credentials.write_private(
        place.settings, json.dumps(dataclasses.asdict(chosen)) + "\n"
    )
