"""A lock: one command at a time in one directory."""

import collections.abc
import contextlib
import fcntl
import os
import pathlib

from rally_vmperf.image.system import commands


@contextlib.contextmanager
def hold(root: pathlib.Path) -> collections.abc.Iterator[None]:
    """Lock a directory against other commands.

    :param root: The directory, which must exist.
    :raises HostError: If another command holds the lock.
    """
    handle = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as taken:
        raise commands.HostError(
            f"another command uses {root}; wait until it has ended"
        ) from taken
    finally:
        os.close(handle)
