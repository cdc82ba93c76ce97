"""From what Nova says of guests to machines that answer."""

import asyncio
import collections.abc
import dataclasses
import secrets
import typing as t

from rally_vmperf.execution import station as stations
from rally_vmperf.execution import together
from rally_vmperf.machines import base
from rally_vmperf.machines import settling
from rally_vmperf.machines import ssh

Guest = collections.abc.Mapping[str, t.Any]


def connect(guest: Guest, client_key: str) -> ssh.Ssh:
    """Return the machine of a guest; the host key must be the one we made."""
    return ssh.Ssh(
        guest["name"],
        host=guest["address"],
        port=guest.get("port", 22),
        user=guest["user"],
        client_key=client_key,
        host_key=guest["host_key"],
    )


def guest_stations(
    guests: collections.abc.Sequence[Guest], client_key: str
) -> list[stations.Station]:
    """Return the stations of booted guests, paired and with their ports."""
    places = [
        stations.Station(
            name=guest["name"],
            machine=connect(guest, client_key),
            role="guest",
            folder="rally-vmperf",
            address=guest["measure_address"],
        )
        for guest in guests
    ]
    stations.pair_up(places)
    stations.number_ports(places)
    return places


def peer_station(peer: Guest) -> stations.Station:
    """Return the station of a peer as a task or the command line names it.

    Its host key must be in ``known_hosts``, by default the user's own file.
    """
    machine = ssh.Ssh(
        peer.get("name", "peer"),
        host=peer["address"],
        port=peer.get("port", 22),
        user=peer.get("user", "root"),
        key_file=peer.get("key_file"),
        known_hosts=peer.get("known_hosts"),
    )
    return stations.Station(
        name=machine.name,
        machine=machine,
        role="peer",
        folder=f"rally-vmperf-{secrets.token_hex(4)}",
        address=peer["address"],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arrival:
    """How a booting guest came up.

    :param trouble: in one line why it never answered, or None
    :param busy: what was still at work in it when time was up, or None
    """

    trouble: str | None = None
    busy: str | None = None


def wait_all(
    guests: collections.abc.Sequence[Guest],
    client_key: str,
    timeout: float,
    on_progress: t.Callable[[str], None],
) -> list[Arrival]:
    """Wait until every guest answers SSH and has booted, all at once.

    :param timeout: seconds
    """
    return asyncio.run(_wait_all(guests, client_key, timeout, on_progress))


async def _wait_all(
    guests: collections.abc.Sequence[Guest],
    client_key: str,
    timeout: float,
    on_progress: t.Callable[[str], None],
) -> list[Arrival]:
    loop = asyncio.get_running_loop()
    begin = loop.time()

    def passed() -> float:
        return loop.time() - begin

    async def wait(guest: Guest) -> Arrival:
        async with connect(guest, client_key) as machine:
            while True:
                try:
                    await machine.wait_ready(timeout - passed())
                    on_progress(
                        f"{guest['name']} answers SSH at {guest['address']} "
                        f"after {passed():.0f} s"
                    )
                    busy = await settling.settle(machine, timeout - passed())
                except base.Unreachable as error:
                    if passed() >= timeout:
                        return Arrival(trouble=str(error))
                except base.MachineError as error:
                    return Arrival(trouble=str(error))
                else:
                    break
        state = f"still runs {busy}" if busy else "has booted"
        on_progress(f"{guest['name']} {state} after {passed():.0f} s")
        return Arrival(busy=busy)

    return await together.together(wait(guest) for guest in guests)
