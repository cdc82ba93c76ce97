"""The offset of a machine's clock from ours, with its error.

The shortest of several round trips is the most exact: the machine read its
clock during it, so its middle is wrong by half of it at most (D. Mills,
RFC 5905).  One process answers all of them, for an emulated guest needs a
fifth of a second to start another.
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

#: Round trips of a reading at most, after one that waits for the process.
_ROUNDS = 8
#: So many that take about as long as the shortest are enough: by this factor.
_ALIKE, _ABOUT = 3, 1.5
#: Machines that are asked at one moment; more would wait for one another.
_AT_ONCE = 8
#: Seconds for a reading, its process included.
_TIMEOUT = 60.0
#: Seconds that the last digit of a machine's answer stands for.
_DIGIT = 1e-6
#: Seconds since the epoch; no clock that is in use is beyond the year 9999.
_MOMENT = re.compile(r"[0-9]{1,12}\.[0-9]{6}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reading:
    """The offset of a machine's clock, with its error.

    :param offset: seconds, the machine's clock minus ours
    :param error: seconds by which the offset may be wrong, up or down
    """

    offset: float
    error: float


#: That of a machine whose clock is ours.
SAME = Reading(offset=0.0, error=0.0)


async def read_all(
    machines: collections.abc.Iterable[base.Machine],
) -> list[Reading | base.MachineError]:
    """Return a reading of each machine's clock, or the reason without one."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(machine: base.Machine) -> Reading | base.MachineError:
        try:
            return await read(machine, turn)
        except base.MachineError as error:
            return error

    return await asyncio.gather(*(one(machine) for machine in machines))


async def read(
    machine: base.Machine,
    turn: contextlib.AbstractAsyncContextManager[object] | None = None,
) -> Reading:
    """Return a reading of a machine's clock.

    A connection that was cut meanwhile does not mean that the machine is gone.

    :param turn: entered for the round trips alone
    :raises MachineError: when the machine does not tell the time
    """
    if machine.shares_clock:
        return SAME
    turn = turn or contextlib.nullcontext()
    with contextlib.suppress(base.Unreachable):
        return await _read(machine, turn)
    return await _read(machine, turn)


async def _read(
    machine: base.Machine,
    turn: contextlib.AbstractAsyncContextManager[object],
) -> Reading:
    argv = scripts.argv("clock.bash")
    async with machine.converse(argv, timeout=_TIMEOUT) as talk:
        await _ask(machine, talk)
        async with turn:
            readings: list[Reading] = []
            while len(readings) < _ROUNDS and not _quiet(readings):
                readings.append(await _ask(machine, talk))
    return min(readings, key=lambda one: one.error)


def _quiet(readings: list[Reading]) -> bool:
    """Whether several round trips are about as short as the shortest."""
    errors = sorted(one.error for one in readings)
    return len(errors) >= _ALIKE and errors[_ALIKE - 1] < errors[0] * _ABOUT


async def _ask(machine: base.Machine, talk: streams.Conversation) -> Reading:
    sent = time.time()
    begun = time.monotonic()
    await talk.send("")
    answer = await talk.receive()
    lasted = time.monotonic() - begun
    if not _MOMENT.fullmatch(answer):
        raise base.MachineError(
            f"{machine.name}: asked for the time it said "
            f"{sanitize.line(answer)!r}; it needs bash, or date of coreutils"
        )
    return Reading(
        offset=float(answer) - (sent + lasted / 2), error=lasted / 2 + _DIGIT
    )
