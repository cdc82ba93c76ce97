# SPDX-License-Identifier: Apache-2.0
"""Background load of a machine: processes, disks, links, pressure.

The process that reports the load and its ancestors belong to the measurement.
The CPU time of a process that ran only between two readings is included in
that of its parent, unless the parent is init.
"""

import collections
import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Seconds for which a machine without measurements is observed.
QUIET = 10
#: The limit of the CPU time of other processes, as a share of all processors.
CPU_LIMIT = 0.02
#: The limit of bytes per second on all disks, and on links of unknown speed.
BYTES_LIMIT = 1 << 20
#: The limit of the rate on all links, as a share of the slowest link.
LINK_LIMIT = 0.01
#: The limit of the share of time with processes that wait for processors,
#: disks or memory.
PRESSURE_LIMIT = 0.05

#: The subject of a load that concerns all workloads.
WHOLE = "baseline"
_PROCESSORS = "processors of bare metal"
_DISKS = "disks of bare metal"
_LINKS = "links of bare metal"
#: The parts of the workloads that a load concerns, by subject.
_PARTS = {
    _PROCESSORS: ("cpu", "memory", "application"),
    _DISKS: ("disk", "application"),
    _LINKS: ("network", "application"),
}

_SECTOR = 512
#: Maximum bytes, for a machine with tens of thousands of processes.
_LARGEST = 8 << 20
_PROCESS = re.compile(
    r"process (?P<pid>\d{1,10}) (?P<parent>\d{1,10}) (?P<started>\d{1,20}) "
    r"(?P<own_ticks>\d{1,20}) (?P<reaped>\d{1,20}) (?P<name>.{0,64})"
)
_PAIR = re.compile(r"(\w{1,20})=(\d{1,20}(?:\.\d{1,6})?)(?!\S)")
_GUEST = re.compile(r"qemu|kvm\b", re.I)
#: The number of processes in a message, the busiest first.
_NAMED = 3


class LoadedPart(t.NamedTuple):
    """A load that other processes cause.

    :param subject: The part of the machine, or ``WHOLE``.
    """

    subject: str
    description: str


def concerns(subject: str, part: str) -> bool:
    """Return whether a load concerns the workloads of a part."""
    return subject not in _PARTS or part in _PARTS[subject]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProcessTime:
    """A process and its CPU time in ticks.

    :param started: The start in ticks after the boot; together with the number
        it identifies the process.
    :param own_ticks: The CPU time of the process in ticks.
    :param reaped: The CPU time of its ended children in ticks.
    """

    pid: int
    parent: int
    started: int
    own_ticks: int
    reaped: int
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadReading:
    """A reading of the load of a machine.

    :param at: The time in seconds since its boot.
    :param hz: The number of ticks per second.
    :param pid: The number of the process that reported the load.
    :param counters: One reading of the counters, or two readings before and
        after a quiet period.
    """

    at: float
    hz: float
    cpus: float
    pid: int
    counters: tuple[collections.abc.Mapping[str, float], ...]
    processes: tuple[ProcessTime, ...]


async def read_load(machine: base.Machine, quiet: int = 0) -> LoadReading:
    """Run a script on a machine; return its load and processes.

    :param quiet: The duration of the quiet period in seconds.
    :raises MachineError: If the machine cannot report its load.
    """
    done = await machine.run(
        scripts.argv("background_load.sh", str(quiet)),
        timeout=120,
        output_limit=_LARGEST,
    )
    try:
        return parse(done.stdout)
    except (KeyError, ValueError, IndexError):
        raise base.MachineError(
            f"{machine.name} cannot report its load: "
            f"{base.last_line(done.stderr)}; it needs awk, getconf and /proc"
        ) from None


