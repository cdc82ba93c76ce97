"""Hold bare metal to the shape of the guests it is compared with.

Each copy of the workload gets CPUs of its own and as much memory as a guest
has, without swap.  In this order: a systemd scope (where systemd owns the
unified hierarchy), files of control groups version 2, of version 1, and
where there are none, ``taskset``, which limits no memory and is a finding.
"""

import collections.abc
import contextlib
import dataclasses
import secrets
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import cpus as choice
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shape_prefix
from rally_vmperf.measurement import finding

Held = t.Literal["systemd", "cgroup2", "cgroup1", "taskset", "whole"]

CGROUPS = "/sys/fs/cgroup"


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
    cpus: tuple[int, ...] | int,
    memory_mib: int,
    copies: int = 1,
    cgroups: str = CGROUPS,
) -> Hold:
    """Hold a machine to a number of CPUs and an amount of memory per copy.

    :param cpus: how many per copy; or which ones, dealt out to all copies
    :param cgroups: where control groups are mounted
    :raises MachineError: when the machine is too small, naming both numbers,
        or when its control groups cannot be used
    """
    seen = await machine.run(scripts.argv("shape.sh", "look", cgroups))
    facts = dict(
        line.split("=", 1) for line in seen.stdout.splitlines() if "=" in line
    )
    available = choice.topology(
        seen.stdout, choice.ranges(facts.get("allowed", ""))
    )
    chosen = _choose(machine, available, cpus, copies)
    _check_memory(machine, facts.get("memory_kib", ""), memory_mib * copies)
    method = facts.get("method", "taskset")
    if method == "taskset":
        return _by_taskset(machine, chosen)
    run_as = await shape_prefix.user(machine)
    name = f"rally-vmperf-{secrets.token_hex(4)}"
    names = [f"{name}-{number}" for number in range(1, copies + 1)]
    if method == "systemd":
        return Hold(
            held="systemd",
            cpus=chosen,
            prefixes=tuple(
                shape_prefix.systemd(run_as, unit, own, memory_mib)
                for unit, own in zip(names, chosen, strict=True)
            ),
        )
    superuser = await root.as_root(machine)

    async def undo() -> None:
        done = await superuser.run(
            scripts.argv("shape.sh", "down", cgroups, *names)
        )
        if done.exit_status:
            raise base.MachineError(
                f"{machine.name}: cannot remove control group {name}: "
                f"{base.last_line(done.stderr)}; end the processes in it"
            )

    nodes = {cpu.number: cpu.node for cpu in available}
    prefixes = []
    try:
        for group, own in zip(names, chosen, strict=True):
            files = await _up(
                superuser,
                cgroups,
                group,
                ",".join(map(str, own)),
                ",".join(sorted({str(nodes[number]) for number in own})),
                str(memory_mib << 20),
            )
            prefixes.append(shape_prefix.enter(run_as, files))
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await undo()
        raise
    return Hold(
        held="cgroup2" if method == "cgroup2" else "cgroup1",
        cpus=chosen,
        prefixes=tuple(prefixes),
        undo=undo,
    )


async def _up(superuser: base.Machine, *arguments: str) -> list[str]:
    done = await superuser.run(scripts.argv("shape.sh", "up", *arguments))
    if done.exit_status:
        raise base.MachineError(
            f"{superuser.name}: cannot make control group {arguments[1]}: "
            f"{base.last_line(done.stderr)}; use a user who may, or "
            "leave the machine whole (--whole)"
        )
    return done.stdout.split()


def _choose(
    machine: base.Machine,
    available: list[choice.Cpu],
    cpus: tuple[int, ...] | int,
    copies: int,
) -> tuple[tuple[int, ...], ...]:
    if isinstance(cpus, tuple):
        available = [cpu for cpu in available if cpu.number in cpus]
        each, rest = divmod(len(cpus), copies)
        if rest or not each or len(available) < len(cpus):
            raise base.MachineError(
                f"{machine.name}: CPUs {','.join(map(str, cpus))} cannot be "
                f"dealt out to {copies} copies; name CPUs that are there, as "
                "many for each"
            )
    else:
        each = cpus
    try:
        return tuple(choice.choose(available, each, copies))
    except ValueError:
        raise base.MachineError(
            f"{machine.name} has {len(available)} CPUs and {copies} copies "
            f"of {each} vCPUs need {copies * each}; use fewer copies, a "
            "smaller flavor or a larger machine"
        ) from None


def _check_memory(
    machine: base.Machine, total_kib: str, needed_mib: int
) -> None:
    total_mib = int(total_kib) >> 10 if total_kib.isdecimal() else 0
    if total_mib and needed_mib > total_mib:
        raise base.MachineError(
            f"{machine.name} has {total_mib} MiB of memory and the copies "
            f"need {needed_mib} MiB; use fewer copies or a smaller flavor"
        )


def _by_taskset(
    machine: base.Machine, chosen: tuple[tuple[int, ...], ...]
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
                seen="CPUs by taskset only; memory is not limited, for there "
                "are no control groups for CPUs and memory",
            ),
        ),
    )
