# SPDX-License-Identifier: Apache-2.0
"""Choose the CPUs that correspond to a guest's vCPUs."""

import collections
import collections.abc
import dataclasses
import re

#: Maximum CPUs of a machine; the output of a machine is not trusted.
_MAX_CPUS = 1 << 16
_NUMBER = re.compile("[0-9]{1,20}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cpu:
    """A logical CPU with its core and NUMA node."""

    number: int
    core: int
    node: int


def parse_topology(text: str, allowed: collections.abc.Set[int]) -> list[Cpu]:
    """Parse ``lscpu -p=CPU,CORE,NODE`` into a list of the allowed CPUs.

    Cores are numbered across sockets; a machine without NUMA has node 0.
    """
    cpus = []
    for line in text.splitlines():
        if line.startswith("#") or line.count(",") != 2:
            continue
        number, core, node = (
            int(field) if _NUMBER.fullmatch(field) else 0
            for field in line.split(",")
        )
        if number in allowed:
            cpus.append(Cpu(number=number, core=core, node=node))
    return cpus


def parse_ranges(text: str) -> set[int]:
    """Return the set of the numbers in a text such as ``0-3,8``."""
    numbers: set[int] = set()
    for range_text in text.strip().split(","):
        first, _, last = range_text.partition("-")
        last = last or first
        if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last):
            numbers.update(range(int(first), min(int(last) + 1, _MAX_CPUS)))
    return numbers


def choose_cpus(
    available: collections.abc.Sequence[Cpu], vcpus: int, copies: int
) -> list[tuple[int, ...]]:
    """Return per copy a tuple of ``vcpus`` CPU numbers, without overlap.

    A copy uses one NUMA node if a node has room for it. The first threads of
    all cores are used before their siblings, like a scheduler does with a
    guest on an idle host.

    :raises ValueError: If there are too few CPUs.
    """
    if vcpus * copies > len(available):
        raise ValueError(f"{vcpus * copies} of {len(available)}")
    free = _sort_siblings_last(available)
    chosen = []
    for _ in range(copies):
        room = collections.Counter(cpu.node for cpu in free)
        fitting = [node for node, count in room.items() if count >= vcpus]
        node = max(fitting, key=lambda n: (room[n], -n), default=None)
        copy_cpus = [c for c in free if node is None or c.node == node][:vcpus]
        free = [cpu for cpu in free if cpu not in copy_cpus]
        chosen.append(tuple(sorted(cpu.number for cpu in copy_cpus)))
    return chosen


def _sort_siblings_last(available: collections.abc.Sequence[Cpu]) -> list[Cpu]:
    """Return the CPUs sorted: first threads of all cores, then siblings."""
    threads_by_core: collections.Counter[int] = collections.Counter()
    ranked = []
    for cpu in sorted(available, key=lambda c: c.number):
        ranked.append((threads_by_core[cpu.core], cpu.node, cpu.number, cpu))
        threads_by_core[cpu.core] += 1
    return [cpu for *_, cpu in sorted(ranked, key=lambda r: r[:3])]
