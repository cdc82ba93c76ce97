"""Ensure that a machine has the programs that a workload needs."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.machines.provisioning import bundles
from rally_vmperf.machines.provisioning import packages
from rally_vmperf.toolbox import bundle as bundle_


class ToolMissing(base.MachineError):
    """A machine lacks a program, and nothing is to be installed there."""

    def __init__(self, machine: str, message: str) -> None:
        super().__init__(message)
        self.machine = machine


class Requirement(t.Protocol):
    """A program, its package, and the command that tells its version."""

    @property
    def command(self) -> str: ...

    @property
    def package(self) -> str: ...

    @property
    def version(self) -> tuple[str, ...]: ...

    @property
    def packages(self) -> collections.abc.Mapping[str, str]: ...

    @property
    def advice(self) -> collections.abc.Mapping[str, str]: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Supply:
    """How missing tools may be installed on a machine.

    :param install: whether anything may be
    :param proxy: URL for its package manager, or empty
    :param proxy_login: user and password as a URL has them, or empty
    :param bundle: programs that come first, whatever the machine has
    """

    install: bool = True
    proxy: str = ""
    proxy_login: str = dataclasses.field(default="", repr=False)
    bundle: bundle_.Bundle | None = None


#: For machines on which nothing is to be installed.
NOTHING = Supply(install=False)

_Requirements = collections.abc.Collection[Requirement]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """Which program it is that runs: two versions are two measurements.

    :param version: first line it prints about itself
    :param checksum: SHA-256 of the program's file
    """

    version: str
    checksum: str
    path: str


async def ensure(
    machine: base.Machine,
    requirements: _Requirements,
    *,
    supply: Supply = NOTHING,
    unpacked: bundles.Unpacked | None = None,
) -> dict[str, ToolFacts]:
    """Install missing programs; return version and checksum of each.

    :param supply: how missing ones may come there; by default not at all
    :param unpacked: the bundle whose programs the machine runs, if any
    :raises MachineError: naming the machine, the programs and the way out
    """
    found = await _look(machine, requirements, unpacked)
    missing = _missing(requirements, found)
    if not missing:
        return found
    manager = await packages.find_manager(machine)
    way_out = await _supply(machine, manager, missing, supply)
    if supply.install and manager:
        found = await _look(machine, requirements, unpacked)
        missing = _missing(requirements, found)
    if missing:
        names = ", ".join(sorted(r.command for r in missing))
        message = f"{machine.name} has no {names}: {way_out}"
        if not supply.install:
            raise ToolMissing(machine.name, message)
        raise base.MachineError(message)
    return found


def _missing(
    requirements: _Requirements, found: collections.abc.Container[str]
) -> list[Requirement]:
    return [r for r in requirements if r.command not in found]


async def _supply(
    machine: base.Machine,
    manager: str,
    missing: list[Requirement],
    supply: Supply,
) -> str:
    """Install what is missing; return advice if that did not help."""
    kind = packages.KINDS.get(manager, "")
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
    reason = await packages.from_mirror(
        machine, manager, names, supply.proxy, supply.proxy_login
    )
    return (
        f"{manager} cannot install {', '.join(names)} ({reason}){advice}; "
        "give it a way to its package mirror (option proxy of vmperf_guests), "
        f"bring the programs (option bundle), or {image}"
    )


async def _look(
    machine: base.Machine,
    requirements: _Requirements,
    unpacked: bundles.Unpacked | None,
) -> dict[str, ToolFacts]:
    arguments: list[str] = []
    for one in requirements:
        arguments += [one.command, str(len(one.version)), *one.version]
    done = await machine.run(
        [
            *(unpacked.prefix if unpacked else ()),
            *scripts.argv("tools.bash", *arguments),
        ],
        timeout=30 + 30 * len(requirements),
    )
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name} cannot tell its tools: "
            f"{base.last_line(done.stderr)}; it needs bash and coreutils"
        )
    asked = {one.command for one in requirements}
    found: dict[str, dict[str, str]] = {}
    facts: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        if key == "tool":
            facts = {}
            if value in asked:  # nobody else's name is listened to
                facts = found.setdefault(value, facts)
        else:
            facts[key] = sanitize.line(value)
    there = {
        name: ToolFacts(
            version=facts.get("version", ""),
            checksum=facts.get("sha256", ""),
            path=facts["path"],
        )
        for name, facts in found.items()
        if "path" in facts
    }
    return there if unpacked is None else _of_bundle(machine, unpacked, there)


def _of_bundle(
    machine: base.Machine,
    unpacked: bundles.Unpacked,
    found: collections.abc.Mapping[str, ToolFacts],
) -> dict[str, ToolFacts]:
    """Return the facts, where those of a script are the program's.

    :raises MachineError: when the machine runs another program instead
    """
    told = dict(found)
    for name in found.keys() & unpacked.bundle.programs.keys():
        program = unpacked.bundle.programs[name]
        if found[name].path != f"{unpacked.folder}/{name}":
            raise base.MachineError(
                f"{machine.name} runs {sanitize.line(found[name].path)} and "
                f"not the {name} of the bundle; is {unpacked.folder} on a "
                "filesystem that is mounted noexec?"
            )
        told[name] = dataclasses.replace(
            found[name],
            version=found[name].version
            or f"{program.package} {program.version}",
            checksum=program.sha256,
        )
    return told


def package_names(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> list[str]:
    """Return what the packages are called by a kind of package manager.

    A program that no distribution packages has none.
    """
    names = {r.packages.get(kind, r.package) for r in requirements}
    return sorted(names - {""})


def _advice(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> str:
    """Return advice on where a package manager finds the packages."""
    found = [r.advice[kind] for r in requirements if kind in r.advice]
    return "; ".join(dict.fromkeys(found))
