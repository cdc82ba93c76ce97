"""Which distribution a machine runs, and what installs packages on it."""

import dataclasses
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

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
    """Ask a machine.

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
        told[key] = "".join(filter(str.isprintable, value))[:60]
    return Distribution(
        manager=told.get("manager", "")
        if told.get("manager") in _KINDS
        else "",
        names=_names(told),
        architecture=told.get("architecture", ""),
    )


def _names(told: dict[str, str]) -> frozenset[str]:
    ident, version = told.get("id", ""), told.get("version_id", "")
    major = version.partition(".")[0]
    names = {told.get("codename", "")}
    names |= {f"{ident}-{one}" for one in (version, major) if ident and one}
    return frozenset(names - {""})
