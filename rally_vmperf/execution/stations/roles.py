# SPDX-License-Identifier: Apache-2.0
"""A machine with its role: guest, bare-metal copy, peer or control."""

import asyncio
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines.provisioning import devices

Role = t.Literal["guest", "copy", "peer", "control"]
AttachAgain = collections.abc.Callable[
    [], collections.abc.Coroutine[t.Any, t.Any, t.Any]
]
WaitForReturn = collections.abc.Callable[
    [], collections.abc.Coroutine[t.Any, t.Any, bool]
]


@dataclasses.dataclass(kw_only=True)
class Station:
    """A machine that runs commands, with its address and directories.

    :param name: The name in samples and messages.
    :param parent: The parent of the work directory on the machine; relative to
        the home directory, empty for the home directory.
    :param folder: The work directory, which the machine has named.
    :param available_bytes: The number of bytes that were available in the work
        directory when it was created; None if it is not known.
    :param address: The address for other machines; empty if not required.
    :param listen_address: The address to which servers on the peer are bound;
        empty for all addresses.
    :param prefix: The arguments before every measured command, which limit
        bare metal to a shape.
    :param tools: The arguments before every command, which add the programs of
        a bundle.
    :param partner: The other end of guest-to-guest workloads; stations without
        a partner do not run them.
    :param volumes: The volumes that workloads can measure, by their number,
        beginning with 1.
    :param attach_again: A function that provides the volumes again, after a
        reboot; None if they are not provided.
    :param finished: The paths of finished jobs, and of files that no command
        reads any more, which are removed before the next command.
    :param wait_for_return: A function that waits until the station, which is
        stopped on purpose while it runs a workload, answers again, and returns
        whether it does; None if it is not stopped.
    """

    name: str
    machine: base.Machine
    role: Role
    parent: str = ""
    folder: str = ""
    available_bytes: int | None = None
    address: str = ""
    listen_address: str = ""
    prefix: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    partner: "Station | None" = None
    volumes: tuple[devices.Device, ...] = ()
    attach_again: AttachAgain | None = None
    finished: list[str] = dataclasses.field(default_factory=list)
    wait_for_return: WaitForReturn | None = None

    @property
    def device_paths(self) -> tuple[str, ...]:
        """The paths of the raw devices of bare metal among its volumes."""
        return tuple(volume.path for volume in self.volumes if volume.path)

    def folder_of(self, title: str) -> str:
        """Return the path of a workload's directory on the station."""
        return f"{self.folder}/{title}"

    def discard_later(
        self, folder: str, names: collections.abc.Iterable[str]
    ) -> None:
        """Remove files in a directory before the next command starts."""
        self.finished += [f"{folder}/{name}" for name in names]


async def close_connections(
    stations: collections.abc.Iterable[Station],
) -> None:
    """Close the connections to the stations concurrently."""
    await asyncio.gather(*(station.machine.close() for station in stations))


def pair_up(stations: list[Station]) -> None:
    """Give every other station the next one as its partner."""
    for client, server in zip(stations[::2], stations[1::2], strict=False):
        client.partner = server
