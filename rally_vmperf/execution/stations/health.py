"""What happened to machines while they measured: reboots, steal, swapping."""

import asyncio
import collections.abc
import dataclasses
import re
import time

from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding

#: Share of CPU time that a hypervisor may take away before it is told.
STEAL_LIMIT = 0.02

#: Share by which a machine's own time may differ from the controller's.
CLOCK_LIMIT = 0.005
#: Seconds that the last digits of the uptime, read twice, stand for.
_DIGITS = 0.02

_COUNTER = re.compile(r"[0-9]{1,20}")
_UPTIME = re.compile(r"^([0-9]{1,12}\.[0-9]{2}) [0-9]{1,12}\.[0-9]{2}$", re.M)
_FILES = (
    "/proc/sys/kernel/random/boot_id",
    "/proc/uptime",
    "/proc/stat",
    "/proc/vmstat",
)


@dataclasses.dataclass(frozen=True)
class Look:
    """A machine's own counters at one moment.

    :param up: seconds since its start, which nobody steps; None where it
        does not tell
    :param asked: when it was asked, by the controller's monotonic clock
    :param told: when it had answered
    """

    boot: str
    busy: int
    stolen: int
    swapped: int
    killed: int
    up: float | None = None
    asked: float = 0.0
    told: float = 0.0


async def look(
    stations: collections.abc.Sequence[stations_.Station],
) -> dict[str, Look]:
    """Return the counters of every machine that answers, by its name."""

    async def one(station: stations_.Station) -> tuple[str, Look] | None:
        # A connection that was cut meanwhile is no machine that is gone.
        for _ in ("first", "again"):
            asked = time.monotonic()
            try:
                answer = await station.machine.run(
                    ["cat", *_FILES], timeout=30
                )
            except base.Unreachable:
                continue
            except base.MachineError:
                return None
            seen = dataclasses.replace(
                parse(answer.stdout), asked=asked, told=time.monotonic()
            )
            if station.machine.shares_clock:
                seen = dataclasses.replace(seen, up=None)
            return station.name, seen
        return None

    answers = await asyncio.gather(*(one(station) for station in stations))
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
    up = _UPTIME.search(text)
    return Look(
        boot=lines[0][:64] if lines else "",
        busy=user + nice + system,
        stolen=ticks[7] if len(ticks) > 7 else 0,
        swapped=counters.get("pswpin", 0) + counters.get("pswpout", 0),
        killed=counters.get("oom_kill", 0),
        up=float(up[1]) if up else None,
    )


def compare(
    before: collections.abc.Mapping[str, Look],
    after: collections.abc.Mapping[str, Look],
) -> list[finding.Finding]:
    """Return findings on what changed between two readings of machines."""
    found = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old.boot != new.boot:
            found.append(
                finding.Finding(
                    kind="guest_rebooted",
                    subject=name,
                    detail=f"{name} booted anew during the repetition",
                )
            )
            continue
        found += _clock(name, old, new)
        stolen = new.stolen - old.stolen
        total = new.busy - old.busy + stolen
        if total > 0 and stolen / total > STEAL_LIMIT:
            found.append(
                finding.Finding(
                    kind="steal_time",
                    subject=name,
                    detail=f"{stolen / total:.0%} of the CPU time that {name} "
                    "wanted went to others",
                )
            )
        if new.swapped > old.swapped or new.killed > old.killed:
            found.append(
                finding.Finding(
                    kind="swap_or_oom",
                    subject=name,
                    detail=f"{name} swapped {new.swapped - old.swapped} pages "
                    f"and lost {new.killed - old.killed} processes to the "
                    "out-of-memory killer",
                )
            )
    return found


def _clock(name: str, old: Look, new: Look) -> list[finding.Finding]:
    """Return whether a machine's time goes faster or slower than ours.

    What lies between asking and the answer is held against nobody: a machine
    or a controller that is slow has no wrong clock.
    """
    if old.up is None or new.up is None:
        return []
    own = new.up - old.up
    least = (new.asked - old.told) * (1 - CLOCK_LIMIT) - _DIGITS
    longest = (new.told - old.asked) * (1 + CLOCK_LIMIT) + _DIGITS
    if least <= own <= longest:
        return []
    return [
        finding.Finding(
            kind="clock_wrong",
            subject=name,
            detail=f"{own:.2f} s passed on {name} while the controller "
            f"counted {new.asked - old.told:.2f} to "
            f"{new.told - old.asked:.2f} s",
        )
    ]