def parse(text: str) -> LoadReading:
    """Parse the output of the load script into a LoadReading.

    :raises KeyError, ValueError, IndexError: If the output is not valid.
    """
    facts: dict[str, float] = {}
    counters = []
    processes = []
    for line in text.splitlines():
        kind = line.partition(" ")[0]
        pairs = {key: float(number) for key, number in _PAIR.findall(line)}
        if kind == "machine":
            facts = pairs
        elif kind == "counters":
            counters.append(pairs)
        elif match := _PROCESS.fullmatch(line):
            fields = match.groupdict()
            name = sanitize.line(fields.pop("name")) or "?"
            numbers = {key: int(digits) for key, digits in fields.items()}
            processes.append(ProcessTime(**numbers, name=name))
    reading = LoadReading(
        at=counters[-1]["up"],
        hz=facts["hz"],
        cpus=facts["cpus"],
        pid=int(facts["own"]),
        counters=tuple(counters),
        processes=tuple(processes),
    )
    if not (reading.hz > 0 and reading.cpus > 0):
        raise ValueError(text[:100])
    return reading


def find_cpu_use(before: LoadReading, after: LoadReading) -> list[LoadedPart]:
    """Return excessive CPU use of others between two readings, as a list."""
    lasted = after.at - before.at
    whole = lasted * after.cpus * after.hz
    earlier = {
        (process.pid, process.started): process for process in before.processes
    }
    mine = _own_processes(before) | _own_processes(after)
    # The CPU time of a child that ended is included in that of its parent, and
    # was its own before.
    ended = collections.Counter[int]()
    alive = {(process.pid, process.started) for process in after.processes}
    for process in before.processes:
        if (process.pid, process.started) not in alive:
            ended[process.parent] += process.own_ticks + process.reaped
    ticks = collections.Counter[str]()
    for process in after.processes:
        if process.pid in mine or process.parent == after.pid:
            continue
        old = earlier.get((process.pid, process.started))
        used = process.own_ticks
        reaped = process.reaped - ended[process.pid]
        if old is not None:
            used -= old.own_ticks
            reaped -= old.reaped
        ticks[process.name] += max(0, used) + max(0, reaped)
    total = ticks.total()
    if lasted <= 0 or total / whole <= CPU_LIMIT:
        return []
    named = [
        f"{name} {count / whole:.1%}"
        for name, count in ticks.most_common(_NAMED)
    ]
    return [
        LoadedPart(
            _PROCESSORS,
            f"other processes used {total / whole:.1%} of its "
            f"{after.cpus:.0f} processors ({', '.join(named)})",
        )
    ]


def find_load(observed: LoadReading) -> list[LoadedPart]:
    """Return each disturbance: guests, traffic or waiting processes."""
    loads = []
    guests = sum(
        bool(_GUEST.match(process.name)) for process in observed.processes
    )
    if guests:
        loads.append(LoadedPart(WHOLE, f"{guests} QEMU processes run on it"))
    if len(observed.counters) < 2:
        return loads
    first, last = observed.counters[0], observed.counters[-1]
    passed = last["up"] - first["up"]
    if passed <= 0:
        return loads
    # The speed of links is in Mbit/s.
    link_limit = LINK_LIMIT * last.get("speed", 0) * 1e6 / 8
    for key, factor, subject, limit in (
        ("sectors", _SECTOR, _DISKS, BYTES_LIMIT),
        ("bytes", 1, _LINKS, link_limit or BYTES_LIMIT),
    ):
        rate = (last.get(key, 0) - first.get(key, 0)) * factor / passed
        if rate > limit:
            noun = subject.partition(" ")[0]
            loads.append(
                LoadedPart(subject, f"its {noun} moved {rate / 1e6:.1f} MB/s")
            )
    for key, subject, what in (
        ("cpu", _PROCESSORS, "processors"),
        ("io", _DISKS, "disks"),
        ("memory", _PROCESSORS, "memory"),
    ):
        if key in first and key in last:
            waited = (last[key] - first[key]) / 1e6 / passed
            if waited > PRESSURE_LIMIT:
                text = f"processes waited for {what} {waited:.0%} of the time"
                loads.append(LoadedPart(subject, text))
    return loads


def _own_processes(observed: LoadReading) -> set[int]:
    """Return the PIDs of the process that reported, and its ancestors."""
    parents = {process.pid: process.parent for process in observed.processes}
    ancestors: set[int] = set()
    pid = observed.pid
    while pid and pid not in ancestors:
        ancestors.add(pid)
        pid = parents.get(pid, 0)
    return ancestors
