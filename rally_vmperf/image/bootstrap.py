"""Install Debian packages into a new root file system, by mmdebstrap."""

import collections.abc
import pathlib

from rally_vmperf.image import mirror
from rally_vmperf.image.system import commands

# mmdebstrap mounts /proc and /sys in the mount namespace that it finds.
_ALONE = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
    "--mount-proc",
)


def install(
    suite: str,
    target: pathlib.Path,
    names: collections.abc.Iterable[str],
    options: collections.abc.Iterable[str],
    log: pathlib.Path,
    *,
    sources: collections.abc.Iterable[str],
    environment: collections.abc.Mapping[str, str] | None = None,
) -> None:
    """Install packages, and start none of their services.

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
