# SPDX-License-Identifier: Apache-2.0
"""Reject a host on which the embedded cloud could not work."""

import os
import pathlib
import platform
import shutil

from rally_vmperf.image import commands
from tests.cloud.container import container
from tests.cloud.system import layout

GIB = 1024**3
MEMORY = 6 * GIB
DISK = 10 * GIB
# Less than this, and databases break.
DISK_OF_RUNNING = GIB
SYSTEMS = ("debian 12", "debian 13")
# Files that only clouds outside of a container have.
_EARLIER = ("before.json", "packages.json")
_DEVICES = pathlib.Path("/sys/class/net")


def check_earlier(*roots: pathlib.Path) -> None:
    """Reject a cloud of an earlier form.

    :param roots: The state directories.
    """
    for path in (root / name for root in roots for name in _EARLIER):
        if path.exists():
            raise commands.HostError(
                f"{path} belongs to a cloud of an earlier version, outside of "
                "a container; remove it with that version: rally-vmperf cloud "
                f"down --purge, then delete {path.parent}"
            )


def check(folders: layout.Layout) -> None:
    """Raise an error with the first reason why this host cannot be used.

    :param folders: The paths of the cloud.
    :raises errors.HostError: With the reason and the way out.
    """
    release = platform.freedesktop_os_release()
    system = f"{release['ID']} {release.get('VERSION_ID', '')}".rstrip()
    if system not in SYSTEMS:
        raise commands.HostError(
            f"this system is '{system}': must be one of "
            f"{', '.join(map(repr, SYSTEMS))}; use a host or a virtual "
            "machine with one of them"
        )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if memory < MEMORY:
        raise commands.HostError(
            f"{memory / GIB:.1f} GiB of memory are too little for the "
            f"services and one guest; use a host with {MEMORY // GIB} GiB"
        )
    check_earlier(folders.root, layout.DEFAULT_ROOT)
    # The link of one that was killed may remain for a while.
    is_running = (folders.root / container.PID_FILE).exists()
    if (_DEVICES / layout.LINK).exists() and not is_running:
        raise commands.HostError(
            f"the host has a link {layout.LINK} of another cloud; end that "
            "one: python -m tests.cloud down --root DIRECTORY"
        )
    existing = next(
        path for path in (folders.root, *folders.root.parents) if path.exists()
    )
    free = shutil.disk_usage(existing).free
    provided = folders.package_root.exists() and folders.image.exists()
    needed = DISK_OF_RUNNING if provided else DISK
    if free < needed:
        raise commands.HostError(
            f"{free / GIB:.1f} GiB of disk are free, {needed // GIB} GiB are "
            "needed; free some, or put the cloud elsewhere with --root"
        )
