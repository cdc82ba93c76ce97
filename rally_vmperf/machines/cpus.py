"""Choose the CPUs that stand for a guest's vCPUs; pure."""

import collections
import collections.abc
import dataclasses
import re

#: No machine has more; what a machine says is not trusted.
_MAX_CPUS = 1 << 16
_NUMBER = re.compile("[0-9]{1,20}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cpu:
    """A logical CPU and where it sits."""

    number: int
    core: int
    node: int


def topology(text: str, allowed: collections.abc.Set[int]) -> list[Cpu]:
    """Read ``lscpu -p=CPU,CORE,NODE``, keeping the allowed CPUs.

    Cores are numbered across sockets; a machine without NUMA has node 0.
    """
    found = []
    for line in text.splitlines():
        if line.startswith("#") or line.count(",") != 2:
            continue
        number, core, node = (
            int(part) if _NUMBER.fullmatch(part) else 0
            for part in line.split(",")
        )
        if number in allowed:
            found.append(Cpu(number=number, core=core, node=node))
    return found


def ranges(text: str) -> set[int]:
    """Read a list such as ``0-3,8``."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        last = last or first
        if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last):
            found.update(range(int(first), min(int(last) + 1, _MAX_CPUS)))
    return found


def choose(
    available: collections.abc.Sequence[Cpu], each: int, copies: int
) -> list[tuple[int, ...]]:
    """Return ``each`` CPUs for every copy, none of them twice.

    A copy stays in one NUMA node while one has room for it; first every core
    gives one of its threads, and only then their siblings are taken: what a
    scheduler does with a guest on an idle host.

    :raises ValueError: when there are not enough
    """
    if each * copies > len(available):
        raise ValueError(f"{each * copies} of {len(available)}")
    free = _siblings_last(available)
    chosen = []
    for _ in range(copies):
        room = collections.Counter(cpu.node for cpu in free)
        fitting = [node for node, count in room.items() if count >= each]
        node = max(fitting, key=lambda n: (room[n], -n), default=None)
        own = [c for c in free if node is None or c.node == node][:each]
        free = [cpu for cpu in free if cpu not in own]
        chosen.append(tuple(sorted(cpu.number for cpu in own)))
    return chosen


def _siblings_last(available: collections.abc.Sequence[Cpu]) -> list[Cpu]:
    seen: collections.Counter[int] = collections.Counter()
    ranked = []
    for cpu in sorted(available, key=lambda c: c.number):
        ranked.append((seen[cpu.core], cpu.node, cpu.number, cpu))
        seen[cpu.core] += 1
    return [cpu for *_, cpu in sorted(ranked, key=lambda r: r[:3])]
