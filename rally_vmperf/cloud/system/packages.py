"""Install Debian packages without starting their services."""

import collections.abc
import contextlib
import pathlib

from rally_vmperf.cloud.system import commands

POLICY = pathlib.Path("/usr/sbin/policy-rc.d")
SAVED = POLICY.with_name("policy-rc.d.before-vmperf")
OURS = """\
#!/bin/sh
# Put here by rally-vmperf while it installs packages: start no service.
exit 101
"""


def listed(path: pathlib.Path) -> list[str]:
    """Return the entries of a list with comments and empty lines."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def missing(names: collections.abc.Sequence[str]) -> list[str]:
    """Return those of the packages that are not installed."""
    known = commands.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names],
        accept=(0, 1),
    )
    installed = {
        line.split()[0]
        for line in known.splitlines()
        if line.endswith(" installed")
    }
    return [name for name in names if name not in installed]


def install(
    names: collections.abc.Sequence[str], log: pathlib.Path
) -> list[str]:
    """Install what is missing and return its names.

    :param names: Debian packages
    :param log: where apt's output goes
    """
    wanted = missing(names)
    if not wanted:
        return []
    command = ["apt-get", "-y", "--no-install-recommends", "install"]
    with nothing_started():
        # what an interrupted run has unpacked already
        commands.run(["dpkg", "--configure", "-a"], log=log)
        if commands.quietly([*command, "--simulate", *wanted]) is False:
            commands.run(["apt-get", "update"], log=log)
        commands.run([*command, *wanted], log=log, timeout=1800)
    return wanted


@contextlib.contextmanager
def nothing_started() -> collections.abc.Iterator[None]:
    """Keep packages from starting their services."""
    restore_policy()
    if POLICY.exists():
        POLICY.rename(SAVED)
    POLICY.write_text(OURS)
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        restore_policy()


def restore_policy() -> None:
    """Put the machine's own policy back, also after an interrupted run."""
    if POLICY.exists() and POLICY.read_text() == OURS:
        POLICY.unlink()
    if SAVED.exists():
        SAVED.rename(POLICY)
