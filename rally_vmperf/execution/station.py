"""A machine with its part in a run: guest, bare-metal copy or peer."""

import dataclasses
import typing as t

from rally_vmperf.machines import base

Role = t.Literal["guest", "copy", "peer"]

#: TCP ports of the peer that stations use, each its own few.
FIRST_PORT = 5201
PORTS_EACH = 4


@dataclasses.dataclass(kw_only=True)
class Station:
    """Where commands run, and how others reach it.

    :param name: what samples call it
    :param parent: where on the machine the session that opens makes a folder
        for it; a relative one is below the user's home, an empty one that
    :param folder: that folder, as the machine named it
    :param address: how another machine reaches it; empty if nobody has to
    :param prefix: words put before every measured command, which hold bare
        metal to a shape
    :param partner: the machine at the other end of guest-to-guest work;
        stations without one run no such work
    :param spent: places of finished jobs that are still to be cleared away
    """

    name: str
    machine: base.Machine
    role: Role
    parent: str = ""
    folder: str = ""
    address: str = ""
    prefix: tuple[str, ...] = ()
    port: int = FIRST_PORT
    partner: "Station | None" = None
    spent: list[str] = dataclasses.field(default_factory=list)

    def folder_of(self, title: str) -> str:
        """Return the folder of a workload."""
        return f"{self.folder}/{title}"


def pair_up(stations: list[Station]) -> None:
    """Give every other station the next one as its partner."""
    for client, server in zip(stations[::2], stations[1::2], strict=False):
        client.partner = server


def number_ports(stations: list[Station]) -> None:
    """Give each station ports of its own at the peer."""
    for index, station in enumerate(stations):
        station.port = FIRST_PORT + index * PORTS_EACH
