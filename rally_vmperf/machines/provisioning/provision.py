# SPDX-License-Identifier: Apache-2.0
"""Ensure that a machine has the programs that a workload requires."""

import collections.abc
import dataclasses
import mmap
import posixpath
import re
import typing as t
from urllib import parse

from rally_vmperf import sanitize
from rally_vmperf.bundles import bundle
from rally_vmperf.bundles import bundle as bundle_
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: Timeout in seconds to send and unpack a bundle.
_UNPACK_TIMEOUT = 900
#: The directories of programs outside the bundle.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Program -> kind of package manager, in the order of the search: SUSE may
#: also have dnf.
_KINDS = {
    "apt-get": "apt",
    "zypper": "zypper",
    "dnf": "dnf",
    "microdnf": "dnf",
    "yum": "dnf",
}
#: Beginnings of error lines of apt, dnf and zypper.
_ERROR_LINES = re.compile(
    r"E: |W: Failed to fetch|Error: \S|- Curl error|- nothing provides|"
    r"Error message: |Problem: |No provider of "
)
#: Timeout in seconds, sufficient for a slow mirror.
_TIMEOUT = 1800


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unpacked:
    """A bundle on a machine.

    :param folder: The directory of its programs.
    """

    bundle: bundle.Bundle
    folder: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """The ``env`` words before commands that use the bundle."""
        return ("env", f"PATH={self.folder}:{_PATH}")


