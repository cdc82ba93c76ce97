"""Load of others on a machine: processes, disks, links, pressure.

Processes are told apart by who started them: the one that asks, and all that
it descends from, are ours.  What ran only between two looks is in the account
of the process that waited for it, if that is not init.
"""

import collections
import collections.abc
import dataclasses
import re

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Seconds for which a machine that nobody of us uses is watched.
QUIET = 1
#: Share of all processors' time that is too much for others to use.
CPU_LIMIT = 0.02
#: Bytes per second on all disks, or all links, likewise.
BYTES_LIMIT = 1 << 20
#: Share of time in which something waits for processors, disks or memory.
PRESSURE_LIMIT = 0.05

_SECTOR = 512
#: Bytes of a machine with tens of thousands of processes.
_LARGEST = 8 << 20
_PROCESS = re.compile(
    r"process (\d{1,10}) (\d{1,10}) (\d{1,20}) (\d{1,20}) (\d{1,20}) (.{0,64})"
)
_PAIR = re.compile(r"(\w{1,20})=(\d{1,20}(?:\.\d{1,6})?)(?!\S)")
_GUEST = re.compile(r"qemu|kvm\b", re.I)
#: Those that are named, the busiest first.
_NAMED = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Process:
    """A process and its CPU time in ticks.

    :param started: ticks after the machine's start; with the number it is
        never that of another
    :param reaped: ticks of the children that have ended
    """

    pid: int
    parent: int
    started: int
    own: int
    reaped: int
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Look:
    """What a machine says of itself at one moment.

    :param at: seconds since its start
    :param hz: ticks per second
    :param own: process that answered
    :param counters: one reading, or those before and after a quiet time
    """

    at: float
    hz: float
    cpus: float
    own: int
    counters: tuple[collections.abc.Mapping[str, float], ...]
    processes: tuple[Process, ...]


async def look(machine: base.Machine, quiet: int = 0) -> Look:
    """Return the load of a machine.

    :param quiet: seconds of watching before, in which nothing of ours runs
    :raises MachineError: when it does not tell
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


def parse(text: str) -> Look:
    """Return what the script printed.

    :raises KeyError, ValueError, IndexError: for what it does not print
    """
    facts: dict[str, float] = {}
    counters = []
    processes = []
    for line in text.splitlines():
        kind = line.partition(" ")[0]
        pairs = {key: float(value) for key, value in _PAIR.findall(line)}
        if kind == "machine":
            facts = pairs
        elif kind == "counters":
            counters.append(pairs)
        elif told := _PROCESS.fullmatch(line):
            pid, parent, started, own, reaped = map(int, told.groups()[:5])
            processes.append(
                Process(
                    pid=pid,
                    parent=parent,
                    started=started,
                    own=own,
                    reaped=reaped,
                    name=sanitize.line(told[6]) or "?",
                )
            )
    found = Look(
        at=counters[-1]["up"],
        hz=facts["hz"],
        cpus=facts["cpus"],
        own=int(facts["own"]),
        counters=tuple(counters),
        processes=tuple(processes),
    )
    if not (found.hz > 0 and found.cpus > 0):
        raise ValueError(text[:100])
    return found


def between(before: Look, after: Look) -> list[str]:
    """Return which other processes used too much CPU between two looks."""
    lasted = after.at - before.at
    whole = lasted * after.cpus * after.hz
    earlier = {(one.pid, one.started): one for one in before.processes}
    mine = _ours(before) | _ours(after)
    # A child that ended is in its parent's account with all its time, and
    # was in its own before.
    ended = collections.Counter[int]()
    alive = {(one.pid, one.started) for one in after.processes}
    for one in before.processes:
        if (one.pid, one.started) not in alive:
            ended[one.parent] += one.own + one.reaped
    ticks = collections.Counter[str]()
    for one in after.processes:
        if one.pid in mine or one.parent == after.own:
            continue
        old = earlier.get((one.pid, one.started))
        used = one.own - (old.own if old else 0)
        reaped = one.reaped - (old.reaped if old else 0) - ended[one.pid]
        ticks[one.name] += max(0, used) + max(0, reaped)
    total = ticks.total()
    if lasted <= 0 or total / whole <= CPU_LIMIT:
        return []
    named = [
        f"{name} {count / whole:.1%}"
        for name, count in ticks.most_common(_NAMED)
    ]
    return [
        f"other processes used {total / whole:.1%} of its "
        f"{after.cpus:.0f} processors ({', '.join(named)})"
    ]


def while_quiet(observed: Look) -> list[str]:
    """Return the load of a machine that should be quiet, and its guests."""
    found = []
    guests = sum(bool(_GUEST.match(one.name)) for one in observed.processes)
    if guests:
        found.append(f"{guests} QEMU processes run on it")
    if len(observed.counters) < 2:
        return found
    first, last = observed.counters[0], observed.counters[-1]
    passed = last["up"] - first["up"]
    if passed <= 0:
        return found
    for key, factor, what in (
        ("sectors", _SECTOR, "its disks"),
        ("bytes", 1, "its links"),
    ):
        rate = (last.get(key, 0) - first.get(key, 0)) * factor / passed
        if rate > BYTES_LIMIT:
            found.append(f"{what} moved {rate / 1e6:.1f} MB/s")
    for key, what in (
        ("cpu", "processors"),
        ("io", "disks"),
        ("memory", "memory"),
    ):
        if key in first and key in last:
            waited = (last[key] - first[key]) / 1e6 / passed
            if waited > PRESSURE_LIMIT:
                found.append(
                    f"processes waited for {what} {waited:.0%} of the time"
                )
    return found


def _ours(observed: Look) -> set[int]:
    """Return the process that answered, and its ancestors."""
    parents = {one.pid: one.parent for one in observed.processes}
    found: set[int] = set()
    one = observed.own
    while one and one not in found:
        found.add(one)
        one = parents.get(one, 0)
    return found
