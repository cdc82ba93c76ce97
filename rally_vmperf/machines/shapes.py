# SPDX-License-Identifier: Apache-2.0
"""Limit bare metal to the shape of the guests that it is compared with.

Each copy of the workload has its own CPUs and the memory of a guest, without
swap.  The methods in order of preference: a systemd scope (if systemd owns the
unified hierarchy), control groups version 2, control groups version 1, and
``taskset``, which does not limit memory and causes a finding.
"""

import collections.abc
import contextlib
import dataclasses
import re
import secrets
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.machines import base
from rally_vmperf.machines import cpus as choice
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import units

#: The mount point of control groups.
MOUNTED = "/sys/fs/cgroup"

Method = t.Literal["systemd", "cgroup2", "cgroup1", "taskset", "none"]
#: The methods that also limit memory.
_METHODS: tuple[Method, ...] = ("systemd", "cgroup2", "cgroup1")
#: CPUs of each copy.
_Copies = tuple[tuple[int, ...], ...]
_Prefixes = tuple[tuple[str, ...], ...]


class TooSmall(base.MachineError):
    """A machine with fewer CPUs or less memory than the copies require."""


class _UnusableError(errors.VMPerfError):
    """The reason why existing control groups cannot be used."""


@dataclasses.dataclass(kw_only=True)
class ResourceLimits:
    """Resource limits of copies until they are released.

    :param limited_by: The method.
    :param prefixes: The prefixes of the command lines, by copy.
    :param cpus: The permitted CPUs, by copy; empty without limits.
    :param nodes: The NUMA nodes of these CPUs.
    :param findings: The finding ``shape_not_enforced`` if limits are missing.
    :param undo: The function that ends all processes within the limits and
        removes the limits.
    """

    limited_by: Method
    prefixes: _Prefixes
    cpus: _Copies = ()
    nodes: frozenset[int] = frozenset()
    findings: tuple[finding.Finding, ...] = ()
    undo: (
        collections.abc.Callable[[], collections.abc.Awaitable[None]] | None
    ) = None

    def describe(self) -> str:
        """Return the method and the CPUs as text."""
        if not self.cpus:
            return "bare metal is not restricted"
        listed = "; ".join(map(_format_list, self.cpus))
        near = ", ".join(map(str, sorted(self.nodes)))
        return (
            f"limited by {self.limited_by} to CPUs {listed}, NUMA node {near}"
        )

    def document(self) -> documents.Facts:
        """Return the limits as a dict for records and baselines."""
        return {
            "limited_by": self.limited_by,
            "cpus": [_format_list(copy_cpus) for copy_cpus in self.cpus],
            "numa_nodes": sorted(self.nodes),
        }

    async def release(self) -> None:
        """End all processes within the limits and remove the limits, once."""
        undo, self.undo = self.undo, None
        if undo is not None:
            await undo()


def unlimited(copies: int = 1) -> ResourceLimits:
    """Return ResourceLimits that restrict nothing, for some copies."""
    return ResourceLimits(limited_by="none", prefixes=((),) * copies)


async def apply_limits(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
    allowed: str = "",
) -> ResourceLimits:
    """Limit the CPUs and the memory per copy; return the ResourceLimits.

    :param allowed: The list of the CPUs to choose from, such as ``8-15``, also
        isolated ones; empty for all CPUs that the kernel schedules.
    :raises TooSmall: If the machine has too few CPUs or too little memory.
    :raises MachineError: If the machine does not answer.
    """
    method, chosen, nodes = await _choose_resources(
        machine, cpus, memory_mib, copies, allowed
    )
    try:
        limits = await _limit_by_groups(
            machine, method, chosen, nodes, memory_mib
        )
    except (_UnusableError, root.NotRoot) as error:
        limits = _limit_by_taskset(machine, chosen, str(error))
    used = frozenset(nodes[cpu] for copy_cpus in chosen for cpu in copy_cpus)
    return dataclasses.replace(limits, nodes=used)


