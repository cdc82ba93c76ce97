"""Requests to the supervisor of a job, asked again where they are lost."""

import asyncio
import time

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Seconds that a machine may be away; one that died costs no more.
_AWAY = 60.0
_HEADER = 4096


async def ask(
    machine: base.Machine, arguments: tuple[str, ...]
) -> base.Completed:
    """Ask once."""
    return await machine.run(scripts.argv("job.bash", *arguments), timeout=60)


async def persist(
    machine: base.Machine,
    command: str,
    arguments: tuple[str, ...],
    timeout: float,
    output_limit: int,
    patience: float,
) -> base.Completed:
    """Ask again while the machine is away; every request may be repeated.

    After a loss at least one more connection is tried, for a silent one may
    have been dropped somewhere between here and a machine that is well.

    :param patience: seconds to go on asking a machine that is only slow
    """
    deadline = time.monotonic() + patience
    lost: float | None = None
    pause = 0.2
    while True:
        try:
            return await machine.run(
                scripts.argv("job.bash", *arguments),
                timeout=timeout,
                output_limit=output_limit + _HEADER,
            )
        except base.TimedOut:
            lost = None
            if time.monotonic() > deadline:
                raise
        except base.Unreachable as error:
            now = time.monotonic()
            if lost is None:
                lost = now - error.silent
            elif now > min(lost + _AWAY, deadline):
                raise base.Unreachable(
                    f"{machine.name}: connection lost {now - lost:.0f} s ago "
                    f"at command {command}, and no way back: {error}",
                    silent=now - lost,
                ) from None
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2)
