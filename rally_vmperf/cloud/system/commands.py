"""Run programs in the services' clean environment."""

import collections.abc
import os
import pathlib
import subprocess
import typing as t

from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def environment(folders: layout.Layout) -> dict[str, str]:
    """Return what the cloud's processes have as their environment.

    Nothing is inherited: a proxy, a certificate bundle or a virtual
    environment of the caller's shell must not reach the services.

    :param folders: the state root's folders
    """
    return {
        "PATH": f"{folders.scripts}:{SYSTEM_PATH}",
        "HOME": str(folders.data),
        "LANG": "C.UTF-8",
    }


def plain_environment() -> dict[str, str]:
    """Return the caller's environment, with Debian's own programs first."""
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
    text: str | None = None,
    log: pathlib.Path | None = None,
    accept: collections.abc.Container[int] = (0,),
    timeout: float = 900,
) -> str:
    """Run a program to its end and return what it printed.

    :param argv: program and arguments
    :param env: the whole environment; the caller's with Debian's path when
        not given
    :param text: what the program reads
    :param log: a file that gets the output too
    :param accept: exit codes that are no failure
    :param timeout: seconds the program may take
    :raises errors.CloudError: with the last line of the output
    """
    name = pathlib.Path(argv[0]).name
    try:
        done = subprocess.run(
            argv,
            env=plain_environment() if env is None else env,
            input=text or "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            umask=0o022,
        )
    except FileNotFoundError as missing:
        raise errors.CloudError(
            f"program {name} is not installed; install its Debian package"
        ) from missing
    except subprocess.TimeoutExpired as late:
        raise errors.CloudError(
            f"{name} did not end within {timeout:.0f} s"
        ) from late
    if log is not None:
        with log.open("a") as stream:
            stream.write(done.stdout)
    if done.returncode not in accept:
        raise errors.CloudError(failure(argv, done, log))
    return done.stdout


def failure(
    argv: collections.abc.Sequence[t.Any],
    done: "subprocess.CompletedProcess[str]",
    log: pathlib.Path | None,
) -> str:
    """Say in one line how a program failed."""
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "it printed nothing"
    shown = " ".join(map(str, argv[:4]))
    more = f" (all of it: {log})" if log else ""
    return f"'{shown} ...' ended with code {done.returncode}: {last}{more}"


def quietly(argv: collections.abc.Sequence[str]) -> bool:
    """Run a program whose failure is an answer; return whether it worked."""
    try:
        run(argv, timeout=60)
    except errors.CloudError:
        return False
    return True
