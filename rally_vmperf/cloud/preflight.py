"""Reject a host on which the embedded cloud could not work."""

import collections.abc
import dataclasses
import os
import pathlib
import platform
import shutil

from rally_vmperf.cloud.container import container
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

GIB = 1024**3
MEMORY = 6 * GIB
DISK = 10 * GIB
# Less than this, and databases break.
DISK_OF_RUNNING = GIB
SYSTEMS = ("debian 12", "debian 13")
# Files that only clouds outside of a container have.
_EARLIER = ("before.json", "packages.json")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of the host.

    :param user: The number of the user who runs the command.
    :param system: The identifier and the version of the distribution, such
        as ``debian 12``.
    :param memory: The size of the memory in bytes.
    :param disk: The free space below the state directory in bytes.
    :param provided: Whether packages and image are there.
    :param earlier: A file of a cloud of an earlier form; None for none.
    :param other: Whether another cloud runs on the host.
    """

    user: int
    system: str
    memory: int
    disk: int
    provided: bool = False
    earlier: pathlib.Path | None = None
    other: bool = False


def gather(folders: layout.Layout) -> Facts:
    """Return the facts of this host.

    :param folders: The paths of the cloud.
    """
    release = platform.freedesktop_os_release()
    existing = next(
        path for path in (folders.root, *folders.root.parents) if path.exists()
    )
    # The link of one that was killed may remain for a while.
    ours = (folders.root / container.PID_FILE).exists()
    return Facts(
        user=os.geteuid(),
        system=f"{release['ID']} {release.get('VERSION_ID', '')}".rstrip(),
        memory=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        disk=shutil.disk_usage(existing).free,
        provided=folders.package_root.exists() and folders.image.exists(),
        earlier=find_earlier({folders.root, layout.DEFAULT_ROOT}),
        other=pathlib.Path("/sys/class/net", layout.LINK).exists()
        and not ours,
    )


def find_earlier(
    roots: collections.abc.Iterable[pathlib.Path],
) -> pathlib.Path | None:
    """Return a file of a cloud of an earlier form, if there is one.

    :param roots: The state directories.
    """
    files = (root / name for root in roots for name in _EARLIER)
    return next((path for path in files if path.exists()), None)


def check_user(user: int) -> None:
    """Reject anyone but root.

    :param user: The number of the user.
    """
    if user != 0:
        raise errors.CloudError(
            f"the embedded cloud needs root, this is user {user}; run the "
            "command with sudo"
        )


def check_earlier(path: pathlib.Path | None) -> None:
    """Reject a cloud of an earlier form.

    :param path: The file of the cloud; None for no such cloud.
    """
    if path:
        raise errors.CloudError(
            f"{path} belongs to a cloud of an earlier version, outside of a "
            "container; remove it with that version: rally-vmperf cloud down "
            f"--purge, then delete {path.parent}"
        )


def check(facts: Facts) -> None:
    """Raise an error with the first reason why this host cannot be used.

    :param facts: The facts of the host.
    :raises errors.CloudError: With the reason and the way out.
    """
    check_user(facts.user)
    if facts.system not in SYSTEMS:
        raise errors.CloudError(
            f"this system is '{facts.system}': must be one of "
            f"{', '.join(map(repr, SYSTEMS))}; use a host or a virtual "
            "machine with one of them"
        )
    if facts.memory < MEMORY:
        raise errors.CloudError(
            f"{facts.memory / GIB:.1f} GiB of memory are too little for the "
            f"services and one guest; use a host with {MEMORY // GIB} GiB"
        )
    check_earlier(facts.earlier)
    if facts.other:
        raise errors.CloudError(
            f"the host has a link {layout.LINK} of another cloud; end that "
            "one: rally-vmperf cloud down --root DIRECTORY"
        )
    needed = DISK_OF_RUNNING if facts.provided else DISK
    if facts.disk < needed:
        raise errors.CloudError(
            f"{facts.disk / GIB:.1f} GiB of disk are free, "
            f"{needed // GIB} GiB are needed; free some, or put the cloud "
            "elsewhere with --root"
        )
