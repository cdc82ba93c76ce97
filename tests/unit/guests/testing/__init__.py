# SPDX-License-Identifier: Apache-2.0
"""A cloud in memory, with as much of the SDK's interface as guests need."""

import collections.abc
import itertools
import typing as t

from tests.unit.guests.testing import block_storage
from tests.unit.guests.testing import calls
from tests.unit.guests.testing import compute
from tests.unit.guests.testing import identity
from tests.unit.guests.testing import image
from tests.unit.guests.testing import network
from tests.unit.guests.testing import placement


class FakeCloud:
    """A connection to a cloud that keeps everything in dictionaries.

    It has an image, a flavor, an external network ``public`` and, behind a
    router, ``private``. Servers are active the second time they are listed,
    and gone the second time after their deletion. Interruptions can be had
    at any call, by its number or name.

    :param interrupt: A function that is called before (False) and after (True)
        each call takes effect; the call raises its exceptions
    """

    def __init__(
        self,
        interrupt: collections.abc.Callable[[str, bool], None] | None = None,
    ) -> None:
        self.interrupt = interrupt or (lambda name, is_done: None)
        self.calls: list[str] = []
        #: How many things all answers together had.
        self.listed = 0
        self.queries: list[tuple[str, dict[str, t.Any]]] = []
        self.current_project_id = "p1"
        self.current_project = calls.Thing(id="p1", name="member")
        self.compute = compute.FakeCompute(self)
        self.network = network.FakeNetwork(self)
        self.identity = identity.FakeIdentity(self)
        self.image = image.FakeImage(self)
        self.placement = placement.FakePlacement(self)
        self.block_storage = block_storage.FakeBlockStorage(self)
        self.services = {"block-storage"}
        self._numbers = itertools.count(1)

    def add(self, things: calls.Things, **attributes: t.Any) -> calls.Thing:
        """Keep a new thing under an identifier of its own."""
        thing = calls.Thing(id=f"id{next(self._numbers)}", **attributes)
        things[thing.id] = thing
        return thing

    def authorize(self) -> None:
        """Log in, as everybody may."""

    def has_service(self, key: str) -> bool:
        """Return whether the catalogue names a service."""
        return key in self.services

    def left(self) -> list[str]:
        """Return the resources that were created and not deleted."""
        made = (
            self.compute.all_servers,
            self.compute.all_keypairs,
            self.network.all_ips,
            self.network.all_groups,
            self.compute.all_groups,
            self.block_storage.all_volumes,
        )
        named = [port.id for port in self.network.all_ports if port.name]
        copies = [
            resource.id
            for resource in (
                *self.compute.all_flavors,
                *self.image.all_images,
            )
            if resource.name.startswith("c_rally_")
        ]
        return [key for things in made for key in things] + named + copies
