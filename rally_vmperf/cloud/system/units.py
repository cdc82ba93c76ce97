"""Keep the units of installed packages from starting at the next boot.

The cloud runs its services by itself. Debian enables what it installs, so
with systemd they would all start a second time, and listen everywhere.
"""

import collections.abc
import json
import os.path
import pathlib
import re

from rally_vmperf import atomic
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout

FOLDER = pathlib.Path("/etc/systemd/system")
RUNNING = pathlib.Path("/run/systemd/system")
NOWHERE = pathlib.Path("/dev/null")
UNIT = re.compile(
    r"/(?:usr/)?lib/systemd/system/([^/]+\.(?:path|service|socket|timer))"
)
SCRIPT = re.compile(r"/etc/init\.d/([^/]+)")
# Base packages, which may come with ours and which others need too.
BASE = re.compile(
    r"(systemd|dbus|polkit|udev|cron|logrotate|apparmor|util-linux|lvm2"
    r"|dmsetup|e2fsprogs|kmod|procps|apt|dpkg|man-db|ca-certificates).*"
)


def units(files: collections.abc.Iterable[str]) -> list[str]:
    """Return the units among the files of packages, SysV scripts included.

    :param files: absolute paths
    """
    found = set()
    for path in files:
        if match := UNIT.fullmatch(path):
            found.add(match[1])
        elif match := SCRIPT.fullmatch(path):
            found.add(f"{match[1]}.service")
    return sorted(found)


def mask(folders: layout.Layout) -> None:
    """Mask the units of the packages that came for the cloud.

    A unit for which the machine's owner has decided already is left alone.

    :param folders: the state root's folders
    """
    content = documents.read(folders.packages) or {}
    brought = [n for n in content.get("brought", []) if not BASE.match(n)]
    if not brought:
        return
    files = commands.run(["dpkg-query", "-L", *brought], accept=(0, 1))
    names = [
        name
        for name in units(files.splitlines())
        if not os.path.lexists(FOLDER / name)
    ]
    if not names:
        return
    masked = sorted({*content.get("masked", []), *names})
    # First the record: this may be interrupted.
    _save(folders, {**content, "masked": masked})
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names:
        (FOLDER / name).symlink_to(NOWHERE)
    _reload()


def unmask(folders: layout.Layout) -> None:
    """Unmask the units that were masked for the cloud.

    :param folders: the state root's folders
    """
    content = documents.read(folders.packages) or {}
    masked = content.pop("masked", [])
    for name in masked:
        link = FOLDER / name
        if link.is_symlink() and link.readlink() == NOWHERE:
            link.unlink()
    if masked:
        _save(folders, content)
        _reload()


def _save(folders: layout.Layout, content: dict[str, object]) -> None:
    atomic.write(folders.packages, json.dumps(content) + "\n")


def _reload() -> None:
    if RUNNING.is_dir():
        commands.quietly(["systemctl", "daemon-reload"])
