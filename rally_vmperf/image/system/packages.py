"""Install Debian packages on the host."""

import collections.abc
import pathlib

from rally_vmperf.image.system import commands


def listed(path: pathlib.Path) -> list[str]:
    """Return the entries of a list with comments and empty lines."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def find_missing(names: collections.abc.Sequence[str]) -> list[str]:
    """Return the packages that are not installed.

    :param names: The names of the packages.
    """
    known = commands.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names],
        accept=(0, 1),
    ).splitlines()
    return [name for name in names if f"{name} installed" not in known]


def install(names: collections.abc.Sequence[str], log: pathlib.Path) -> None:
    """Install the packages that are missing.

    :param names: The names of the packages.
    :param log: The file for the output of apt.
    """
    missing = find_missing(names)
    if not missing:
        return
    # Waits for another process that installs packages.
    command = ["apt-get", "-y", "-o", "DPkg::Lock::Timeout=300"]
    command += ["--no-install-recommends", "install"]
    # What an interrupted command has unpacked.
    commands.run(["dpkg", "--configure", "-a"], log=log)
    if not commands.quietly([*command, "--simulate", *missing]):
        commands.run(["apt-get", "update"], log=log)
    commands.run([*command, *missing], log=log, timeout=1800)