async def unpack(
    machine: base.Machine, archive: bundle.Bundle, folder: str
) -> Unpacked:
    """Send a bundle to a machine's directory; return it as Unpacked.

    :raises MachineError: If the bundle cannot be unpacked.
    """
    with (
        archive.path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        done = await machine.run(
            scripts.argv("unpack.sh", folder),
            timeout=_UNPACK_TIMEOUT,
            input_bytes=content,
        )
    where = done.stdout.removesuffix("\n")
    if done.exit_status or where != posixpath.join(folder, "bundle/bin"):
        raise base.MachineError(
            f"{machine.name}: cannot unpack the bundle {archive.path.name} in "
            f"{folder}: {base.last_line(done.stderr)}; it needs tar, gzip "
            "and free space"
        )
    return Unpacked(bundle=archive, folder=where)


class ToolMissing(base.MachineError):
    """A missing program on a machine without permission to install it."""

    def __init__(self, machine: str, message: str) -> None:
        super().__init__(message)
        self.machine = machine


class ToolRequirement(t.Protocol):
    """A program, its package, and the command that prints its version."""

    @property
    def command(self) -> str:
        """The name of the program."""

    @property
    def package(self) -> str:
        """The default package of the program; "" if it has none."""

    @property
    def version(self) -> tuple[str, ...]:
        """The command line words that print the program's version."""

    @property
    def packages(self) -> collections.abc.Mapping[str, str]:
        """The package names by kind of package manager."""

    @property
    def advice(self) -> collections.abc.Mapping[str, str]:
        """The advice on package sources by kind of package manager."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Supply:
    """How missing tools may be installed on a machine.

    :param install: A flag that packages may be installed.
    :param proxy: The URL of the proxy of its package manager; empty for none.
    :param proxy_login: The user and password in the form of a URL; empty for
        none.
    :param bundle: The bundle with precedence over installed programs.
    """

    install: bool = True
    proxy: str = ""
    proxy_login: str = dataclasses.field(default="", repr=False)
    bundle: bundle_.Bundle | None = None


#: The supply of machines on which nothing may be installed.
NO_SUPPLY = Supply(install=False)

_Requirements = collections.abc.Collection[ToolRequirement]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """The version of a program, for the comparison of measurements.

    :param version: The first line of its version output.
    :param checksum: The SHA-256 of its file.
    :param path: The path of its file.
    """

    version: str
    checksum: str
    path: str


async def ensure(
    machine: base.Machine,
    requirements: _Requirements,
    *,
    supply: Supply = NO_SUPPLY,
    unpacked: Unpacked | None = None,
) -> dict[str, ToolFacts]:
    """Install missing programs; return a dict of version facts by program.

    :param supply: The permitted ways to install missing programs.
    :param unpacked: The bundle whose programs the machine runs; None for none.
    :raises MachineError: If programs are missing; the line has the machine,
        the programs and the solution.
    """
    facts_by_command = await _read_facts(machine, requirements, unpacked)
    missing = _find_missing(requirements, facts_by_command)
    if not missing:
        return facts_by_command
    manager = await find_manager(machine)
    way_out = await _install(machine, manager, missing, supply)
    if supply.install and manager:
        facts_by_command = await _read_facts(machine, requirements, unpacked)
        missing = _find_missing(requirements, facts_by_command)
    if not missing:
        return facts_by_command
    names = ", ".join(sorted(r.command for r in missing))
    message = f"{machine.name} has no {names}: {way_out}"
    if supply.install:
        raise base.MachineError(message)
    raise ToolMissing(machine.name, message)


def _find_missing(
    requirements: _Requirements,
    facts_by_command: collections.abc.Container[str],
) -> list[ToolRequirement]:
    """Return the list of the requirements whose commands have no facts."""
    return [
        requirement
        for requirement in requirements
        if requirement.command not in facts_by_command
    ]


async def _install(
    machine: base.Machine,
    manager: str,
    missing: list[ToolRequirement],
    supply: Supply,
) -> str:
    """Install missing programs; return advice in case of failure as text."""
    kind = _KINDS.get(manager, "")
    names = package_names(missing, kind)
    image = "use an image made by 'rally-vmperf image build'"
    if not manager:
        return (
            "it has neither apt-get nor dnf nor zypper to install them with; "
            f"install them there, or {image}"
        )
    advice = _advice(missing, kind)
    if not names:
        return advice
    advice = f"; {advice}" if advice else ""
    if not supply.install:
        command = f"{manager} install {' '.join(names)}"
        return f"install it there: {command}{advice}"
    reason = await install_from_mirror(
        machine, manager, names, supply.proxy, supply.proxy_login
    )
    return (
        f"{manager} cannot install {', '.join(names)} ({reason}){advice}; "
        "provide access to a package mirror (option proxy of vmperf_guests), "
        f"use a bundle of programs (option bundle), or {image}"
    )


async def _read_facts(
    machine: base.Machine,
    requirements: _Requirements,
    unpacked: Unpacked | None,
) -> dict[str, ToolFacts]:
    """Return a dict of the version facts by program on the machine."""
    arguments: list[str] = []
    for requirement in requirements:
        options = requirement.version
        arguments += [requirement.command, str(len(options)), *options]
    prefix = unpacked.prefix if unpacked else ()
    done = await machine.run(
        [*prefix, *scripts.argv("tools.bash", *arguments)],
        timeout=30 + 30 * len(requirements),
    )
    done.check(
        f"{machine.name} cannot report its tools",
        "it needs bash and coreutils",
    )
    commands = {requirement.command for requirement in requirements}
    texts_by_command: dict[str, dict[str, str]] = {}
    facts: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, text = line.partition(" ")
        if key == "tool":
            facts = {}
            if text in commands:  # other names are ignored
                facts = texts_by_command.setdefault(text, facts)
        else:
            facts[key] = sanitize.line(text)
    facts_by_command = {
        name: ToolFacts(
            version=facts.get("version", ""),
            checksum=facts.get("sha256", ""),
            path=facts["path"],
        )
        for name, facts in texts_by_command.items()
        if "path" in facts
    }
    if unpacked is None:
        return facts_by_command
    return _add_bundle_facts(machine, unpacked, facts_by_command)


def _add_bundle_facts(
    machine: base.Machine,
    unpacked: Unpacked,
    facts_by_command: collections.abc.Mapping[str, ToolFacts],
) -> dict[str, ToolFacts]:
    """Return the facts by program, completed with those of the bundle.

    :raises MachineError: If the machine runs another program instead, or if a
        program has another checksum than in the description.
    """
    bundle_facts = dict(facts_by_command)
    for name in facts_by_command.keys() & unpacked.bundle.programs.keys():
        facts, program = bundle_facts[name], unpacked.bundle.programs[name]
        if facts.path != f"{unpacked.folder}/{name}":
            raise base.MachineError(
                f"{machine.name} runs {sanitize.line(facts.path)} and not the "
                f"{name} of the bundle; check that {unpacked.folder} is not "
                "on a filesystem mounted with noexec"
            )
        if facts.checksum != program.sha256:
            raise base.MachineError(
                f"{machine.name}: {name} of the bundle has the SHA-256 "
                f"{facts.checksum or '(unknown)'} instead of "
                f"{program.sha256}; create the bundle again with "
                "'rally-vmperf tools bundle'"
            )
        version = facts.version or f"{program.package} {program.version}"
        bundle_facts[name] = dataclasses.replace(facts, version=version)
    return bundle_facts


def package_names(
    requirements: collections.abc.Iterable[ToolRequirement], kind: str
) -> list[str]:
    """Return the sorted package names for a kind of package manager.

    Programs without a package are omitted.
    """
    names = {
        requirement.packages.get(kind, requirement.package)
        for requirement in requirements
    }
    return sorted(names - {""})


def _advice(
    requirements: collections.abc.Iterable[ToolRequirement], kind: str
) -> str:
    """Return advice on package sources as one text, or ""."""
    advice = [
        requirement.advice[kind]
        for requirement in requirements
        if kind in requirement.advice
    ]
    return "; ".join(dict.fromkeys(advice))


async def find_manager(machine: base.Machine) -> str:
    """Return the name of a machine's package manager, or "".

    :raises MachineError: If the machine cannot run the search.
    """
    done = await machine.run(scripts.argv("manager.sh", *_KINDS))
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name} cannot determine its package manager: "
            f"{base.last_line(done.stderr)}"
        )
    manager = done.stdout.strip()
    return manager if manager in _KINDS else ""


def error_reason(stderr: str) -> str:
    """Return the first and the last error line as text, else the last line.

    The first is often the cause (no route), the last is its consequence.
    """
    lines = [line.strip() for line in stderr.splitlines()]
    errors = [line[:200] for line in lines if _ERROR_LINES.match(line)]
    if not errors:
        return base.last_line(stderr)
    return ", ".join(dict.fromkeys((errors[0], errors[-1])))


async def install_from_mirror(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    proxy: str,
    proxy_login: str = "",
) -> str:
    """Install packages; return the last output or error line as text.

    :param proxy: The URL of the proxy, which is not stored; empty for none.
    :param proxy_login: The user and password in the form of a URL, passed by
        standard input, because command lines are visible; empty for none.
    :returns: The reason of a failure, or the last line of the output.
    """
    input_bytes = b""
    if proxy_login:
        url = proxy.replace("://", f"://{proxy_login}@", 1)
        proxy, input_bytes = "-", f"{url}\n".encode()
    superuser = await root.as_root(machine)
    try:
        done = await superuser.run(
            scripts.argv("install.sh", manager, proxy, *packages),
            timeout=_TIMEOUT,
            input_bytes=input_bytes,
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    stderr = done.stderr
    for secret in {proxy_login, parse.unquote(proxy_login)} - {""}:
        stderr = stderr.replace(secret, "(hidden)")
    return error_reason(stderr)
