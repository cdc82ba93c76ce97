"""Placement, in memory."""

import typing as t

from tests.unit.guests.testing import calls


class FakePlacement:
    """Placement: what is free on hosts, for administrators."""

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
        self.asked: list[str] = []

    @calls.call
    def resource_providers(self) -> list[calls.Thing]:
        return [
            calls.Thing(id=f"rp-{name}", name=name) for name in self.all_hosts
        ]

    @calls.call
    def get(self, path: str, microversion: str) -> calls.Thing:
        self.asked.append(path)
        wanted = {
            kind: int(amount)
            for kind, amount in (
                one.split(":") for one in path.partition("=")[2].split(",")
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
            if all(
                resources[kind][0] - resources[kind][1] >= amount
                for kind, amount in wanted.items()
            )
        }
        return calls.Thing(
            ok=self.ok, json=lambda: {"provider_summaries": summaries}
        )
