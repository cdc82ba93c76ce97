# SPDX-License-Identifier: Apache-2.0
"""Check that a directory may be the state directory of a cloud.

``cloud up`` writes a marker into an absent or empty directory; nothing is
changed or deleted in a directory without one.
"""

import pathlib
import pwd

from rally_vmperf import removal
from rally_vmperf.image import commands
from tests.cloud.system import layout

# Nothing below these is a place for a cloud, nor are the directories of / and
# of /var themselves.
_SYSTEM = (
    *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32"),
    *("lost+found", "proc", "run", "sbin", "sys", "usr"),
)
_OTHER = f"name another with --root, such as {layout.DEFAULT_ROOT}"


def check_name(root: pathlib.Path) -> pathlib.Path:
    """Return the real path of a directory, if it may hold a cloud.

    :param root: The path that the user named.
    :raises errors.HostError: For directories of the system, and homes.
    """
    real = root.resolve()
    shown = str(real) if real == root else f"{root} (which is {real})"
    homes = {pathlib.Path(user.pw_dir).resolve() for user in pwd.getpwall()}
    homes.add(pathlib.Path.home().resolve())
    parts = real.parts
    shortest = 4 if parts[1:2] == ("var",) else 3
    if len(parts) < shortest or parts[1] in _SYSTEM:
        raise commands.HostError(
            f"folder {shown} belongs to the system, which a cloud must not "
            f"use; {_OTHER}"
        )
    if real in homes or real.parent == pathlib.Path("/home"):
        raise commands.HostError(
            f"{shown} is the home directory of a user, which a cloud must not "
            f"use; {_OTHER}"
        )
    return real


def claim(folders: layout.Layout) -> None:
    """Make a directory the state directory, if it is not yet.

    :raises errors.HostError: If the directory has files of others.
    """
    root = folders.root
    if removal.is_marked(root):
        return
    if root.exists() and not root.is_dir():
        raise commands.HostError(
            f"{root} is not a folder, so no cloud can be in it; {_OTHER}"
        )
    root.mkdir(parents=True, exist_ok=True)
    # What "image build" and a purge of earlier versions leave.
    suffixes = (".qcow2", ".log", ".manifest")
    names = {folders.image.with_suffix(suffix).name for suffix in suffixes}
    names.add(folders.tarball.name)
    if {path.name for path in root.iterdir()} <= names:
        removal.mark(root)
    require(folders)


def require(folders: layout.Layout) -> None:
    """Reject a directory that ``cloud up`` has not made its own.

    :raises errors.HostError: If the directory has no marker.
    """
    root = folders.root
    if not removal.is_marked(root):
        raise commands.HostError(
            f"folder {root} does not have root's file {removal.MARKER}, so no "
            f"cloud was made in it; {_OTHER}"
        )
