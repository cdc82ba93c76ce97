# SPDX-License-Identifier: Apache-2.0
"""A barrier at which machines wait to start a command together."""

import asyncio
import collections.abc
import time

from rally_vmperf.machines import base

#: Seconds to wait for the other machines after the first one is ready.
PATIENCE = 120.0
#: The delay of the start, as a multiple of the longest preparation: the
#: release is a single and smaller request.
_MARGIN = 1.5
#: The shortest and the longest delay of the start in seconds.
_SOONEST, _LATEST = 0.1, 30.0


class StartBarrier:
    """A barrier at which machines start and end a command together.

    A machine that leaves the barrier does not delay the other machines.

    :param names: The names of the machines that participate.
    """

    def __init__(self, names: collections.abc.Iterable[str]) -> None:
        self._absent = set(names)
        self._working = set(self._absent)
        self._slowest = 0.0
        self._impatience: asyncio.TimerHandle | None = None
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._instant = 0.0

    async def wait_for_start(self, name: str, seconds: float) -> float:
        """Wait until all machines are ready; return the Unix start time.

        :param name: The name of the machine that is ready.
        :param seconds: The duration of its preparation in seconds.
        :returns: The start time on the clock of the controller, in seconds.
        :raises MachineError: If the other machines started without it.
        """
        if self._begun.is_set():
            raise base.MachineError(
                f"{name} was not ready {PATIENCE:.0f} s after the first "
                "machine, so the other machines started without it; check "
                "its load"
            )
        if self._impatience is None:
            loop = asyncio.get_running_loop()
            self._impatience = loop.call_later(PATIENCE, self._begin)
        self._slowest = max(self._slowest, seconds)
        self._absent.discard(name)
        self._update_events()
        await self._begun.wait()
        return self._instant

    async def wait_for_end(self, name: str) -> None:
        """Wait until all machines have finished their measured work."""
        self._working.discard(name)
        self._update_events()
        await self._over.wait()

    def leave(self, name: str) -> None:
        """Remove a machine from the barrier; repeated calls have no effect."""
        self._absent.discard(name)
        self._working.discard(name)
        self._update_events()

    def _update_events(self) -> None:
        """Set the start and end events if no machine is awaited any more."""
        if not self._absent:
            self._begin()
        if not self._working:
            self._over.set()

    def _begin(self) -> None:
        """Set the start time, and let the ready machines start."""
        if self._begun.is_set():
            return
        if self._impatience is not None:
            self._impatience.cancel()
        self._working -= self._absent
        delay = min(max(self._slowest * _MARGIN, _SOONEST), _LATEST)
        self._instant = time.time() + delay
        self._begun.set()
        self._update_events()
