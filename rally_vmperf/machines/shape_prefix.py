"""Command lines that put a command into a held shape; as its own user."""

import collections.abc
import dataclasses

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts


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
