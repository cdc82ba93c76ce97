"""The settings with which a cloud was brought up."""

import dataclasses
import json

from rally_vmperf import atomic
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout

DISK_CACHES = ("none", "writethrough", "writeback", "directsync", "unsafe")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a cloud that its figures depend on.

    :param disk_cache: how guests' disks use the machine's page cache
    :param virtualization: kvm, or qemu for emulation
    """

    disk_cache: str = "none"
    virtualization: str = "qemu"


def load(folders: layout.Layout) -> Settings:
    """Return the recorded settings, or the defaults.

    :param folders: the state root's folders
    """
    content = documents.read(folders.settings) or {}
    disk_cache = content.get("disk_cache")
    virtualization = content.get("virtualization")
    return Settings(
        disk_cache if disk_cache in DISK_CACHES else "none",
        "kvm" if virtualization == "kvm" else "qemu",
    )


def save(folders: layout.Layout, chosen: Settings) -> None:
    """Record the settings.

    :param folders: the state root's folders
    :param chosen: what to record
    """
    atomic.write(
        folders.settings, json.dumps(dataclasses.asdict(chosen)) + "\n"
    )
