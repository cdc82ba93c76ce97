"""A machine with its part in a run: guest, bare-metal copy or peer."""

import dataclasses
import typing as t

from rally_vmperf.machines import base

Role = t.Literal["guest", "copy", "peer"]


@dataclasses.dataclass(kw_only=True)
class Station:
    """Where commands run, and how others reach it.

    :param name: in samples and messages
    :param parent: where on the machine the session that opens makes a folder
        for it; a relative one is below the user's home, an empty one that
    :param folder: that folder, as the machine named it
    :param address: how another machine reaches it; empty if nobody has to
    :param prefix: words put before every measured command, which hold bare
        metal to a shape
    :param tools: words put before every command, which make it find the
        programs of a bundle
    :param partner: the machine at the other end of guest-to-guest work;
        stations without one run no such work
    :param finished: paths of finished jobs that are still to be removed
    """

    name: str
    machine: base.Machine
    role: Role
    parent: str = ""
    folder: str = ""
    address: str = ""
    prefix: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    partner: "Station | None" = None
    finished: list[str] = dataclasses.field(default_factory=list)

    def folder_of(self, title: str) -> str:
        """Return the folder of a workload."""
        return f"{self.folder}/{title}"


def pair_up(stations: list[Station]) -> None:
    """Give every other station the next one as its partner."""
    for client, server in zip(stations[::2], stations[1::2], strict=False):
        client.partner = server
