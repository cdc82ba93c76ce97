"""Readings of a guest's clock and replies to pings while it is migrated."""

import asyncio
import contextlib
import dataclasses

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.measurement.migration import downtime
from rally_vmperf.measurement.migration import packets

#: Seconds between two readings of the clock, and between two pings.
CLOCK_INTERVAL = 0.02
PING_INTERVAL = 0.01
#: Maximum number of readings and of replies.
_MOST = 200_000
#: Seconds until ping is started again.
_PINGING = 3600.0
#: Seconds to wait until the first reading and the first reply have arrived.
_FIRST = 5.0


@dataclasses.dataclass
class Monitor:
    """The clock of a guest, and pings from the peer, in the background.

    Both run in the event loop of the session, while it runs workloads.

    :param guest: The station of the guest.
    :param address: The address of the guest that the peer pings.
    :param peer: The peer; None without one.
    :ivar readings: The readings of the clock in order.
    :ivar replies: The times of replies on the clock of the controller.
    :ivar reasons: The reasons why a source has ended, by its name: ``clock``
        or ``ping``.
    """

    guest: roles.Station
    address: str
    peer: roles.Station | None

    def __post_init__(self) -> None:
        self.readings: list[downtime.OffsetReading] = []
        self.replies: list[float] = []
        self.reasons: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Start to read the clock and to ping."""
        self._tasks = [asyncio.create_task(self._follow_clock())]
        if self.peer is not None:
            self._tasks.append(asyncio.create_task(self._ping(self.peer)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST):
                while not self.readings or (self.peer and not self.replies):
                    await asyncio.sleep(CLOCK_INTERVAL)

    async def end(self) -> None:
        """Stop; the readings and replies remain."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow_clock(self) -> None:
        """Read the clock of the guest until the task is cancelled."""
        try:
            await clock.follow(
                self.guest.machine, CLOCK_INTERVAL, self._add_reading
            )
        except base.MachineError as error:
            self.reasons["clock"] = str(error)

    def _add_reading(self, moment: float, reading: clock.Reading) -> None:
        """Add a reading of the clock."""
        if len(self.readings) < _MOST:
            self.readings.append(
                downtime.OffsetReading(
                    at=moment,
                    offset=reading.offset,
                    error=reading.error,
                    running=reading.running,
                )
            )

    async def _ping(self, peer: roles.Station) -> None:
        """Ping the guest from the peer until the task is cancelled."""
        argv = ["ping", "-D", "-n", "-i", f"{PING_INTERVAL:g}", self.address]
        try:
            offset = (await clock.read(peer.machine)).offset
            async with peer.machine.converse(argv, timeout=_PINGING) as talk:
                while len(self.replies) < _MOST:
                    reply = packets.parse_reply(await talk.receive())
                    if reply is not None:
                        self.replies.append(reply - offset)
        except base.MachineError as error:
            self.reasons["ping"] = str(error)
