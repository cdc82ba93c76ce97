"""Install Debian packages on the host, or in another root file system."""

import collections.abc
import pathlib

from rally_vmperf.image.system import commands

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
