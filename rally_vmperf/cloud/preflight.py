"""Refuse a machine on which the embedded cloud could not work."""

import dataclasses
import os
import pathlib
import platform
import shutil

from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

GIB = 1024**3
MEMORY = 6 * GIB
DISK = 10 * GIB
# Less than this, and databases break.
DISK_OF_RUNNING = GIB
# The only release whose packages the templates of the services fit.
SYSTEM = "debian 12"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the machine.

    :param user: number of the user who runs the command
    :param system: The identifier and the version of the distribution, such
        as ``debian 12``.
    :param memory: bytes of memory in all
    :param disk: bytes free below the state root
    :param brought_up: whether the state root holds a cloud already
    :param rivals: conflicting services, process number and name
    :param bridges: bridges with our names
    """

    user: int
    system: str
    memory: int
    disk: int
    brought_up: bool = False
    rivals: tuple[tuple[int, str], ...] = ()
    bridges: tuple[str, ...] = ()


def gather(folders: layout.Layout, owner: ownership.Ownership) -> Facts:
    """Look at this machine.

    :param folders: the state root's folders
    :param owner: distinguishes the cloud's processes from others
    """
    release = platform.freedesktop_os_release()
    existing = next(
        path for path in (folders.root, *folders.root.parents) if path.exists()
    )
    names = (layout.MANAGEMENT_BRIDGE, layout.EXTERNAL_BRIDGE)
    return Facts(
        user=os.geteuid(),
        system=f"{release['ID']} {release.get('VERSION_ID', '')}".rstrip(),
        memory=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        disk=shutil.disk_usage(existing).free,
        brought_up=folders.before.exists() or schema.any_filled(folders),
        rivals=tuple(owner.rivals()),
        bridges=tuple(
            name
            for name in names
            if pathlib.Path("/sys/class/net", name).exists()
        ),
    )


def check_user(user: int) -> None:
    """Refuse anyone but root.

    :param user: number of the user
    """
    if user != 0:
        raise errors.CloudError(
            f"the embedded cloud needs root, this is user {user}; run the "
            "command with sudo"
        )


def check(facts: Facts) -> None:
    """Raise an error with the first reason why this machine cannot be used.

    :param facts: what is known of the machine
    """
    check_user(facts.user)
    if facts.system != SYSTEM:
        raise errors.CloudError(
            f"this system is '{facts.system}': must be '{SYSTEM}', whose "
            "packages the embedded cloud consists of; use a machine or a "
            "privileged container with Debian 12"
        )
    if facts.memory < MEMORY:
        raise errors.CloudError(
            f"{facts.memory / GIB:.1f} GiB of memory are too little for the "
            f"services and one guest; use a machine with {MEMORY // GIB} GiB"
        )
    if facts.disk < DISK and not facts.brought_up:
        raise errors.CloudError(
            f"{facts.disk / GIB:.1f} GiB of disk are free, "
            f"{DISK // GIB} GiB are needed; free some, or put the cloud "
            "elsewhere with --root"
        )
    if facts.disk < DISK_OF_RUNNING:
        raise errors.CloudError(
            f"{facts.disk / GIB:.1f} GiB of disk are free, the services need "
            f"{DISK_OF_RUNNING // GIB} GiB to go on; free some"
        )
    if facts.rivals:
        pid, name = facts.rivals[0]
        raise errors.CloudError(
            f"{name} runs here already (process {pid}) and is not the "
            "embedded cloud's; stop it, or use another machine"
        )
    if facts.bridges and not facts.brought_up:
        raise errors.CloudError(
            f"there is a bridge {facts.bridges[0]} that the embedded cloud "
            "did not make; remove it, or use another machine"
        )
