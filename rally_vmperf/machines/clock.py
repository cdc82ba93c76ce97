# SPDX-License-Identifier: Apache-2.0
"""The offset of a machine's clock from the local clock, with its error.

The shortest of several round trips is the most exact: the machine read its
clock during the round trip, so that the error of its middle is at most half of
its duration (D. Mills, RFC 5905).  One process answers all of them, because an
emulated guest needs a fifth of a second to start a process.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import re
import time

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.machines import streams

#: Maximum round trips of a reading, after one that waits for the process.
_ROUNDS = 8
#: The number of round trips that suffices if their durations are within this
#: factor of the shortest.
_ALIKE, _ABOUT = 3, 1.5
#: Machines that are read concurrently; more of them would wait for each other.
_AT_ONCE = 8
#: Seconds for a reading, its process included.
_TIMEOUT = 60.0
#: Seconds for repeated readings, until the next process.
_FOLLOWING = 3600.0
#: The resolution of a machine's answer in seconds.
_DIGIT = 1e-6
#: Seconds since the epoch, and since the boot; no clock that is in use is
#: beyond the year 9999.
_MOMENT = re.compile(r"([0-9]{1,12}\.[0-9]{6}) ?([0-9]{1,12}\.[0-9]{2})?")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reading:
    """The offset of a machine's clock, with its error.

    :param offset: The machine's clock minus the local clock in seconds.
    :param error: The maximum error of the offset in seconds.
    :param running: The seconds since the boot of the machine minus the local
        clock; None without a number. A step of the clock does not move it.
    """

    offset: float
    error: float
    running: float | None = None


#: The reading of a machine with the local clock.
SAME = Reading(offset=0.0, error=0.0)


async def read_all(
    machines: collections.abc.Iterable[base.Machine],
) -> list[Reading | base.MachineError]:
    """Return for each machine the offset of its clock, or its error."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def read_one(machine: base.Machine) -> Reading | base.MachineError:
        """Return the clock reading of a machine, or its MachineError."""
        try:
            return await read(machine, slots)
        except base.MachineError as error:
            return error

    return await asyncio.gather(*(read_one(machine) for machine in machines))


async def read(
    machine: base.Machine,
    slot: contextlib.AbstractAsyncContextManager[object] | None = None,
) -> Reading:
    """Return the offset of a machine's clock with its maximum error.

    The reading is repeated once if the connection is lost.

    :param slot: The context that is entered for the round trips only.
    :raises MachineError: If the machine does not report the time.
    """
    if machine.shares_clock:
        return SAME
    slot = slot or contextlib.nullcontext()
    with contextlib.suppress(base.Unreachable):
        return await _read(machine, slot)
    return await _read(machine, slot)


async def follow(
    machine: base.Machine,
    interval: float,
    on_reading: collections.abc.Callable[[float, Reading], object],
) -> None:
    """Read the clock of a machine repeatedly, until the task is cancelled.

    If the connection is lost, a new one is opened.

    :param interval: The seconds between two requests.
    :param on_reading: A function that is called with the middle of each
        request on the local clock, and the reading.
    :raises MachineError: If the machine does not report the time.
    """
    argv = scripts.argv("clock.bash")
    while True:
        with contextlib.suppress(base.Unreachable, base.TimedOut):
            async with machine.converse(argv, timeout=_FOLLOWING) as talk:
                while True:
                    sent, begun = time.time(), time.monotonic()
                    reading = await _request_time(machine, talk)
                    lasted = time.monotonic() - begun
                    on_reading(sent + lasted / 2, reading)
                    await asyncio.sleep(max(0, interval - lasted))
        await asyncio.sleep(interval)


async def _read(
    machine: base.Machine, slot: contextlib.AbstractAsyncContextManager[object]
) -> Reading:
    """Request the time several times; return the most exact Reading."""
    argv = scripts.argv("clock.bash")
    async with machine.converse(argv, timeout=_TIMEOUT) as talk:
        await _request_time(machine, talk)
        async with slot:
            readings: list[Reading] = []
            while len(readings) < _ROUNDS and not _is_stable(readings):
                readings.append(await _request_time(machine, talk))
    return min(readings, key=lambda reading: reading.error)


def _is_stable(readings: list[Reading]) -> bool:
    """Return whether several round trips are nearly as short as the best."""
    errors = sorted(reading.error for reading in readings)
    return len(errors) >= _ALIKE and errors[_ALIKE - 1] < errors[0] * _ABOUT


async def _request_time(
    machine: base.Machine, talk: streams.Conversation
) -> Reading:
    """Request the time once; return the clock offset and its error."""
    sent = time.time()
    begun = time.monotonic()
    await talk.send("")
    answer = await talk.receive()
    lasted = time.monotonic() - begun
    match = _MOMENT.fullmatch(answer)
    if match is None:
        raise base.MachineError(
            f"{machine.name}: {sanitize.line(answer)!r} is not a valid time; "
            "the machine needs bash, or date of coreutils"
        )
    middle = sent + lasted / 2
    return Reading(
        offset=float(match[1]) - middle,
        error=lasted / 2 + _DIGIT,
        running=float(match[2]) - middle if match[2] else None,
    )
