"""The machines of a run side by side: fingerprints and tools."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.report import run as runs
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machines:
    """What is known of each machine.

    :param names: bare metal, guests and the peer
    :param lines: a fact's name with one text per machine
    """

    names: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]


def side_by_side(run: runs.Run) -> Machines:
    """Return facts that any machine has; a dash where one lacks it.

    Bare metal is first, where there is any.
    """
    machines = [*run.machines]
    reference = run.last.get("reference")
    if reference is not None:
        metal = {"name": reference["machine"], "role": "bare metal"}
        machines.insert(0, {**reference, **metal})
    known = [_facts(machine) for machine in machines]
    names = dict.fromkeys(name for facts in known for name in facts)
    return Machines(
        names=tuple(f"{one['name']} ({one['role']})" for one in machines),
        lines=tuple(
            (name, tuple(facts.get(name, "-") for facts in known))
            for name in names
        ),
    )


def _facts(machine: Json) -> dict[str, str]:
    facts = {
        key.replace("_", " "): text.flat(value)
        for key, value in machine.get("fingerprint", {}).items()
    }
    for command, tool in machine.get("tools", {}).items():
        if isinstance(tool, collections.abc.Mapping):
            version = text.flat(tool.get("version"))
            checksum = text.flat(tool.get("checksum") or "")[:12]
            tool = f"{version} {checksum}".strip()
        facts[f"tool {command}"] = text.flat(tool)
    return facts
