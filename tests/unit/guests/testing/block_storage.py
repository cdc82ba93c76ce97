# SPDX-License-Identifier: Apache-2.0
"""Cinder, in memory."""

import typing as t

from openstack import exceptions as sdk_errors
from openstack.block_storage.v3 import _proxy

from tests.unit.guests.testing import calls


class FakeBlockStorage:
    """Cinder: volumes, which are available the second time looked at."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_volumes: calls.Things = {}
        self.all_types = [calls.Thing(id="t1", name="ssd")]
        self.requests: list[dict[str, t.Any]] = []
        #: Path -> JSON of what is asked of Cinder's API itself.
        self.answers: dict[str, dict[str, t.Any]] = {}
        self.final_status = "available"
        self.limits = calls.Thing(
            max_total_volumes=10,
            total_volumes_used=0,
            max_total_volume_gigabytes=100,
            total_gigabytes_used=0,
        )
        self.quota = calls.Thing(per_volume_gigabytes=-1)

    @calls.call
    def types(self) -> list[calls.Thing]:
        return self.all_types

    @calls.call
    def get(self, path: str) -> calls.Thing:
        """Answer what the SDK has no word for."""
        answer = self.answers.get(path)
        return calls.Thing(ok=answer is not None, json=lambda: answer)

    @calls.call
    def get_limits(self) -> calls.Thing:
        return calls.Thing(absolute=self.limits)

    @calls.call
    def get_quota_set(self, project: str, usage: bool = False) -> calls.Thing:
        return self.quota

    @calls.call
    def create_volume(self, **request: t.Any) -> calls.Thing:
        self.requests.append(request)
        return self.cloud.add(
            self.all_volumes,
            **{"volume_type": "standard", **request},
            status="creating",
            detail=0,
            server=None,
            is_encrypted=False,
        )

    @calls.call
    def get_volume(self, identifier: str) -> calls.Thing:
        self._age(self.all_volumes[identifier])
        return self.all_volumes[identifier]

    @calls.call
    def volumes(
        self, all_projects: bool = False, **query: t.Any
    ) -> list[calls.Thing]:
        for volume in self.all_volumes.values():
            self._age(volume)
        if not all_projects:
            query["project_id"] = self.cloud.current_project_id
        return calls.matching(self.all_volumes.values(), query)

    @calls.call
    def delete_volume(self, identifier: str, ignore_missing: bool) -> None:
        volume = self.all_volumes.get(identifier)
        if volume and volume.status not in ("available", "error"):
            raise sdk_errors.BadRequestException(
                f"status is {volume.status}", http_status=400
            )
        self.all_volumes.pop(identifier, None)

    def attach(self, server: str, identifier: str) -> None:
        """Give a volume to a server, which takes it along when it goes."""
        volume = self.all_volumes[identifier]
        volume.server, volume.status = server, "in-use"

    def detach(self, server: str) -> None:
        """Delete what a server takes along."""
        for volume in list(self.all_volumes.values()):
            if volume.server == server:
                del self.all_volumes[volume.id]

    def _age(self, volume: calls.Thing) -> None:
        volume.detail += 1
        if volume.detail > 1 and volume.status == "creating":
            volume.status = self.final_status
