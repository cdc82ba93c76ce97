"""Glance, in memory."""

import typing as t

from tests.unit.guests.testing import calls


class FakeImage:
    """Glance: one image."""

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_images = [
            calls.Thing(
                id="i1",
                name="debian",
                status="active",
                min_ram=0,
                min_disk=2,
                size=1 << 29,
                virtual_size=3 << 30,
            )
        ]

    @calls.call
    def images(self, **query: str) -> list[calls.Thing]:
        return calls.matching(self.all_images, query)
