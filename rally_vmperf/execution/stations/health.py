# SPDX-License-Identifier: Apache-2.0
"""Events on machines during a measurement: reboots, steal time, swapping."""

import asyncio
import collections.abc
import dataclasses
import re
import time

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics

#: Share of CPU time that may be stolen without a finding.
STEAL_LIMIT = 0.02

#: Share by which the time of a machine may differ from the controller's.
CLOCK_LIMIT = 0.005
#: Seconds that the last digits of two readings of the uptime represent.
_DIGITS = 0.02

_COUNTER = re.compile(r"[0-9]{1,20}")
_CPU = re.compile("^cpu[0-9]", re.M)
_UPTIME = re.compile(r"^([0-9]{1,12}\.[0-9]{2}) [0-9]{1,12}\.[0-9]{2}$", re.M)
#: Ticks of the counters in a second, on all processors of servers.
_TICKS = 100
_FILES = (
    base.BOOT_ID,
    "/proc/uptime",
    "/proc/stat",
    "/proc/vmstat",
)


@dataclasses.dataclass(frozen=True)
class Counters:
    """The counters of a machine at one time.

    :param busy: The ticks in which its CPUs ran anything.
    :param available: The ticks of all CPUs since its start, whatever they
        did; zero if unknown.
    :param up: The monotonic seconds since its start; None if unknown.
    :param requested_at: The time of the request on the monotonic clock of the
        controller.
    :param answered_at: The time of the answer on the same clock.
    """

    boot: str
    busy: int
    stolen: int
    swapped: int
    killed: int
    available: float = 0.0
    up: float | None = None
    requested_at: float = 0.0
    answered_at: float = 0.0


async def read_counters(
    stations: collections.abc.Sequence[roles.Station],
) -> dict[str, Counters]:
    """Return the counters of every machine that answers, by its name."""

    async def read_station(
        station: roles.Station,
    ) -> tuple[str, Counters] | None:
        """Return a station's name and counters, or None without an answer."""
        # A connection that was cut meanwhile does not mean a lost machine.
        for _ in ("first", "again"):
            requested_at = time.monotonic()
            try:
                answer = await station.machine.run(
                    ["cat", *_FILES], timeout=30
                )
            except base.Unreachable:
                continue
            except base.MachineError:
                return None
            counters = parse(answer.stdout)
            return station.name, dataclasses.replace(
                counters,
                requested_at=requested_at,
                answered_at=time.monotonic(),
                up=None if station.machine.shares_clock else counters.up,
            )
        return None

    answers = await asyncio.gather(
        *(read_station(station) for station in stations)
    )
    return dict(answer for answer in answers if answer)


def parse(text: str) -> Counters:
    """Return the counters in the contents of the files."""
    lines = text.splitlines()
    counters = {}
    for line in lines[1:]:
        fields = line.split()
        if len(fields) == 2 and _COUNTER.fullmatch(fields[1]):
            counters[fields[0]] = int(fields[1])
    cpu = next((line.split() for line in lines if line[:4] == "cpu "), [])
    ticks = [int(word) for word in cpu[1:] if _COUNTER.fullmatch(word)]
    # Time of guests of a guest is a part of that of its users.
    user, nice, system, _, _, irq, softirq = [*ticks, *(0,) * 7][:7]
    up = _UPTIME.search(text)
    return Counters(
        boot=lines[0][:64] if lines else "",
        busy=user + nice + system + irq + softirq,
        stolen=ticks[7] if len(ticks) > 7 else 0,
        swapped=counters.get("pswpin", 0) + counters.get("pswpout", 0),
        killed=counters.get("oom_kill", 0),
        available=float(up[1]) * _TICKS * len(_CPU.findall(text)) if up else 0,
        up=float(up[1]) if up else None,
    )


def count_cpu_time(
    before: collections.abc.Mapping[str, Counters],
    after: collections.abc.Mapping[str, Counters],
) -> dict[str, guest_metrics.CpuTime]:
    """Return the CPU time of each machine between two readings of a boot."""
    return {
        name: _subtract(before[name], after[name])
        for name in sorted(before.keys() & after.keys())
        if before[name].boot == after[name].boot
    }


def _subtract(old: Counters, new: Counters) -> guest_metrics.CpuTime:
    """Return the CPU time of a machine; zero for counters that decrease."""
    stolen = max(0, new.stolen - old.stolen)
    busy = max(0, new.busy - old.busy)
    return guest_metrics.CpuTime(
        stolen=stolen,
        requested=busy + stolen,
        available=max(0.0, new.available - old.available),
    )


def compare(
    before: collections.abc.Mapping[str, Counters],
    after: collections.abc.Mapping[str, Counters],
) -> list[finding.Finding]:
    """Return findings on changes between two readings of machines."""
    findings = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old.boot != new.boot:
            findings.append(
                finding.Finding(
                    kind="guest_rebooted",
                    subject=name,
                    detail=f"{name} rebooted during the repetition",
                )
            )
            continue
        findings += _check_clock(name, old, new)
        stolen_share = _subtract(old, new).stolen_share
        if stolen_share > STEAL_LIMIT:
            findings.append(
                finding.Finding(
                    kind="steal_time",
                    subject=name,
                    detail=f"{stolen_share:.0%} of the CPU time that {name} "
                    "requested was stolen",
                )
            )
        if new.swapped > old.swapped or new.killed > old.killed:
            findings.append(
                finding.Finding(
                    kind="swap_or_oom",
                    subject=name,
                    detail=f"{name} swapped {new.swapped - old.swapped} pages "
                    f"and lost {new.killed - old.killed} processes to the "
                    "out-of-memory killer",
                )
            )
    return findings


def is_clock_right(
    old: Counters, new: Counters, stopped: tuple[float, float] = (0.0, 0.0)
) -> bool:
    """Return whether the clock of a machine is neither too fast nor too slow.

    The time between request and answer is tolerated: a slow machine or
    controller does not have a wrong clock.

    :param stopped: The least and the most seconds for which the machine was
        stopped on purpose.
    """
    if old.up is None or new.up is None:
        return True
    uptime = new.up - old.up
    shortest = new.requested_at - old.answered_at
    longest = new.answered_at - old.requested_at
    least, most = stopped
    is_fast = uptime + least > longest * (1 + CLOCK_LIMIT) + _DIGITS
    is_slow = uptime + most < shortest * (1 - CLOCK_LIMIT) - _DIGITS
    return not is_fast and not is_slow


def _check_clock(
    name: str, old: Counters, new: Counters
) -> list[finding.Finding]:
    """Return a finding if the clock of a machine is wrong."""
    if is_clock_right(old, new) or old.up is None or new.up is None:
        return []
    uptime = new.up - old.up
    shortest = new.requested_at - old.answered_at
    longest = new.answered_at - old.requested_at
    return [
        finding.Finding(
            kind="clock_wrong",
            subject=name,
            detail=f"{uptime:.2f} s passed on {name} while the controller "
            f"counted {shortest:.2f} to {longest:.2f} s",
        )
    ]
