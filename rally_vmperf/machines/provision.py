"""See to it that a machine has the programs a workload needs."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

_INSTALL_TIMEOUT = 1800


class Requirement(t.Protocol):
    """A program, its package, and the command that tells its version."""

    @property
    def command(self) -> str: ...

    @property
    def package(self) -> str: ...

    @property
    def version(self) -> tuple[str, ...]: ...


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
    requirements: collections.abc.Collection[Requirement],
    *,
    install: bool = True,
) -> dict[str, ToolFacts]:
    """Return what is known of each program, having installed missing ones.

    :param install: else a missing program is an error at once
    :raises MachineError: naming the machine, the programs and the way out
    """
    found = await _look(machine, requirements)
    missing = [r for r in requirements if r.command not in found]
    if not missing:
        return found
    way_out = "install it there: apt-get install " + " ".join(
        sorted(one.package for one in missing)
    )
    if install:
        reason = await _install(machine, [r.package for r in missing])
        found = await _look(machine, requirements)
        missing = [r for r in requirements if r.command not in found]
        way_out = (
            "use an image made by 'rally-vmperf image build', or give it a "
            f"way to its package mirror (apt: {reason})"
        )
    if missing:
        names = ", ".join(sorted(r.command for r in missing))
        raise base.MachineError(f"{machine.name} has no {names}: {way_out}")
    return found


async def _look(
    machine: base.Machine,
    requirements: collections.abc.Collection[Requirement],
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


async def _install(machine: base.Machine, packages: list[str]) -> str:
    """Return why it did not work, or whatever was said last."""
    try:
        superuser = await root.as_root(machine)
        done = await superuser.run(
            scripts.argv("install.sh", *sorted(set(packages))),
            timeout=_INSTALL_TIMEOUT,
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    return base.last_line(done.stderr)
