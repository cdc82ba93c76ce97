"""Hold bare metal to the shape of the guests it is compared with.

Each copy of the workload gets CPUs of its own and as much memory as a guest
has, without swap.  In this order: a systemd scope (where systemd owns the
unified hierarchy), files of control groups version 2, of version 1, and
where there are none or they cannot be used, ``taskset``, which limits no
memory and is a finding.
"""

import collections.abc
import contextlib
import dataclasses
import re
import secrets
import typing as t

from rally_vmperf import errors
from rally_vmperf.machines import base
from rally_vmperf.machines import cpus as choice
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import units

#: Where control groups are mounted.
MOUNTED = "/sys/fs/cgroup"

Held = t.Literal["systemd", "cgroup2", "cgroup1", "taskset", "none"]
#: The means that limit memory too, which a machine may say that it has.
_METHODS: tuple[Held, ...] = ("systemd", "cgroup2", "cgroup1")
#: CPUs of each copy.
_Copies = tuple[tuple[int, ...], ...]
_Prefixes = tuple[tuple[str, ...], ...]


class TooSmall(base.MachineError):
    """The machine has fewer CPUs or less memory than the copies need."""


class _UnusableError(errors.VMPerfError):
    """Control groups exist and cannot be used; says why."""


@dataclasses.dataclass(kw_only=True)
class Hold:
    """A shape that is held until it is released.

    :param limited_by: by which means
    :param prefixes: per copy, what to put before a command line
    :param cpus: per copy, the CPUs it may use; empty when left whole
    :param nodes: NUMA nodes that these are of
    :param findings: ``shape_not_enforced`` where something is not limited
    :param undo: ends what runs in the shape and removes it
    """

    limited_by: Held
    prefixes: _Prefixes
    cpus: _Copies = ()
    nodes: frozenset[int] = frozenset()
    findings: tuple[finding.Finding, ...] = ()
    undo: (
        collections.abc.Callable[[], collections.abc.Awaitable[None]] | None
    ) = None

    def said(self) -> str:
        """Return the means and the CPUs of the hold, in words."""
        if not self.cpus:
            return "bare metal is left whole"
        listed = "; ".join(map(_listed, self.cpus))
        near = ", ".join(map(str, sorted(self.nodes)))
        return f"held by {self.limited_by} to CPUs {listed}, NUMA node {near}"

    def document(self) -> dict[str, t.Any]:
        """Return the hold as a record and a baseline have it."""
        return {
            "limited_by": self.limited_by,
            "cpus": [_listed(own) for own in self.cpus],
            "numa_nodes": sorted(self.nodes),
        }

    async def release(self) -> None:
        """End all processes in the shape and remove it, once."""
        undo, self.undo = self.undo, None
        if undo is not None:
            await undo()


def whole(copies: int = 1) -> Hold:
    """Return a hold that limits nothing."""
    return Hold(limited_by="none", prefixes=((),) * copies)


async def hold(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
    allowed: str = "",
) -> Hold:
    """Hold a machine to a number of CPUs and an amount of memory per copy.

    :param allowed: list of the CPUs to choose from, such as ``8-15``, isolated
        ones among them; empty for all that the kernel gives to anybody
    :raises TooSmall: naming both numbers
    :raises MachineError: when the machine does not answer
    """
    told, chosen, nodes = await _choose(
        machine, cpus, memory_mib, copies, allowed
    )
    method = next((one for one in _METHODS if one == told), None)
    why = "there are no control groups for CPUs and memory"
    found = None
    if method is not None:
        try:
            found = await _by_groups(
                machine, method, chosen, nodes, memory_mib
            )
        except _UnusableError as error:
            why = str(error)
    found = found or _by_taskset(machine, chosen, why)
    used = frozenset(nodes[cpu] for own in chosen for cpu in own)
    return dataclasses.replace(found, nodes=used)


async def check(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
    allowed: str = "",
) -> None:
    """Refuse a shape that the machine is too small for; hold nothing.

    :param allowed: as for ``hold``
    :raises TooSmall: naming both numbers
    """
    await _choose(machine, cpus, memory_mib, copies, allowed)


async def _choose(
    machine: base.Machine,
    each: int,
    memory_mib: int,
    copies: int,
    allowed: str,
) -> tuple[str | None, _Copies, dict[int, int]]:
    """Ask the machine what it has, and choose CPUs for every copy.

    :return: the means that it offers, the CPUs of each copy, and the node of
        each CPU
    """
    seen = await machine.run(scripts.argv("shape.sh", "look", MOUNTED))
    facts = dict(
        line.split("=", 1) for line in seen.stdout.splitlines() if "=" in line
    )
    usable = choice.ranges(allowed or facts.get("allowed", ""))
    available = choice.topology(seen.stdout, usable)
    try:
        chosen = tuple(choice.choose(available, each, copies))
    except ValueError:
        raise TooSmall(
            f"{machine.name} has {len(available)} CPUs"
            f"{f' of {allowed}' if allowed else ''} and "
            f"{units.number_of('copy', copies)} of {each} vCPUs need "
            f"{copies * each}; use fewer copies, a smaller flavor or a larger "
            "machine"
        ) from None
    known = re.fullmatch("[0-9]{1,15}", facts.get("memory_kib", ""))
    total_mib = int(known[0]) >> 10 if known else 0
    if total_mib and memory_mib * copies > total_mib:
        raise TooSmall(
            f"{machine.name} has {total_mib} MiB of memory and the copies "
            f"need {memory_mib * copies} MiB; use fewer copies or a smaller "
            "flavor"
        )
    nodes = {cpu.number: cpu.node for cpu in available}
    return facts.get("method"), chosen, nodes


