"""See to it that a machine has the programs a workload needs."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import packages
from rally_vmperf.machines import scripts
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest


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
    """What may be done for a machine that lacks tools.

    :param install: whether anything may be
    :param proxy: URL for its package manager, or empty
    :param tools: packages to send; else its package manager gets them
    """

    install: bool = True
    proxy: str = ""
    tools: folder.Toolbox | None = None


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
) -> dict[str, ToolFacts]:
    """Return what is known of each program, having installed missing ones.

    :param supply: how missing ones may come there; by default not at all
    :raises MachineError: naming the machine, the programs and the way out
    """
    found = await _look(machine, requirements)
    missing = _missing(requirements, found)
    if not missing:
        return found
    here = await packages.of(machine)
    way_out = await _supply(machine, here, missing, supply)
    if supply.install and here.manager:
        found = await _look(machine, requirements)
        missing = _missing(requirements, found)
    if missing:
        names = ", ".join(sorted(r.command for r in missing))
        raise base.MachineError(f"{machine.name} has no {names}: {way_out}")
    return found


def _missing(
    requirements: _Requirements, found: collections.abc.Container[str]
) -> list[Requirement]:
    return [r for r in requirements if r.command not in found]


async def _supply(
    machine: base.Machine,
    here: packages.Distribution,
    missing: list[Requirement],
    supply: Supply,
) -> str:
    """Install what is missing; return the way out if that did not help."""
    names = package_names(missing, here.kind)
    image = "use an image made by 'rally-vmperf image build'"
    if not here.manager:
        return (
            "it has neither apt-get nor dnf nor zypper to install them with; "
            f"install them there, or {image}"
        )
    advice = _advice(missing, here.kind)
    advice = f"; {advice}" if advice else ""
    if not supply.install:
        command = f"{here.manager} install {' '.join(names)}"
        return f"install it there: {command}{advice}"
    if supply.tools is None:
        reason = await packages.from_mirror(
            machine, here.manager, names, supply.proxy
        )
        return (
            f"{here.manager} cannot install {', '.join(names)} "
            f"({reason}){advice}; give it a way to its package mirror (option "
            f"proxy of vmperf_guests), send it packages (option tools), or "
            f"{image}"
        )
    try:
        chosen = supply.tools.find(here.names, here.architecture, machine.name)
    except manifest.ToolboxError as error:
        return str(error)
    reason = await packages.from_toolbox(
        machine, here.manager, names, supply.tools, chosen
    )
    return (
        f"{here.manager} cannot install {', '.join(names)} from the folder "
        f"{supply.tools.path} ({reason}){advice}; fetch or index it again, or "
        f"{image}"
    )


async def _look(
    machine: base.Machine, requirements: _Requirements
) -> dict[str, ToolFacts]:
    words: list[str] = []
    for one in requirements:
        words += [one.command, str(len(one.version)), *one.version]
    done = await machine.run(
        scripts.argv("tools.bash", *words),
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
            facts[key] = "".join(filter(str.isprintable, value))[:200]
    return {
        name: ToolFacts(
            version=facts.get("version", ""),
            checksum=facts.get("sha256", ""),
            path=facts["path"],
        )
        for name, facts in found.items()
        if "path" in facts
    }


def package_names(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> list[str]:
    """Return what the packages are called by a kind of package manager."""
    return sorted({r.packages.get(kind, r.package) for r in requirements})


def _advice(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> str:
    """Return where such a package manager finds the packages; or nothing."""
    found = [r.advice[kind] for r in requirements if kind in r.advice]
    return "; ".join(dict.fromkeys(found))
