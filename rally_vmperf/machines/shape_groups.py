"""Limits by control groups: made, tried out, and removed."""

import collections.abc
import contextlib
import dataclasses
import secrets
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import cpus as choice
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: Where control groups are mounted.
MOUNTED = "/sys/fs/cgroup"

Method = t.Literal["systemd", "cgroup2", "cgroup1"]
_METHODS: tuple[Method, ...] = t.get_args(Method)

_Undo = collections.abc.Callable[[], collections.abc.Awaitable[None]]


class Unusable(Exception):
    """Control groups are there and cannot be used; says why, no more."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Groups:
    """Groups that were made.

    :param prefixes: per copy, what puts a command into its group
    :param undo: ends what runs in them and removes them
    """

    prefixes: tuple[tuple[str, ...], ...]
    undo: _Undo | None = None


def known(name: str | None) -> Method | None:
    """Return the method of a name that a machine gave, None if it is none."""
    return next((method for method in _METHODS if method == name), None)


async def make(
    machine: base.Machine,
    method: Method,
    copies: collections.abc.Sequence[collections.abc.Sequence[choice.Cpu]],
    memory_mib: int,
) -> Groups:
    """Make one group per copy, and see that it holds.

    :raises Unusable: when the machine does not let us; nothing is left
    """
    run_as = await user(machine)
    name = f"rally-vmperf-{secrets.token_hex(4)}"
    names = [f"{name}-{number}" for number in range(1, len(copies) + 1)]
    if method == "systemd":
        groups = Groups(
            prefixes=tuple(
                systemd(run_as, unit, _numbers(own), memory_mib)
                for unit, own in zip(names, copies, strict=True)
            )
        )
        await _try_out(machine, groups, copies)
        return groups
    try:
        superuser = await root.as_root(machine)
    except root.NotRoot as error:
        raise Unusable(str(error)) from None

    async def undo() -> None:
        done = await superuser.run(
            scripts.argv("shape.sh", "down", MOUNTED, *names)
        )
        if done.exit_status:
            raise base.MachineError(
                f"{machine.name}: cannot remove control group {name}: "
                f"{base.last_line(done.stderr)}; end the processes in it"
            )

    try:
        files = [
            await _up(superuser, group, own, memory_mib)
            for group, own in zip(names, copies, strict=True)
        ]
        prefixes = (enter(run_as, each) for each in files)
        groups = Groups(prefixes=tuple(prefixes), undo=undo)
        await _try_out(machine, groups, copies)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await undo()
        raise
    return groups


async def _up(
    superuser: base.Machine,
    group: str,
    own: collections.abc.Sequence[choice.Cpu],
    memory_mib: int,
) -> list[str]:
    """Make a group and return the files that are its entrances."""
    numbers = ",".join(map(str, _numbers(own)))
    nodes = ",".join(map(str, sorted({cpu.node for cpu in own})))
    limit = str(memory_mib << 20)
    done = await superuser.run(
        scripts.argv("shape.sh", "up", MOUNTED, group, numbers, nodes, limit)
    )
    if done.exit_status:
        raise Unusable(
            f"making control group {group} failed: "
            f"{base.last_line(done.stderr)}"
        )
    return done.stdout.split()


async def _try_out(
    machine: base.Machine,
    groups: Groups,
    copies: collections.abc.Sequence[collections.abc.Sequence[choice.Cpu]],
) -> None:
    """See that a command gets in, and onto its own CPUs only."""
    for prefix, own in zip(groups.prefixes, copies, strict=True):
        done = await machine.run([*prefix, "cat", "/proc/self/status"])
        if done.exit_status:
            raise Unusable(
                "entering a control group failed: "
                f"{base.last_line(done.stderr)}"
            )
        _, _, rest = done.stdout.partition("\nCpus_allowed_list:")
        listed = rest.partition("\n")[0].strip()
        if choice.ranges(listed) != set(_numbers(own)):
            raise Unusable(
                f"a control group for CPUs {_numbers(own)} gives "
                f"{listed[:100]!r}"
            )


def _numbers(
    own: collections.abc.Iterable[choice.Cpu],
) -> tuple[int, ...]:
    return tuple(cpu.number for cpu in own)


@dataclasses.dataclass(frozen=True, kw_only=True)
class User:
    """Who runs the workload: entering a group needs root, working doesn't."""

    uid: str
    gid: str

    @property
    def sudo(self) -> tuple[str, ...]:
        """Return how to become root, which root needs not."""
        return () if self.uid == "0" else ("sudo", "-n", "--")


async def user(machine: base.Machine) -> User:
    """Ask the machine as whom it runs our commands."""
    uid = await machine.run(["id", "-u"])
    gid = await machine.run(["id", "-g"])
    return User(uid=uid.stdout.strip(), gid=gid.stdout.strip())


def systemd(
    run_as: User, unit: str, cpus: tuple[int, ...], memory_mib: int
) -> tuple[str, ...]:
    """Return a scope's command line; systemd removes the scope at its end."""
    identity = (
        ()
        if run_as.uid == "0"
        else (f"--uid={run_as.uid}", f"--gid={run_as.gid}")
    )
    return (
        *run_as.sudo,
        "systemd-run",
        "--scope",
        "--quiet",
        "--collect",
        f"--description={unit}",
        f"--property=AllowedCPUs={','.join(map(str, cpus))}",
        f"--property=MemoryMax={memory_mib}M",
        "--property=MemorySwapMax=0",
        *identity,
        "--",
    )


def enter(
    run_as: User, files: collections.abc.Iterable[str]
) -> tuple[str, ...]:
    """Return what enters control groups and gives up root again."""
    drop: tuple[str, ...] = ()
    if run_as.uid != "0":
        drop = (
            "setpriv",
            f"--reuid={run_as.uid}",
            f"--regid={run_as.gid}",
            "--init-groups",
            "--",
        )
    return (*run_as.sudo, *scripts.argv("enter.sh", *files, "--"), *drop)
