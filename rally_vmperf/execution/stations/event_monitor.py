# SPDX-License-Identifier: Apache-2.0
"""Readings of a guest's clock and replies to pings around an event."""

import asyncio
import contextlib
import dataclasses
import time

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.machines.remote import ssh
from rally_vmperf.measurement.event import downtime

#: Seconds between two readings of the clock, and between two pings.
CLOCK_INTERVAL = 0.02
PING_INTERVAL = 0.01
#: Maximum number of readings and of replies.
_MOST = 200_000
#: Seconds until ping is started again.
_PINGING = 3600.0
#: Seconds to wait until the first reading and the first reply have arrived.
_FIRST = 5.0
#: Seconds without a reading after which the guest may have stopped.
_SILENT = 2.0
#: Seconds in which a guest that answers must report its boot.
_PATIENT = 60.0


@dataclasses.dataclass
class Monitor:
    """The clock of a guest, and pings from the peer, in the background.

    Both run in the event loop of the session, while it runs workloads.

    :param guest: The station of the guest.
    :param address: The address of the guest that the peer pings.
    :param peer: The peer; None without one.
    :param prober: The guest over connections of its own, if it is stopped on
        purpose; otherwise None.
    :param patience: The seconds in which a stopped guest must answer again.
    :ivar stop: The stop of the guest; None before it answers again.
    :ivar readings: The readings of the clock in order.
    :ivar replies: The times of replies on the clock of the controller.
    :ivar reasons: The reasons why a source has ended, by its name: ``clock``,
        ``ping`` or ``stop``.
    """

    guest: roles.Station
    address: str
    peer: roles.Station | None
    prober: ssh.Ssh | None = None
    patience: float = 0.0

    def __post_init__(self) -> None:
        self.stop: downtime.Stop | None = None
        self._is_decided = asyncio.Event()
        self.readings: list[downtime.OffsetReading] = []
        self.replies: list[float] = []
        self.reasons: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> str:
        """Start to read the clock and to ping.

        :returns: Why a stop of the guest cannot be observed, or "".
        """
        self._clock = asyncio.create_task(self._follow_clock())
        self._tasks = [self._clock]
        if self.prober is not None:
            try:
                earlier = await self.prober.read_boot_id(_PATIENT)
            except base.MachineError as error:
                return str(error)
            self._tasks.append(
                asyncio.create_task(self._follow_stop(self.prober, earlier))
            )
        if self.peer is not None:
            self._tasks.append(asyncio.create_task(self._ping(self.peer)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST):
                while not self.readings or (self.peer and not self.replies):
                    await asyncio.sleep(CLOCK_INTERVAL)
        return ""

    async def end(self) -> None:
        """Stop; the readings and replies remain."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.prober is not None:
            await self.prober.close()

    async def wait_for_return(self) -> bool:
        """Wait for the end of a stop; return whether the guest answers."""
        await self._is_decided.wait()
        return self.stop is not None

    def give_up(self) -> None:
        """Expect no stop any more."""
        self._is_decided.set()

    async def _follow_stop(self, prober: ssh.Ssh, earlier: str) -> None:
        """Wait until the guest has stopped and answers again.

        A connection to a guest that lost its power is silent for long, so
        that each probe opens a connection of its own.

        :param earlier: The boot identifier before.
        """
        try:
            while self.stop is None:
                await prober.close()
                await self._follow_silence(prober, earlier)
        except base.MachineError as error:
            self.reasons["stop"] = str(error)
        finally:
            self._is_decided.set()

    async def _follow_silence(self, prober: ssh.Ssh, earlier: str) -> None:
        """Wait until the guest is silent and answers; note a new boot.

        :param earlier: The boot identifier before.
        :raises MachineError: If it does not answer again.
        """
        while not self.readings or (
            time.time() - self.readings[-1].at < _SILENT
        ):
            await asyncio.sleep(CLOCK_INTERVAL)
        last = self.readings[-1].at
        absent = last + CLOCK_INTERVAL

        def note_absence(_: str) -> None:
            """Note that a probe has failed."""
            nonlocal absent
            absent = time.time()

        await prober.wait_ready(self.patience, note_absence)
        answered = time.time()
        if await prober.read_boot_id(_PATIENT) == earlier:
            return
        self.stop = downtime.Stop(
            last=last,
            silent=last + CLOCK_INTERVAL,
            absent=absent,
            answered=answered,
        )
        # Its old connections would be silent for long.
        self._clock.cancel()
        await self.guest.machine.close()
        self._clock = asyncio.create_task(self._follow_clock())
        self._tasks.append(self._clock)

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
                    reply = downtime.parse_reply(await talk.receive())
                    if reply is not None:
                        self.replies.append(reply - offset)
        except base.MachineError as error:
            self.reasons["ping"] = str(error)
