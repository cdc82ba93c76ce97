# SPDX-License-Identifier: Apache-2.0
"""The wait for booted guests, whose connections are kept."""

import asyncio
import collections.abc
import dataclasses
import functools
import math
import time
import typing as t

from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import reach
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import target


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arrival:
    """The result of the boot of a guest.

    :param error: The reason in one line why it does not answer, or None.
    :param at_jump: Whether the error is that of a jump host.
    :param is_final: Whether the error has the reason why a guest will never
        answer.
    :param busy: The service that was still starting at the timeout, or None.
    :param answered_at: The time at which it answered SSH on the monotonic
        clock in seconds; None if it does not answer.
    """

    error: str | None = None
    at_jump: bool = False
    is_final: bool = False
    busy: str | None = None
    answered_at: float | None = dataclasses.field(default=None, compare=False)


#: A function that returns why a guest, with this name and after this error,
#: will never answer, or an empty string.
FindObstacle = t.Callable[[str, base.Unreachable], str]


class ConnectedGuests:
    """Guests with their open connections.

    A connection costs an emulated guest a second, so the session that measures
    takes over the connections and their event loop.
    """

    def __init__(
        self, guests: collections.abc.Sequence[target.Target], client_key: str
    ) -> None:
        self.stations = reach.guest_stations(guests, client_key)
        self.runner = asyncio.Runner()
        self._guests = guests

    def wait(
        self,
        timeout: float,
        on_progress: t.Callable[[str], None],
        find_obstacle: FindObstacle | None = None,
    ) -> list[Arrival]:
        """Wait until all guests have booted; return one arrival per guest.

        :param timeout: The timeout in seconds.
        :param find_obstacle: The function that returns why a guest will never
            answer.
        """
        return self.runner.run(
            wait_all(
                self._guests,
                self.stations,
                timeout,
                on_progress,
                find_obstacle,
            )
        )

    def leave(self, names: collections.abc.Container[str]) -> None:
        """Close the connections to guests that do not participate."""
        leaving = [
            station for station in self.stations if station.name in names
        ]
        self.stations = [
            station for station in self.stations if station.name not in names
        ]
        self.runner.run(roles.close_connections(leaving))

    def close(self) -> None:
        """Close the connections."""
        try:
            self.runner.run(roles.close_connections(self.stations))
        finally:
            self.runner.close()


async def wait_all(
    guests: collections.abc.Sequence[target.Target],
    stations: collections.abc.Sequence[roles.Station],
    timeout: float,
    on_progress: t.Callable[[str], None],
    find_obstacle: FindObstacle | None = None,
) -> list[Arrival]:
    """Wait until guests answer SSH and have booted; return the arrivals.

    :param guests: The guests to wait for.
    :param stations: The stations of these and possibly other guests, in any
        order.
    :param timeout: The timeout in seconds.
    :param find_obstacle: The function that returns why a guest will never
        answer; it is called in a thread.
    """
    if not guests:
        return []
    by_name = {station.name: station for station in stations}
    loop = asyncio.get_running_loop()
    begin = loop.time()
    way = reach.create_route(guests[0].jump, guests[0].namespace)

    def seconds_passed() -> float:
        """Return the seconds since the wait began."""
        return loop.time() - begin

    async def wait(guest: target.Target) -> Arrival:
        """Wait until a guest has booted; return a busy service or an error."""
        machine = t.cast(ssh.Ssh, by_name[guest.name].machine)
        while True:
            try:
                await machine.wait_ready(
                    timeout - seconds_passed(),
                    find_obstacle=find_obstacle
                    and functools.partial(
                        _find_obstacle, find_obstacle, guest.name
                    ),
                )
                answered_at = time.monotonic()
                on_progress(
                    f"{guest.name} answers SSH at {guest.address}"
                    f"{way.label} after {seconds_passed():.0f} s"
                )
                busy = await wait_for_boot(machine, timeout - seconds_passed())
            except base.Unreachable as error:
                if seconds_passed() >= timeout:
                    return _create_failed_arrival(error)
            except base.MachineError as error:
                return _create_failed_arrival(error)
            else:
                break
        state = f"still runs {busy}" if busy else "has booted"
        on_progress(f"{guest.name} {state} after {seconds_passed():.0f} s")
        return Arrival(busy=busy, answered_at=answered_at)

    return await concurrency.wait_for_all(map(wait, guests))


async def _find_obstacle(
    find_obstacle: FindObstacle, name: str, error: base.Unreachable
) -> str:
    """Return why a guest will never answer, or "", from a thread."""
    return await asyncio.to_thread(find_obstacle, name, error)


def _create_failed_arrival(error: base.MachineError) -> Arrival:
    """Return the arrival of a guest that failed with this error."""
    of_jump = (base.JumpUnreachable, base.JumpRefused)
    return Arrival(
        error=str(error),
        at_jump=isinstance(error, of_jump),
        is_final=isinstance(error, base.Obstructed),
    )


#: The service that is still starting, by the exit status of the script.
_BUSY = {3: "cloud-init", 4: "systemd"}
#: Seconds after the timeout of the script in which its result must arrive.
_SPARE = 60


async def wait_for_boot(machine: base.Machine, seconds: float) -> str | None:
    """Wait for the end of a boot; return a service still starting, or None.

    An SSH server answers long before. Cloud-init, which usually restarts that
    server, would share the processor with the workloads.

    :param seconds: The timeout in seconds.
    :returns: The service that is still starting after that, or None.
    :raises MachineError: If the machine does not answer.
    """
    done = await machine.run(
        scripts.argv("settle.sh", str(math.ceil(max(seconds, 0)))),
        timeout=max(seconds, 0) + _SPARE,
    )
    return _BUSY.get(done.exit_status)