def _by_taskset(machine: base.Machine, chosen: _Copies, why: str) -> Hold:
    return Hold(
        limited_by="taskset",
        cpus=chosen,
        prefixes=tuple(("taskset", "-c", _listed(own)) for own in chosen),
        findings=(
            finding.Finding(
                kind="shape_not_enforced",
                subject=machine.name,
                detail=f"CPUs by taskset only; memory is not limited: {why}",
            ),
        ),
    )


async def _by_groups(
    machine: base.Machine,
    method: Held,
    chosen: _Copies,
    nodes: collections.abc.Mapping[int, int],
    memory_mib: int,
) -> Hold:
    """Make one control group per copy, and see that it holds.

    :raises _UnusableError: when the machine does not let us; nothing is left
    """
    uid, gid = [await machine.run(["id", one]) for one in ("-u", "-g")]
    run_as = User(uid=uid.stdout.strip(), gid=gid.stdout.strip())
    name = f"rally-vmperf-{secrets.token_hex(4)}"
    groups = {f"{name}-{n}": own for n, own in enumerate(chosen, 1)}
    if method == "systemd":
        prefixes = tuple(
            _scope(run_as, unit, own, _nodes_of(own, nodes), memory_mib)
            for unit, own in groups.items()
        )
        await _try_out(machine, prefixes, chosen)
        return Hold(limited_by=method, cpus=chosen, prefixes=prefixes)
    try:
        superuser = await root.as_root(machine)
    except root.NotRoot as error:
        raise _UnusableError(str(error)) from None

    async def undo() -> None:
        done = await superuser.run(
            scripts.argv("shape.sh", "down", MOUNTED, *groups)
        )
        if done.exit_status:
            raise base.MachineError(
                f"{machine.name}: cannot remove control group {name}: "
                f"{base.last_line(done.stderr)}; end the processes in it"
            )

    try:
        files = [
            await _up(superuser, group, own, nodes, memory_mib)
            for group, own in groups.items()
        ]
        prefixes = tuple(enter(run_as, each) for each in files)
        await _try_out(machine, prefixes, chosen)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await undo()
        raise
    return Hold(limited_by=method, cpus=chosen, prefixes=prefixes, undo=undo)


async def _up(
    superuser: base.Machine,
    group: str,
    own: tuple[int, ...],
    nodes: collections.abc.Mapping[int, int],
    memory_mib: int,
) -> list[str]:
    """Make a group and return the files that are its entrances."""
    near = _nodes_of(own, nodes)
    words = (MOUNTED, group, _listed(own), near, str(memory_mib << 20))
    done = await superuser.run(scripts.argv("shape.sh", "up", *words))
    if done.exit_status:
        raise _UnusableError(
            f"making control group {group} failed: "
            f"{base.last_line(done.stderr)}"
        )
    return done.stdout.split()


async def _try_out(
    machine: base.Machine, prefixes: _Prefixes, chosen: _Copies
) -> None:
    """Check that a command can enter, and gets its own CPUs only."""
    for prefix, own in zip(prefixes, chosen, strict=True):
        done = await machine.run([*prefix, "cat", "/proc/self/status"])
        if done.exit_status:
            raise _UnusableError(
                "entering a control group failed: "
                f"{base.last_line(done.stderr)}"
            )
        _, _, rest = done.stdout.partition("\nCpus_allowed_list:")
        listed = rest.partition("\n")[0].strip()
        if choice.ranges(listed) != set(own):
            raise _UnusableError(
                f"a control group for CPUs {own} gives {listed[:100]!r}"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class User:
    """Who runs the workload: entering a group needs root, working doesn't."""

    uid: str
    gid: str

    @property
    def sudo(self) -> tuple[str, ...]:
        """Return the prefix that makes a command root's; empty for root."""
        return () if self.uid == "0" else ("sudo", "-n", "--")


def _scope(
    run_as: User, unit: str, own: tuple[int, ...], near: str, memory_mib: int
) -> tuple[str, ...]:
    """Return a scope's command line; systemd removes the scope at its end.

    :param near: The list of the NUMA nodes that memory is allocated from.
    """
    identity = (f"--uid={run_as.uid}", f"--gid={run_as.gid}")
    return (
        *run_as.sudo,
        *("systemd-run", "--scope", "--quiet", "--collect"),
        f"--description={unit}",
        f"--property=AllowedCPUs={_listed(own)}",
        f"--property=AllowedMemoryNodes={near}",
        f"--property=MemoryMax={memory_mib}M",
        "--property=MemorySwapMax=0",
        *(identity if run_as.sudo else ()),
        "--",
    )


def enter(
    run_as: User, files: collections.abc.Iterable[str]
) -> tuple[str, ...]:
    """Return what enters control groups and gives up root again."""
    identity = (f"--reuid={run_as.uid}", f"--regid={run_as.gid}")
    drop = ("setpriv", *identity, "--init-groups", "--")
    words = scripts.argv("enter.sh", *files, "--")
    return (*run_as.sudo, *words, *(drop if run_as.sudo else ()))


def _nodes_of(
    own: tuple[int, ...], nodes: collections.abc.Mapping[int, int]
) -> str:
    """Return the list of the NUMA nodes of CPUs."""
    return _listed(sorted({nodes[number] for number in own}))


def _listed(numbers: collections.abc.Iterable[int]) -> str:
    return ",".join(map(str, numbers))
