# SPDX-License-Identifier: Apache-2.0
"""Atomic writes of files."""

import contextlib
import errno
import os
import pathlib
import tempfile


def write(
    path: pathlib.Path,
    content: str | bytes,
    *,
    replace: bool = True,
    mode: int = 0o600,
) -> None:
    """Write a file so that it survives a crash of this machine.

    The directory of the file is created if it does not exist.

    :param path: The path of the file.
    :param content: The content of the file; text is encoded in UTF-8.
    :param replace: Whether an existing file may be overwritten.
    :param mode: The permissions of the file.
    :raises FileExistsError: If the file exists and must not be overwritten.
    :raises OSError: If the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=".", delete=False
    ) as stream:
        try:
            stream.write(
                content.encode() if isinstance(content, str) else content
            )
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
            if replace or not _link(stream.name, path):
                os.replace(stream.name, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(stream.name)
    sync_directory(path.parent)


def _link(source: str, path: pathlib.Path) -> bool:
    """Give a file a second name that does not exist.

    :returns: False if the file system has no links, such as exFAT. The name
        is reserved then with an empty file.
    :raises FileExistsError: If the name exists.
    """
    try:
        os.link(source, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP):
            raise
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return False
    return True


def sync_directory(path: pathlib.Path) -> None:
    """Sync the entries of a directory to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
