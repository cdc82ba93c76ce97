# SPDX-License-Identifier: Apache-2.0
"""Deletion of directories that rally_vmperf created.

rally_vmperf writes a marker file into every directory that it creates. Only
paths strictly below a directory with a marker are deleted. Links in the path
to delete are rejected, links in its tree are removed and not followed, and
the deletion stops at mount points.
"""

import collections.abc
import contextlib
import os
import pathlib
import stat
import tempfile

from rally_vmperf import errors

#: The name of the marker file.
MARKER = ".rally-vmperf"
_TEXT = "rally-vmperf created this directory and deletes its content.\n"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def mark(directory: pathlib.Path) -> None:
    """Write the marker file into a directory.

    :param directory: A directory that rally_vmperf created, or that is empty.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(directory / MARKER, flags, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(_TEXT)


def is_marked(directory: pathlib.Path) -> bool:
    """Return whether a directory has the marker, and both have our owner.

    :param directory: The path of the directory, which may not exist.
    """
    try:
        status = directory.lstat()
        marker_status = (directory / MARKER).lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and stat.S_ISREG(marker_status.st_mode)
        and status.st_uid == marker_status.st_uid == os.geteuid()
    )


def remove(path: pathlib.Path, below: pathlib.Path) -> None:
    """Delete a file, or a directory with its content; reject others.

    :param path: The path to delete, which may not exist.
    :param below: A directory with a marker, which contains the path at any
        depth.
    :raises VMPerfError: If the path must not be deleted.
    """
    try:
        parts = path.relative_to(below).parts
    except ValueError:
        parts = ()
    if not parts or ".." in parts:
        raise errors.VMPerfError(
            f"{path} is not below {below}, so it is not deleted; check it "
            "and delete it manually"
        )
    if not is_marked(below):
        raise errors.VMPerfError(
            f"{below} has no file {MARKER} of this user, so {path} is not "
            "deleted; check it and delete it manually"
        )
    with contextlib.ExitStack() as stack:
        handle = _open(below, None, stack)
        mount = _get_mount(handle)
        try:
            for depth, name in enumerate(parts[:-1], start=1):
                handle = _open(name, handle, stack)
                _check_mount(handle, mount, below.joinpath(*parts[:depth]))
        except FileNotFoundError:
            return
        except OSError as error:
            raise errors.VMPerfError(
                f"{path} contains a link or a parent that is not a directory "
                f"({error.strerror}), so it is not deleted; check it and "
                "delete it manually"
            ) from error
        _delete(parts[-1], handle, mount, path)


def discard(directory: pathlib.Path) -> None:
    """Delete a directory with its content; the marker is deleted last.

    :param directory: A directory with a marker.
    :raises VMPerfError: If the directory has no marker.
    """
    for name in [*_list_names(directory), MARKER]:
        remove(directory / name, directory)
    directory.rmdir()


@contextlib.contextmanager
def temporary(
    prefix: str, parent: pathlib.Path | None = None
) -> collections.abc.Iterator[pathlib.Path]:
    """Create a temporary directory, yield its path, and delete it.

    :param prefix: The prefix of the name of the directory.
    :param parent: The parent directory; None selects the default of the
        system.
    """
    directory = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    mark(directory)
    try:
        yield directory
    finally:
        discard(directory)


def _list_names(directory: pathlib.Path) -> list[str]:
    """Return the names in a directory, without the marker."""
    return [name for name in os.listdir(directory) if name != MARKER]


def _open(
    name: "str | os.PathLike[str]",
    parent: int | None,
    stack: contextlib.ExitStack,
) -> int:
    """Return a handle of a directory; its last component is no link."""
    handle = os.open(name, _DIRECTORY, dir_fd=parent)
    stack.callback(os.close, handle)
    return handle


def _get_mount(handle: int) -> str:
    """Return the identifier of the mount that contains a directory."""
    lines = pathlib.Path(f"/proc/self/fdinfo/{handle}").read_text()
    return next(ln for ln in lines.splitlines() if ln.startswith("mnt_id"))


def _check_mount(handle: int, mount: str, path: pathlib.Path) -> None:
    """Reject a directory that is a mount point."""
    if _get_mount(handle) != mount:
        raise errors.VMPerfError(
            f"{path} is a mount point, so it is not deleted; unmount it first"
        )


def _delete(name: str, parent: int, mount: str, path: pathlib.Path) -> None:
    """Delete a file or directory tree in an open directory."""
    try:
        kind = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(kind):
            os.unlink(name, dir_fd=parent)
            return
        with contextlib.ExitStack() as stack:
            handle = _open(name, parent, stack)
            _check_mount(handle, mount, path)
            for child in os.listdir(handle):
                _delete(child, handle, mount, path / child)
        os.rmdir(name, dir_fd=parent)
    except FileNotFoundError:
        # Another process has deleted it.
        return
