"""Hold bare metal to the shape of the guests it is compared with.

Each copy of the workload gets CPUs of its own and as much memory as a guest
has, without swap.  In this order: a systemd scope (where systemd owns the
unified hierarchy), files of control groups version 2, of version 1, and
where there are none or they cannot be used, ``taskset``, which limits no
memory and is a finding.
"""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import cpus as choice
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shape_groups
from rally_vmperf.measurement import finding

Held = t.Literal["systemd", "cgroup2", "cgroup1", "taskset", "whole"]


class TooSmall(base.MachineError):
    """The machine has fewer CPUs or less memory than the copies need."""


@dataclasses.dataclass(kw_only=True)
class Hold:
    """A shape that is held until it is released.

    :param held: by which means
    :param prefixes: per copy, what to put before a command line
    :param cpus: per copy, the CPUs it may use; empty when left whole
    :param findings: ``shape_not_held`` where something is not limited
    """

    held: Held
    prefixes: tuple[tuple[str, ...], ...]
    cpus: tuple[tuple[int, ...], ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    undo: (
        collections.abc.Callable[[], collections.abc.Awaitable[None]] | None
    ) = None

    async def release(self) -> None:
        """End what still runs in the shape and remove it; once is enough."""
        undo, self.undo = self.undo, None
        if undo is not None:
            await undo()


def whole(copies: int = 1) -> Hold:
    """Return the hold that holds nothing."""
    return Hold(held="whole", prefixes=((),) * copies)


async def hold(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
) -> Hold:
    """Hold a machine to a number of CPUs and an amount of memory per copy.

    :raises TooSmall: naming both numbers
    :raises MachineError: when the machine does not answer
    """
    facts, available = await _look(machine)
    chosen = _choose(machine, available, cpus, copies)
    _check_memory(machine, facts.get("memory_kib", ""), memory_mib * copies)
    method = shape_groups.known(facts.get("method"))
    if method is None:
        why = "there are no control groups for CPUs and memory"
        return _by_taskset(machine, chosen, why)
    by_number = {cpu.number: cpu for cpu in available}
    copied = [[by_number[number] for number in own] for own in chosen]
    try:
        groups = await shape_groups.make(machine, method, copied, memory_mib)
    except shape_groups.Unusable as error:
        return _by_taskset(machine, chosen, str(error))
    return Hold(
        held=method,
        cpus=chosen,
        prefixes=groups.prefixes,
        undo=groups.undo,
    )


async def check(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
) -> None:
    """Refuse a shape that the machine is too small for; hold nothing.

    :raises TooSmall: naming both numbers
    """
    facts, available = await _look(machine)
    _choose(machine, available, cpus, copies)
    _check_memory(machine, facts.get("memory_kib", ""), memory_mib * copies)


async def _look(
    machine: base.Machine,
) -> tuple[dict[str, str], list[choice.Cpu]]:
    """Return what the machine says of itself, and its usable CPUs."""
    seen = await machine.run(
        scripts.argv("shape.sh", "look", shape_groups.MOUNTED)
    )
    facts = dict(
        line.split("=", 1) for line in seen.stdout.splitlines() if "=" in line
    )
    allowed = choice.ranges(facts.get("allowed", ""))
    return facts, choice.topology(seen.stdout, allowed)


def _choose(
    machine: base.Machine,
    available: list[choice.Cpu],
    each: int,
    copies: int,
) -> tuple[tuple[int, ...], ...]:
    try:
        return tuple(choice.choose(available, each, copies))
    except ValueError:
        raise TooSmall(
            f"{machine.name} has {len(available)} CPUs and {copies} copies "
            f"of {each} vCPUs need {copies * each}; use fewer copies, a "
            "smaller flavor or a larger machine"
        ) from None


def _check_memory(
    machine: base.Machine, total_kib: str, needed_mib: int
) -> None:
    known = re.fullmatch("[0-9]{1,15}", total_kib)
    total_mib = int(total_kib) >> 10 if known else 0
    if total_mib and needed_mib > total_mib:
        raise TooSmall(
            f"{machine.name} has {total_mib} MiB of memory and the copies "
            f"need {needed_mib} MiB; use fewer copies or a smaller flavor"
        )


def _by_taskset(
    machine: base.Machine, chosen: tuple[tuple[int, ...], ...], why: str
) -> Hold:
    return Hold(
        held="taskset",
        cpus=chosen,
        prefixes=tuple(
            ("taskset", "-c", ",".join(map(str, own))) for own in chosen
        ),
        findings=(
            finding.Finding(
                kind="shape_not_held",
                subject=machine.name,
                seen=f"CPUs by taskset only; memory is not limited, for {why}",
            ),
        ),
    )
