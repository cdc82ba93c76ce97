"""Which distribution a machine runs, and what installs packages on it."""

import collections.abc
import dataclasses
import mmap
import pathlib
import re
import typing as t
from urllib import parse

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import workfolder
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest

Kind = t.Literal["apt", "dnf", "zypper", ""]

_KINDS: dict[str, Kind] = {
    "apt-get": "apt",
    "dnf": "dnf",
    "microdnf": "dnf",
    "yum": "dnf",
    "zypper": "zypper",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distribution:
    """What a machine says of itself.

    :param manager: program that installs packages; empty if it has none that
        is known
    :param names: what its release may be called, such as ``bookworm`` and
        ``debian-12``
    :param architecture: as its packages name it
    """

    manager: str
    names: frozenset[str]
    architecture: str

    @property
    def kind(self) -> Kind:
        """Return the package manager that the program is a form of."""
        return _KINDS.get(self.manager, "")


async def of(machine: base.Machine) -> Distribution:
    """Ask a machine which distribution it runs.

    :raises MachineError: when it cannot tell
    """
    done = await machine.run(scripts.argv("distribution.sh"))
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name} cannot tell its distribution: "
            f"{base.last_line(done.stderr)}"
        )
    told: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        told[key] = sanitize.line(value, 60)
    manager = told.get("manager", "")
    return Distribution(
        manager=manager if manager in _KINDS else "",
        names=_names(told),
        architecture=told.get("architecture", ""),
    )


def _names(told: dict[str, str]) -> frozenset[str]:
    ident, version = told.get("id", ""), told.get("version_id", "")
    major = version.partition(".")[0]
    names = {told.get("codename", "")}
    names |= {f"{ident}-{one}" for one in (version, major) if ident and one}
    return frozenset(names - {""})


#: Beginnings of error lines of apt, dnf and zypper.
_ERROR_LINES = re.compile(
    r"E: |W: Failed to fetch|Error: \S|- Curl error|- nothing provides|"
    r"Error message: |Problem: |No provider of "
)


def reason(stderr: str) -> str:
    """Return the first and the last error line, else the last line.

    The first is often the cause (no route), the last what came of it.
    """
    lines = [line.strip() for line in stderr.splitlines()]
    errors = [line[:200] for line in lines if _ERROR_LINES.match(line)]
    if not errors:
        return base.last_line(stderr)
    return ", ".join(dict.fromkeys((errors[0], errors[-1])))


#: Seconds; a slow mirror is not an absent one.
_TIMEOUT = 1800


async def from_mirror(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    proxy: str,
    proxy_login: str = "",
) -> str:
    """Install packages from the machine's mirrors.

    :param proxy: URL by which the mirrors are reached, or empty; it is used
        this once and not kept
    :param proxy_login: user and password as a URL has them, or empty; they go
        by standard input, as others see command lines
    :returns: why it did not work, or whatever was said last
    """
    url = proxy.replace("://", f"://{proxy_login}@", 1)
    superuser = await root.as_root(machine)
    try:
        done = await superuser.run(
            scripts.argv(
                "install.sh", manager, "-" if proxy_login else proxy, *packages
            ),
            timeout=_TIMEOUT,
            input_bytes=f"{url}\n".encode() if proxy_login else b"",
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    said = done.stderr
    for secret in {proxy_login, parse.unquote(proxy_login)} - {""}:
        said = said.replace(secret, "(hidden)")
    return reason(said)


#: Where the folder is made that packages are sent to.
_PARENT = "/var/tmp"  # noqa: S108 - nobody can foresee what we make there
#: Package managers read as users of their own.
_READABLE = 0o755
#: Seconds to find out what is needed, and to install it.
_LOOK, _INSTALL = 300, 1800


async def from_toolbox(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    toolbox: folder.Toolbox,
    chosen: manifest.Set,
) -> str:
    """Send the packages that a machine lacks, and install them there.

    The index goes first; the machine's package manager says which files it
    needs, and only these follow. Nothing of it stays on the machine.

    :param chosen: the packages for the machine's release
    :returns: why it did not work, or whatever was said last
    :raises MachineError: when files cannot be written there
    """
    superuser = await root.as_root(machine)
    target = await workfolder.make(superuser, _PARENT, _READABLE)
    try:
        sums = "".join(
            f"{one.sha256}  {one.target}\n"
            for one in (*chosen.index, *chosen.packages)
        )
        await superuser.put(sums.encode(), f"{target}/SHA256SUMS")
        for one in chosen.index:
            await _send(superuser, toolbox.file(one), f"{target}/{one.target}")
        arguments = (target, manager, *packages)
        asked = await _ask(superuser, _LOOK, "wanted", *arguments)
        if asked.exit_status:
            return reason(asked.stderr)
        wanted = set(asked.stdout.split())
        for one in chosen.packages:
            if one.target in wanted:
                path = toolbox.file(one)
                await _send(superuser, path, f"{target}/{one.target}")
        done = await _ask(superuser, _INSTALL, "install", *arguments)
        return reason(done.stderr)
    finally:
        await workfolder.remove(superuser, target)


async def _ask(
    superuser: base.Machine, seconds: float, *arguments: str
) -> base.Completed:
    return await superuser.run(
        scripts.argv("toolbox.sh", *arguments), timeout=seconds
    )


async def _send(
    superuser: base.Machine, path: pathlib.Path, target: str
) -> None:
    """Send a file without reading all of it into memory."""
    with path.open("rb") as stream:
        if not path.stat().st_size:
            await superuser.put(b"", target)
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            await superuser.put(content, target)
