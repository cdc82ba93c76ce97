# SPDX-License-Identifier: Apache-2.0
"""Placement, in memory."""

import typing as t
from urllib import parse

from openstack.placement.v1 import _proxy

from tests.unit.guests.testing import calls


class FakePlacement:
    """Placement: what is free on hosts, for administrators."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.ok = True
        #: Host -> resource class -> capacity and what is used of it.
        self.all_hosts: dict[str, dict[str, tuple[int, int]]] = {
            "h1": {
                "VCPU": (32, 0),
                "MEMORY_MB": (65536, 0),
                "DISK_GB": (1000, 0),
            }
        }
        self.paths: list[str] = []

    @calls.call
    def resource_providers(
        self, name: str = "", id: str = ""
    ) -> list[calls.Thing]:
        return [
            calls.Thing(id=f"rp-{host}", name=host)
            for host in self.all_hosts
            if name in ("", host) and id in ("", f"rp-{host}")
        ]

    @calls.call
    def get(self, path: str, microversion: str = "") -> calls.Thing:
        self.paths.append(path)
        if path.endswith("/inventories"):
            return self._inventories(path.split("/")[2].removeprefix("rp-"))
        query = dict(parse.parse_qsl(path.partition("?")[2]))
        amounts = {
            kind: int(amount)
            for kind, amount in (
                pair.split(":") for pair in query["resources"].split(",")
            )
        }
        summaries = {
            f"rp-{name}": {
                "resources": {
                    kind: {"capacity": capacity, "used": used}
                    for kind, (capacity, used) in resources.items()
                }
            }
            for name, resources in self.all_hosts.items()
            if query.get("in_tree") in (None, f"rp-{name}")
            and all(
                kind in resources
                and resources[kind][0] - resources[kind][1] >= amount
                for kind, amount in amounts.items()
            )
        }
        limit = int(query.get("limit", len(summaries)))
        summaries = dict(list(summaries.items())[:limit])
        self.cloud.listed += len(summaries)
        return calls.Thing(
            ok=self.ok, json=lambda: {"provider_summaries": summaries}
        )

    def _inventories(self, host: str) -> calls.Thing:
        """Return the response with the inventories of a host."""
        inventories = {
            kind: {
                "total": capacity,
                "reserved": 0,
                "allocation_ratio": 4.0 if kind == "VCPU" else 1.0,
                "max_unit": capacity,
            }
            for kind, (capacity, _) in self.all_hosts[host].items()
        }
        return calls.Thing(
            status_code=200 if self.ok else 403,
            headers={},
            url="http://placement",
            reason="Forbidden",
            text="",
            content=b"",
            json=lambda: {"inventories": inventories},
        )
