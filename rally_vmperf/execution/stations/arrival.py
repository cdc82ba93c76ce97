"""The arrival of booted guests, whose connections are kept."""

import asyncio
import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import reach
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import target


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arrival:
    """How a booting guest came up.

    :param trouble: in one line why it never answered, or None
    :param at_jump: the trouble is a jump host's, not the guest's
    :param busy: what was still at work in it when time was up, or None
    """

    trouble: str | None = None
    at_jump: bool = False
    busy: str | None = None


class Guests:
    """Guests with the connections that were opened to them.

    A connection costs an emulated guest a second, so whoever is to measure
    takes these over, with the event loop that they belong to.
    """

    def __init__(
        self,
        guests: collections.abc.Sequence[target.Target],
        client_key: str,
    ) -> None:
        self.stations = reach.guest_stations(guests, client_key)
        self.runner = asyncio.Runner()
        self._guests = guests

    def wait(
        self, timeout: float, on_progress: t.Callable[[str], None]
    ) -> list[Arrival]:
        """Wait until every guest answers SSH and has booted, all at once.

        :param timeout: seconds
        """
        return self.runner.run(
            wait_all(self._guests, self.stations, timeout, on_progress)
        )

    def leave(self, names: collections.abc.Container[str]) -> None:
        """Give up the connections to guests that take no part."""
        gone = [one for one in self.stations if one.name in names]
        self.stations = [x for x in self.stations if x.name not in names]
        self.runner.run(_close(gone))

    def close(self) -> None:
        """Give up the connections."""
        try:
            self.runner.run(_close(self.stations))
        finally:
            self.runner.close()


async def _close(stations: list[stations_.Station]) -> None:
    await asyncio.gather(*(station.machine.close() for station in stations))


async def wait_all(
    guests: collections.abc.Sequence[target.Target],
    stations: collections.abc.Sequence[stations_.Station],
    timeout: float,
    on_progress: t.Callable[[str], None],
) -> list[Arrival]:
    """Wait until guests answer SSH and have booted, all at once.

    :param stations: in any order, those of the guests among them
    :param timeout: seconds
    """
    if not guests:
        return []
    by_name = {station.name: station for station in stations}
    loop = asyncio.get_running_loop()
    begin = loop.time()
    way = reach.way_to(guests[0].jump, guests[0].namespace)

    def passed() -> float:
        return loop.time() - begin

    async def wait(guest: target.Target) -> Arrival:
        machine = t.cast(ssh.Ssh, by_name[guest.name].machine)
        while True:
            try:
                await machine.wait_ready(timeout - passed())
                on_progress(
                    f"{guest.name} answers SSH at {guest.address}"
                    f"{way.label} after {passed():.0f} s"
                )
                busy = await settle(machine, timeout - passed())
            except base.Unreachable as error:
                if passed() >= timeout:
                    return _troubled(error)
            except base.MachineError as error:
                return _troubled(error)
            else:
                break
        state = f"still runs {busy}" if busy else "has booted"
        on_progress(f"{guest.name} {state} after {passed():.0f} s")
        return Arrival(busy=busy)

    return await concurrency.wait_for_all(map(wait, guests))


def _troubled(error: base.MachineError) -> Arrival:
    of_jump = (base.JumpUnreachable, base.JumpRefused)
    return Arrival(trouble=str(error), at_jump=isinstance(error, of_jump))


#: What still works, by the exit status of the script.
_BUSY = {3: "cloud-init", 4: "systemd"}
#: Seconds beyond the script's own time in which its answer must arrive.
_SPARE = 60


async def settle(machine: base.Machine, seconds: float) -> str | None:
    """Wait until cloud-init and systemd have finished the boot.

    An SSH server answers long before; cloud-init, which nearly always
    restarts that server, shares the processor with what would be measured.

    :param seconds: how long to wait at most
    :returns: what is still at work after that, or None
    :raises MachineError: when the machine does not answer
    """
    done = await machine.run(
        scripts.argv("settle.sh", str(math.ceil(max(seconds, 0)))),
        timeout=max(seconds, 0) + _SPARE,
    )
    return _BUSY.get(done.exit_status)
