"""A barrier at which machines wait to start a command together."""

import asyncio
import collections.abc
import time

from rally_vmperf.machines import base

#: Seconds that the others are waited for, once one is ready.
PATIENCE = 120.0
#: The instant lies so many times as far ahead as getting ready took at most:
#: releasing is one request as well, and a smaller one.
_AHEAD = 1.5
#: Seconds ahead, at least and at most.
_SOONEST, _LATEST = 0.1, 30.0


class Meeting:
    """Machines that begin one command at one instant, and end it together.

    The others do not wait for one that leaves.

    :param names: of those that are to take part
    """

    def __init__(self, names: collections.abc.Iterable[str]) -> None:
        self._absent = set(names)
        self._working = set(self._absent)
        self._slowest = 0.0
        self._impatience: asyncio.TimerHandle | None = None
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._instant = 0.0

    async def ready(self, name: str, seconds: float) -> float:
        """Wait until all are ready; return the instant, by our clock.

        :param seconds: that it took to get this one ready
        :raises MachineError: when the others began without it
        """
        if self._begun.is_set():
            raise base.MachineError(
                f"{name} was not ready {PATIENCE:.0f} s after the first, and "
                "the others began without it; see what keeps it busy"
            )
        if self._impatience is None:
            loop = asyncio.get_running_loop()
            self._impatience = loop.call_later(PATIENCE, self._begin)
        self._slowest = max(self._slowest, seconds)
        self._absent.discard(name)
        self._see()
        await self._begun.wait()
        return self._instant

    async def done(self, name: str) -> None:
        """Wait until all others have done their counted work too."""
        self._working.discard(name)
        self._see()
        await self._over.wait()

    def leave(self, name: str) -> None:
        """Leave: the others no longer wait; harmless when repeated."""
        self._absent.discard(name)
        self._working.discard(name)
        self._see()

    def _see(self) -> None:
        if not self._absent:
            self._begin()
        if not self._working:
            self._over.set()

    def _begin(self) -> None:
        if self._begun.is_set():
            return
        if self._impatience is not None:
            self._impatience.cancel()
        self._working -= self._absent
        delay = min(max(self._slowest * _AHEAD, _SOONEST), _LATEST)
        self._instant = time.time() + delay
        self._begun.set()
        self._see()
