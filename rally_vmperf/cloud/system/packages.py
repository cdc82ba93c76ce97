"""Install Debian packages without starting their services."""

import collections.abc
import contextlib
import json
import pathlib

from rally_vmperf import atomic
from rally_vmperf import resources
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout

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


def cloud_packages() -> list[str]:
    """Return the packages that the embedded cloud consists of."""
    return listed(resources.path("etc", "embedded-cloud", "packages.txt"))


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


def installed() -> list[str]:
    """Return the names of all packages that are unpacked here."""
    form = "${Package} ${db:Status-Status}\n"
    lines = commands.run(["dpkg-query", "-W", "-f", form]).splitlines()
    pairs = [line.split() for line in lines]
    gone = ("not-installed", "config-files")
    return sorted({name for name, state in pairs if state not in gone})


@contextlib.contextmanager
def recorded(record: pathlib.Path | None) -> collections.abc.Iterator[None]:
    """Record which packages are installed meanwhile, dependencies included.

    :param record: the file of the record; None for no record
    """
    if record is None:
        yield
        return
    known = documents.read(record) or {}
    # Still there if an earlier run was interrupted.
    before = known.setdefault("before", installed())
    atomic.write(record, json.dumps(known) + "\n")
    try:
        yield
    finally:
        new = {*known.get("brought", []), *installed()} - {*before}
        del known["before"]
        known["brought"] = sorted({*known.get("brought", []), *new})
        atomic.write(record, json.dumps(known) + "\n")


def install(
    names: collections.abc.Sequence[str],
    log: pathlib.Path,
    record: pathlib.Path | None = None,
) -> list[str]:
    """Install what is missing and return its names.

    :param names: Debian packages
    :param log: where apt's output goes
    :param record: a file to which the installed packages are added
    """
    wanted = missing(names)
    if not wanted:
        return []
    command = ["apt-get", "-y", "--no-install-recommends", "install"]
    with nothing_started(), recorded(record):
        # what an interrupted run has unpacked already
        commands.run(["dpkg", "--configure", "-a"], log=log)
        if commands.quietly([*command, "--simulate", *wanted]) is False:
            commands.run(["apt-get", "update"], log=log)
        commands.run([*command, *wanted], log=log, timeout=1800)
    return wanted


def provide(
    folders: layout.Layout, names: collections.abc.Sequence[str]
) -> None:
    """Install the packages that a cloud lacks, and record them.

    :param folders: the state root's folders
    :param names: Debian packages
    """
    install(names, folders.log / "apt.log", folders.packages)


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
