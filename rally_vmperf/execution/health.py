"""What happened to machines while they measured: reboots, steal, swapping."""

import asyncio
import collections.abc
import dataclasses
import re

from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding

#: Share of CPU time that a hypervisor may take away before it is told.
STEAL_LIMIT = 0.02

_COUNTER = re.compile(r"[0-9]{1,20}")
_FILES = ("/proc/sys/kernel/random/boot_id", "/proc/stat", "/proc/vmstat")


@dataclasses.dataclass(frozen=True)
class Look:
    """A machine's own counters at one moment."""

    boot: str
    busy: int
    stolen: int
    swapped: int
    killed: int


async def look(
    places: collections.abc.Sequence[stations.Station],
) -> dict[str, Look]:
    """Return the counters of every machine that answers, by its name."""

    async def one(place: stations.Station) -> tuple[str, Look] | None:
        # A connection that was cut meanwhile is no machine that is gone.
        for _ in ("first", "again"):
            try:
                answer = await place.machine.run(["cat", *_FILES], timeout=30)
            except base.Unreachable:
                continue
            except base.MachineError:
                return None
            return place.name, parse(answer.stdout)
        return None

    answers = await asyncio.gather(*(one(place) for place in places))
    return dict(answer for answer in answers if answer)


def parse(text: str) -> Look:
    """Return the counters in the three files' contents; unknown ones are 0."""
    lines = text.splitlines()
    counters = {}
    for line in lines[1:]:
        words = line.split()
        if len(words) == 2 and _COUNTER.fullmatch(words[1]):
            counters[words[0]] = int(words[1])
    cpu = next((line.split() for line in lines if line[:4] == "cpu "), [])
    ticks = [int(word) for word in cpu[1:] if _COUNTER.fullmatch(word)]
    user, nice, system = [*ticks, 0, 0, 0][:3]
    return Look(
        boot=lines[0][:64] if lines else "",
        busy=user + nice + system,
        stolen=ticks[7] if len(ticks) > 7 else 0,
        swapped=counters.get("pswpin", 0) + counters.get("pswpout", 0),
        killed=counters.get("oom_kill", 0),
    )


def compare(
    before: collections.abc.Mapping[str, Look],
    after: collections.abc.Mapping[str, Look],
) -> list[finding.Finding]:
    """Return what befell machines between two looks."""
    found = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old.boot != new.boot:
            found.append(
                finding.Finding(
                    kind="guest_rebooted",
                    subject=name,
                    seen=f"{name} booted anew during the repetition",
                )
            )
            continue
        stolen = new.stolen - old.stolen
        total = new.busy - old.busy + stolen
        if total > 0 and stolen / total > STEAL_LIMIT:
            found.append(
                finding.Finding(
                    kind="steal_time",
                    subject=name,
                    seen=f"{stolen / total:.0%} of the CPU time that {name} "
                    "wanted went to others",
                )
            )
        if new.swapped > old.swapped or new.killed > old.killed:
            found.append(
                finding.Finding(
                    kind="swap_or_oom",
                    subject=name,
                    seen=f"{name} swapped {new.swapped - old.swapped} pages "
                    f"and lost {new.killed - old.killed} processes to the "
                    "out-of-memory killer",
                )
            )
    return found
