# SPDX-License-Identifier: Apache-2.0
"""Glance, in memory."""

import collections.abc
import hashlib
import typing as t

from openstack.image.v2 import _proxy

from tests.unit.guests.testing import calls

#: The data of each image.
DATA = b"disk" * 1000
_BASE = {"tags": [], "visibility": "shared", "protected": False}


class FakeImage:
    """Glance: one image, with its own properties and its data."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_images = [
            calls.Thing(
                id="i1",
                name="debian",
                status="active",
                min_ram=0,
                min_disk=2,
                size=len(DATA),
                virtual_size=3 << 30,
                os_hash_algo="sha512",
                os_hash_value=hashlib.sha512(DATA).hexdigest(),
                disk_format="qcow2",
                container_format="bare",
                hw_rng_model="virtio",
                **_BASE,
            )
        ]
        #: The data that a download returns.
        self.data = DATA
        #: Properties that Glance does not store.
        self.ignored: set[str] = set()

    @calls.call
    def images(self, **query: str) -> list[calls.Thing]:
        tag = query.pop("tag", None)
        return [
            image
            for image in calls.matching(self.all_images, query)
            if tag is None or tag in getattr(image, "tags", ())
        ]

    @calls.call
    def get(self, path: str, stream: bool = False) -> calls.Thing:
        image = self._find(path)
        return calls.Thing(
            status_code=200,
            json=lambda: vars(image),
            iter_content=lambda size: iter((self.data[:9], self.data[9:])),
        )

    @calls.call
    def post(self, path: str, json: dict[str, t.Any]) -> calls.Thing:
        created = {key: json[key] for key in json if key not in self.ignored}
        image = calls.Thing(
            id=f"image{len(self.all_images)}",
            **{**_BASE, "status": "queued", "size": None, **created},
        )
        self.all_images.append(image)
        return calls.Thing(status_code=201, json=lambda: vars(image))

    @calls.call
    def put(
        self,
        path: str,
        data: collections.abc.Iterable[bytes],
        headers: dict[str, str],
    ) -> calls.Thing:
        image = self._find(path)
        image.status = "saving"
        content = b"".join(data)
        image.status, image.size = "active", len(content)
        image.os_hash_algo = "sha512"
        image.os_hash_value = hashlib.sha512(content).hexdigest()
        return calls.Thing(status_code=204)

    @calls.call
    def delete_image(self, identifier: str, ignore_missing: bool) -> None:
        self.all_images[:] = [
            image for image in self.all_images if image.id != identifier
        ]

    def _find(self, path: str) -> calls.Thing:
        """Return the image in /images/ID or /images/ID/file."""
        identifier = path.split("/")[2]
        return next(
            image for image in self.all_images if image.id == identifier
        )
