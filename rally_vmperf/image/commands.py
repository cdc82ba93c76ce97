# SPDX-License-Identifier: Apache-2.0
"""The host that builds an image: programs, mounts, a lock, progress."""

import collections.abc
import contextlib
import fcntl
import os
import pathlib
import subprocess
import sys
import time
import typing as t

import psutil

from rally_vmperf import errors

SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def check_user(user: int) -> None:
    """Reject users other than root.

    :param user: The number of the user.
    :raises errors.HostError: If the number is not 0.
    """
    if user != 0:
        raise HostError(
            f"the user is {user}: must be root; run the command with sudo"
        )


def plain_environment() -> dict[str, str]:
    """Return the environment of the caller with the path of Debian."""
    return {
        **os.environ,
        "PATH": SYSTEM_PATH,
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
    }


def run(
    argv: collections.abc.Sequence[str | os.PathLike[str]],
    *,
    env: dict[str, str] | None = None,
    log: pathlib.Path | None = None,
    accept: collections.abc.Container[int] = (0,),
    timeout: float = 900,
) -> str:
    """Run a program to its end and return its output.

    :param argv: The program and its arguments.
    :param env: The environment; None selects that of the caller, with
        Debian's path.
    :param log: A file to which the output is appended.
    :param accept: The exit codes of success.
    :param timeout: The time limit in seconds.
    :raises errors.HostError: With the last line of the output.
    """
    name = pathlib.Path(argv[0]).name
    try:
        done = subprocess.run(
            argv,
            env=plain_environment() if env is None else env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            umask=0o022,
        )
    except FileNotFoundError as missing:
        raise HostError(
            f"program {name} is not installed; install its Debian package"
        ) from missing
    except subprocess.TimeoutExpired as late:
        raise HostError(f"{name} did not end within {timeout:.0f} s") from late
    if log is not None:
        _append(log, done.stdout)
    if done.returncode not in accept:
        lines = done.stdout.strip().splitlines() or ["it printed nothing"]
        last = lines[-1].strip()
        more = f" (whole output: {log})" if log else ""
        raise HostError(
            f"'{' '.join(map(str, argv[:4]))} ...' ended with code "
            f"{done.returncode}: {last}{more}"
        )
    return done.stdout


def _append(log: pathlib.Path, text: str) -> None:
    """Append a text to a log; reject a link, which another user can own.

    :raises errors.HostError: If the log cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    try:
        descriptor = os.open(log, flags, 0o644)
        with open(descriptor, "a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        reason = error.strerror or error
        if log.is_symlink():
            reason = "is a link; remove it"
        raise HostError(f"log {log}: {reason}") from error


def quietly(argv: collections.abc.Sequence[str]) -> bool:
    """Run a program; return whether it succeeded."""
    try:
        run(argv, timeout=60)
    except HostError:
        return False
    return True


class HostError(errors.VMPerfError):
    """A program failed, or the host does not allow what was requested."""


class Progress:
    """A printer of progress, in lines.

    :param stream: The stream for the lines.
    """

    def __init__(self, stream: t.TextIO = sys.stdout) -> None:
        self._stream = stream
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        """Print one line."""
        elapsed = time.monotonic() - self._start
        print(f"[{elapsed:6.1f} s] {text}", file=self._stream, flush=True)


@contextlib.contextmanager
def hold_lock(root: pathlib.Path) -> collections.abc.Iterator[None]:
    """Lock a directory against other commands.

    :param root: The directory, which must exist.
    :raises HostError: If another command holds the lock.
    """
    handle = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as taken:
        raise HostError(
            f"another command uses {root}; wait until it has ended"
        ) from taken
    finally:
        os.close(handle)


def list_mounts(folder: pathlib.Path) -> list[str]:
    """Return the mount points in or on a directory, the last one first."""
    return [
        mount.mountpoint
        for mount in reversed(psutil.disk_partitions(all=True))
        if pathlib.Path(mount.mountpoint).is_relative_to(folder)
    ]


def unmount(folder: pathlib.Path) -> None:
    """Unmount all file systems in a directory, and on it."""
    for target in list_mounts(folder):
        quietly(["umount", target])
