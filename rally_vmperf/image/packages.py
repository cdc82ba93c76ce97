# SPDX-License-Identifier: Apache-2.0
"""Debian packages on the host, and in another root file system."""

import collections.abc
import pathlib

from rally_vmperf.image import commands
from rally_vmperf.image import mirror

Enter = collections.abc.Callable[[list[str]], list[str]]


def listed(path: pathlib.Path) -> list[str]:
    """Return the packages in a list without comments and empty lines."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _stay(argv: list[str]) -> list[str]:
    """Return a command that runs on the host."""
    return argv


def find_missing(
    names: collections.abc.Sequence[str], enter: Enter = _stay
) -> list[str]:
    """Return the packages that are not installed.

    :param names: The names of the packages.
    :param enter: The function that returns the command that runs another one
        in the root file system; by default in that of the host.
    """
    shown = "${Package} ${db:Status-Status}\n"
    query = ["dpkg-query", "-W", "-f", shown, *names]
    known = commands.run(enter(query), accept=(0, 1)).splitlines()
    return [name for name in names if f"{name} installed" not in known]


def install(
    names: collections.abc.Sequence[str],
    log: pathlib.Path,
    enter: Enter = _stay,
    environment: collections.abc.Mapping[str, str] | None = None,
) -> None:
    """Install the packages that are missing.

    :param names: The names of the packages.
    :param log: The file for the output of apt.
    :param enter: As for ``find_missing``.
    :param environment: Further variables of the environment of apt.
    """
    missing = find_missing(names, enter)
    if not missing:
        return

    def run(argv: list[str], timeout: float = 900) -> None:
        env = {**commands.plain_environment(), **(environment or {})}
        commands.run(enter(argv), env=env, log=log, timeout=timeout)

    # Waits for another process that installs packages.
    command = ["apt-get", "-y", "-o", "DPkg::Lock::Timeout=300"]
    command += ["--no-install-recommends", "install"]
    # Configure the packages that an interrupted command has unpacked.
    run(["dpkg", "--configure", "-a"])
    if not commands.quietly(enter([*command, "--simulate", *missing])):
        run(["apt-get", "update"])
    run([*command, *missing], timeout=1800)


# mmdebstrap mounts /proc and /sys in the mount namespace that it finds.
_ALONE = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
    "--mount-proc",
)


def bootstrap(
    suite: str,
    target: pathlib.Path,
    names: collections.abc.Iterable[str],
    options: collections.abc.Iterable[str],
    log: pathlib.Path,
    *,
    sources: collections.abc.Iterable[str],
    environment: collections.abc.Mapping[str, str] | None = None,
) -> None:
    """Install packages into a new root file system by mmdebstrap.

    None of their services is started.

    :param suite: The code name of the release.
    :param target: The directory or the archive to create.
    :param names: The names of the packages.
    :param options: Further options of mmdebstrap.
    :param log: The file for the output of mmdebstrap.
    :param sources: The lines of the sources list; none for the mirror that
        mmdebstrap uses by default.
    :param environment: Further variables of the environment.
    :raises HostError: If the packages cannot be installed.
    """
    shown, proxies = mirror.split_proxy_options()
    commands.run(
        [
            *(*_ALONE, "mmdebstrap", "--mode=root"),
            '--aptopt=APT::Install-Recommends "false"',
            '--aptopt=Acquire::Languages "none"',
            *(f"--aptopt={option}" for option in shown),
            f"--include={','.join(names)}",
            *options,
            *(suite, str(target), *sources),
        ],
        env={
            **commands.plain_environment(),
            **proxies,
            **(environment or {}),
        },
        log=log,
        timeout=3600,
    )