async def check(
    machine: base.Machine,
    *,
    cpus: int,
    memory_mib: int,
    copies: int = 1,
    allowed: str = "",
) -> None:
    """Raise TooSmall if a machine is too small for the copies.

    :param allowed: The list of the CPUs, as for ``apply_limits``.
    :raises TooSmall: If the machine has too few CPUs or too little memory.
    """
    await _choose_resources(machine, cpus, memory_mib, copies, allowed)


async def _choose_resources(
    machine: base.Machine,
    vcpus: int,
    memory_mib: int,
    copies: int,
    allowed: str,
) -> tuple[str | None, _Copies, dict[int, int]]:
    """Return the limit method, the CPUs per copy, and the node by CPU.

    :returns: The available method, the CPUs of each copy, and the node of each
        CPU.
    """
    done = await machine.run(scripts.argv("shape.sh", "look", MOUNTED))
    lines = done.stdout.splitlines()
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    usable = choice.parse_ranges(allowed or facts.get("allowed", ""))
    available = choice.parse_topology(done.stdout, usable)
    try:
        chosen = tuple(choice.choose_cpus(available, vcpus, copies))
    except ValueError:
        raise TooSmall(
            f"{machine.name} has {len(available)} CPUs"
            f"{f' of {allowed}' if allowed else ''} and "
            f"{units.number_of('copy', copies)} of {vcpus} vCPUs need "
            f"{copies * vcpus}; use fewer copies, a smaller flavor or a "
            "larger machine"
        ) from None
    memory_match = re.fullmatch("[0-9]{1,15}", facts.get("memory_kib", ""))
    total_mib = int(memory_match[0]) >> 10 if memory_match else 0
    if total_mib and memory_mib * copies > total_mib:
        raise TooSmall(
            f"{machine.name} has {total_mib} MiB of memory and the copies "
            f"need {memory_mib * copies} MiB; use fewer copies or a smaller "
            "flavor"
        )
    nodes = {cpu.number: cpu.node for cpu in available}
    return facts.get("method"), chosen, nodes


def _limit_by_taskset(
    machine: base.Machine, chosen: _Copies, reason: str
) -> ResourceLimits:
    """Return ResourceLimits by taskset, with a finding on memory."""
    detail = f"CPUs by taskset only; memory is not limited: {reason}"
    return ResourceLimits(
        limited_by="taskset",
        cpus=chosen,
        prefixes=tuple(
            ("taskset", "-c", _format_list(copy_cpus)) for copy_cpus in chosen
        ),
        findings=(
            finding.Finding("shape_not_enforced", machine.name, detail),
        ),
    )


async def _limit_by_groups(
    machine: base.Machine,
    method: str | None,
    chosen: _Copies,
    nodes: collections.abc.Mapping[int, int],
    memory_mib: int,
) -> ResourceLimits:
    """Create a control group per copy; return the ResourceLimits.

    :param method: The method that the machine reports; None without any.
    :raises _UnusableError: If a group cannot be used; all groups are removed.
    :raises NotRoot: If the user cannot create groups.
    """
    if method not in _METHODS:
        raise _UnusableError("there are no control groups for CPUs and memory")
    uid, gid = [await machine.run(["id", option]) for option in ("-u", "-g")]
    run_as = User(uid=uid.stdout.strip(), gid=gid.stdout.strip())
    name = f"rally-vmperf-{secrets.token_hex(4)}"
    groups = {
        f"{name}-{n}": copy_cpus for n, copy_cpus in enumerate(chosen, 1)
    }
    if method == "systemd":
        prefixes = tuple(
            _scope_command(run_as, unit, copy_cpus, nodes, memory_mib)
            for unit, copy_cpus in groups.items()
        )
        await _verify_limits(machine, prefixes, chosen)
        return ResourceLimits(
            limited_by=method, cpus=chosen, prefixes=prefixes
        )
    superuser = await root.as_root(machine)

    async def undo() -> None:
        """Remove the control groups, with the processes in them."""
        done = await superuser.run(
            scripts.argv("shape.sh", "down", MOUNTED, *groups)
        )
        done.check(
            f"{machine.name}: cannot remove control group {name}",
            "end the processes in it",
        )

    try:
        files = [
            await _create_group(superuser, group, copy_cpus, nodes, memory_mib)
            for group, copy_cpus in groups.items()
        ]
        prefixes = tuple(enter(run_as, group_files) for group_files in files)
        await _verify_limits(machine, prefixes, chosen)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await undo()
        raise
    return ResourceLimits(
        limited_by=method, cpus=chosen, prefixes=prefixes, undo=undo
    )


