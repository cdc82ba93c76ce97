"""See to it that a machine has the programs a workload needs."""

import collections.abc
import dataclasses

from rally_vmperf.machines import base
from rally_vmperf.machines import distribution
from rally_vmperf.machines import installing
from rally_vmperf.machines import scripts
from rally_vmperf.machines import supply as supplies
from rally_vmperf.machines import uploading
from rally_vmperf.toolbox import manifest

_Requirements = collections.abc.Collection[supplies.Requirement]


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
    supply: supplies.Supply = supplies.NOTHING,
) -> dict[str, ToolFacts]:
    """Return what is known of each program, having installed missing ones.

    :param supply: how missing ones may come there; by default not at all
    :raises MachineError: naming the machine, the programs and the way out
    """
    found = await _look(machine, requirements)
    missing = _missing(requirements, found)
    if not missing:
        return found
    here = await distribution.of(machine)
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
) -> list[supplies.Requirement]:
    return [r for r in requirements if r.command not in found]


async def _supply(
    machine: base.Machine,
    here: distribution.Distribution,
    missing: list[supplies.Requirement],
    supply: supplies.Supply,
) -> str:
    """Install what is missing; return the way out if that did not help."""
    packages = supplies.packages(missing, here.kind)
    image = "use an image made by 'rally-vmperf image build'"
    if not here.manager:
        return (
            "it has neither apt-get nor dnf nor zypper to install them with; "
            f"install them there, or {image}"
        )
    advice = supplies.advice(missing, here.kind)
    advice = f"; {advice}" if advice else ""
    if not supply.install:
        command = f"{here.manager} install {' '.join(packages)}"
        return f"install it there: {command}{advice}"
    if supply.tools is None:
        reason = await installing.from_mirror(
            machine, here.manager, packages, supply.proxy
        )
        return (
            f"{here.manager} cannot install {', '.join(packages)} "
            f"({reason}){advice}; give it a way to its package mirror (option "
            f"proxy of vmperf_guests), send it packages (option tools), or "
            f"{image}"
        )
    try:
        chosen = supply.tools.find(here.names, here.architecture, machine.name)
    except manifest.ToolboxError as error:
        return str(error)
    reason = await uploading.from_toolbox(
        machine, here.manager, packages, supply.tools, chosen
    )
    return (
        f"{here.manager} cannot install {', '.join(packages)} from the folder "
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
