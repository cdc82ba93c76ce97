"""Files that are written whole or not at all."""

import contextlib
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

    Its folder is created if it is missing.

    :param replace: an older file of the same name
    :raises FileExistsError: when there is one that is not to be replaced
    :raises OSError: when it cannot be written
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
            put = os.replace if replace else os.link
            put(stream.name, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(stream.name)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