async def _create_group(
    superuser: base.Machine,
    group: str,
    copy_cpus: tuple[int, ...],
    nodes: collections.abc.Mapping[int, int],
    memory_mib: int,
) -> list[str]:
    """Create a control group; return the paths of its entry files."""
    listed = (_format_list(copy_cpus), _format_nodes(copy_cpus, nodes))
    memory = str(memory_mib << 20)
    done = await superuser.run(
        scripts.argv("shape.sh", "up", MOUNTED, group, *listed, memory)
    )
    if done.exit_status:
        raise _UnusableError(
            f"making control group {group} failed: "
            f"{base.last_line(done.stderr)}"
        )
    return done.stdout.split()


async def _verify_limits(
    machine: base.Machine, prefixes: _Prefixes, chosen: _Copies
) -> None:
    """Raise an error if a prefix does not limit to the chosen CPUs."""
    for prefix, copy_cpus in zip(prefixes, chosen, strict=True):
        done = await machine.run([*prefix, "cat", "/proc/self/status"])
        if done.exit_status:
            raise _UnusableError(
                "entering a control group failed: "
                f"{base.last_line(done.stderr)}"
            )
        _, _, remainder = done.stdout.partition("\nCpus_allowed_list:")
        listed = remainder.partition("\n")[0].strip()
        if choice.parse_ranges(listed) != set(copy_cpus):
            raise _UnusableError(
                f"a control group for CPUs {copy_cpus} gives {listed[:100]!r}"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class User:
    """The user of the workload; only entering a group requires root."""

    uid: str
    gid: str

    @property
    def sudo(self) -> tuple[str, ...]:
        """The sudo words before a command of root; empty for root."""
        return () if self.uid == "0" else root.SUDO


def _scope_command(
    run_as: User,
    unit: str,
    copy_cpus: tuple[int, ...],
    nodes: collections.abc.Mapping[int, int],
    memory_mib: int,
) -> tuple[str, ...]:
    """Return the command prefix of a systemd scope with the limits."""
    identity = (f"--uid={run_as.uid}", f"--gid={run_as.gid}")
    return (
        *run_as.sudo,
        *("systemd-run", "--scope", "--quiet", "--collect"),
        f"--description={unit}",
        f"--property=AllowedCPUs={_format_list(copy_cpus)}",
        f"--property=AllowedMemoryNodes={_format_nodes(copy_cpus, nodes)}",
        f"--property=MemoryMax={memory_mib}M",
        "--property=MemorySwapMax=0",
        *(identity if run_as.sudo else ()),
        "--",
    )


def enter(
    run_as: User, files: collections.abc.Iterable[str]
) -> tuple[str, ...]:
    """Return the command prefix that enters control groups as a user."""
    identity = (f"--reuid={run_as.uid}", f"--regid={run_as.gid}")
    drop = ("setpriv", *identity, "--init-groups", "--")
    command = scripts.argv("enter.sh", *files, "--")
    return (*run_as.sudo, *command, *(drop if run_as.sudo else ()))


def _format_nodes(
    copy_cpus: tuple[int, ...], nodes: collections.abc.Mapping[int, int]
) -> str:
    """Return the NUMA nodes of CPUs as a text such as ``0,1``."""
    return _format_list(sorted({nodes[number] for number in copy_cpus}))


def _format_list(numbers: collections.abc.Iterable[int]) -> str:
    """Return numbers as a text with commas."""
    return ",".join(map(str, numbers))
