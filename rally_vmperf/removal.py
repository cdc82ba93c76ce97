"""Delete folders of ours, and nothing else.

A folder is ours if it has a marker, which we write when we make the folder.
Only what lies strictly below such a folder is ever deleted. Links on the way
are refused, links inside are removed and not followed, and where something
is mounted the deletion stops.
"""

import collections.abc
import contextlib
import os
import pathlib
import stat
import tempfile

from rally_vmperf import errors

#: The file that makes a folder ours.
MARKER = ".rally-vmperf"
_TEXT = "rally-vmperf made this folder, and deletes what is in it.\n"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class RemovalError(errors.VMPerfError):
    """What was to be deleted is not ours; the message says why."""


def mark(folder: pathlib.Path) -> None:
    """Make a folder ours.

    :param folder: one that we made, or that was empty
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(folder / MARKER, flags, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(_TEXT)


def marked(folder: pathlib.Path) -> bool:
    """Tell whether a folder is ours, and nobody else's in truth.

    :param folder: an existing one, or none
    """
    try:
        found = [os.lstat(path) for path in (folder, folder / MARKER)]
    except OSError:
        return False
    return (
        stat.S_ISDIR(found[0].st_mode)
        and stat.S_ISREG(found[1].st_mode)
        and all(one.st_uid == os.geteuid() for one in found)
    )


def remove(path: pathlib.Path, below: pathlib.Path) -> None:
    """Delete a file or a folder with all that is in it.

    :param path: what to delete; nothing happens when it is not there
    :param below: a folder of ours, in which it lies at any depth
    :raises RemovalError: when it is not ours to delete
    """
    try:
        parts = path.relative_to(below).parts
    except ValueError:
        parts = ()
    if not parts or ".." in parts:
        raise RemovalError(
            f"{path} is not below {below}, so it is not deleted; look at it "
            "and delete it by hand"
        )
    if not marked(below):
        raise RemovalError(
            f"{below} has no file {MARKER} of this user's, so {path} is not "
            "deleted; look at it and delete it by hand"
        )
    with contextlib.ExitStack() as stack:
        handle = _opened(below, None, stack)
        mount = _mount(handle)
        try:
            for depth, name in enumerate(parts[:-1], start=1):
                handle = _opened(name, handle, stack)
                _check_mount(handle, mount, below.joinpath(*parts[:depth]))
        except FileNotFoundError:
            return
        except OSError as error:
            raise RemovalError(
                f"{path} is reached by a link or no folder "
                f"({error.strerror}), so it is not deleted; look at it and "
                "delete it by hand"
            ) from error
        _delete(parts[-1], handle, mount, path)


def discard(folder: pathlib.Path) -> None:
    """Delete a folder of ours as a whole, its marker last.

    :param folder: a marked one
    :raises RemovalError: when it is not ours
    """
    for entry in [*_entries(folder), MARKER]:
        remove(folder / entry, folder)
    folder.rmdir()


@contextlib.contextmanager
def temporary(
    prefix: str, parent: pathlib.Path | None = None
) -> collections.abc.Iterator[pathlib.Path]:
    """Have a folder of ours for the time of some work.

    :param prefix: how its name begins
    :param parent: where to make it; the system's place if None
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    mark(folder)
    try:
        yield folder
    finally:
        discard(folder)


def _entries(folder: pathlib.Path) -> list[str]:
    return [name for name in os.listdir(folder) if name != MARKER]


def _opened(
    name: "str | os.PathLike[str]",
    parent: int | None,
    stack: contextlib.ExitStack,
) -> int:
    """Open a folder, never through a link in its last part."""
    handle = os.open(name, _FOLDER, dir_fd=parent)
    stack.callback(os.close, handle)
    return handle


def _mount(handle: int) -> str:
    """Return the number of the mount that an open folder is in."""
    lines = pathlib.Path(f"/proc/self/fdinfo/{handle}").read_text()
    return next(ln for ln in lines.splitlines() if ln.startswith("mnt_id"))


def _check_mount(handle: int, mount: str, path: pathlib.Path) -> None:
    if _mount(handle) != mount:
        raise RemovalError(
            f"something is mounted on {path}, so it is not deleted; unmount "
            "it first"
        )


def _delete(name: str, parent: int, mount: str, path: pathlib.Path) -> None:
    """Delete an entry of an open folder, with all that is in it."""
    try:
        kind = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(kind):
            os.unlink(name, dir_fd=parent)
            return
        with contextlib.ExitStack() as stack:
            handle = _opened(name, parent, stack)
            _check_mount(handle, mount, path)
            for entry in os.listdir(handle):
                _delete(entry, handle, mount, path / entry)
        os.rmdir(name, dir_fd=parent)
    except FileNotFoundError:
        # somebody else was faster
        return
