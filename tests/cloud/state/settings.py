# SPDX-License-Identifier: Apache-2.0
"""The settings with which a cloud was started."""

import dataclasses
import json

from rally_vmperf import atomic
from tests.cloud.system import documents
from tests.cloud.system import layout

DISK_CACHES = ("none", "writethrough", "writeback", "directsync", "unsafe")


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a cloud.

    :param disk_cache: The cache mode of the disks of guests.
    :param virtualization: ``kvm``, or ``qemu`` for emulation.
    :param hypervisors: The number of hypervisors, 1 or 2.
    :param volumes: Whether the cloud has volumes: Cinder on Ceph.
    """

    disk_cache: str = "none"
    virtualization: str = "qemu"
    hypervisors: int = 1
    volumes: bool = False


def load(folders: layout.Layout) -> Settings:
    """Return the recorded settings, or the defaults."""
    content = documents.read(folders.settings) or {}
    disk_cache = content.get("disk_cache")
    return Settings(
        disk_cache if disk_cache in DISK_CACHES else "none",
        "kvm" if content.get("virtualization") == "kvm" else "qemu",
        2 if content.get("hypervisors") == 2 else 1,
        content.get("volumes") is True,
    )


def save(folders: layout.Layout, chosen: Settings) -> None:
    """Record the settings."""
    atomic.write(
        folders.settings, json.dumps(dataclasses.asdict(chosen)) + "\n"
    )
