# SPDX-License-Identifier: Apache-2.0
"""Free resources of hosts, which Placement shows to administrators."""

import collections
import collections.abc
import dataclasses
import math

from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import host_names

Needs = collections.abc.Mapping[str, int]

#: Resource class -> label.
LABELS = {
    "VCPU": "vCPUs",
    "PCPU": "pinned CPUs",
    "MEMORY_MB": "MiB of memory",
    "DISK_GB": "GiB of disk",
}
#: The first versions of the API with a limit of hosts, and with a filter for
#: one host.
_VERSION, _VERSION_WITH_MEMBER = "1.16", "1.31"
_RESOURCE = json_schema.mapping(
    {"capacity": json_schema.number(), "used": json_schema.number()},
    *("capacity", "used"),
)
_SUMMARY = json_schema.mapping(
    {"resources": json_schema.values(_RESOURCE)}, "resources"
)
_CANDIDATES = json_schema.mapping(
    {"provider_summaries": json_schema.values(_SUMMARY)}, "provider_summaries"
)
#: Up to this number of hosts each is requested by its name.
_FEW = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Demand:
    """The demand of one group of guests: its image and its flavor.

    :param image_bytes: The bytes that the image has at least in the file
        system of a guest; 0 if they are not known.
    :param realtime_mask: The property ``hw_cpu_realtime_mask`` of the image,
        or "".
    """

    group: request.Group
    image: models.Image
    flavor: models.Flavor
    image_bytes: int = 0
    realtime_mask: str = ""

    @property
    def count(self) -> int:
        """The number of guests."""
        return self.group.count

    @property
    def disk_gib(self) -> int:
        """The size of the boot disk of a guest in GiB."""
        volume = self.group.boot_volume
        return volume.size_gib if volume else self.flavor.disk_gib

    @property
    def cpu_policy(self) -> promises.CpuPolicy:
        """The policy of the vCPUs of a guest."""
        return promises.find_cpu_policy(
            self.flavor.extra_specs, self.image.cpu_policy
        )

    @property
    def dedicated_cpus(self) -> int | None:
        """The number of CPUs of its own; None if no mask tells it."""
        return promises.count_dedicated(
            self.flavor.extra_specs,
            self.image.cpu_policy,
            self.realtime_mask,
            self.flavor.vcpus,
        )

    @property
    def per_guest(self) -> dict[str, int]:
        """Return the demand of one guest as an amount per resource class."""
        return promises.list_needs(
            self.flavor.vcpus,
            self.dedicated_cpus or 0,
            self.flavor.memory_mib,
            promises.count_local_gib(
                0 if self.group.boot_volume else self.flavor.disk_gib,
                self.flavor.ephemeral_gib,
                self.flavor.swap_mib,
            ),
        )


def sum_demands(demands: collections.abc.Iterable[Demand]) -> dict[str, int]:
    """Return the demand of all guests as an amount per resource class."""
    totals: collections.Counter[str] = collections.Counter()
    for demand in demands:
        for kind, amount in demand.per_guest.items():
            totals[kind] += amount * demand.count
    return dict(totals)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostCapacity:
    """The resources that Nova may allocate on a host, with overcommitment.

    :param capacity: The capacity by resource class.
    :param used: The used part of the capacity by resource class.
    """

    name: str
    capacity: dict[str, int]
    used: dict[str, int]

    def free(self, kind: str, percent: float) -> float:
        """Return the free amount of a resource class within a share of it."""
        if kind not in self.capacity:
            return 0
        return self.capacity[kind] * percent / 100 - self.used[kind]

    def guests_that_fit(self, needs: Needs, percent: float) -> int:
        """Return the number of guests that fit within a share of the host."""
        return min(
            int(self.free(kind, percent)) // need
            for kind, need in needs.items()
        )

    def utilisation(self, needs: Needs) -> float:
        """Return the utilisation with additional needs, in percent.

        It is that of the scarcest resource class.
        """
        return max(
            (self.used[kind] + need) / self.capacity[kind] * 100
            if kind in self.capacity
            else math.inf
            for kind, need in needs.items()
        )

    def merge(self, other_capacity: "HostCapacity | None") -> "HostCapacity":
        """Return this host with the resource classes of another response."""
        if other_capacity is None:
            return self
        return HostCapacity(
            name=self.name,
            capacity={**other_capacity.capacity, **self.capacity},
            used={**other_capacity.used, **self.used},
        )


def find_hosts(
    admin: cloud.Connection,
    needs: Needs,
    names: collections.abc.Set[str],
    limit: int | None = None,
) -> list[HostCapacity] | None:
    """Return the hosts that have room for a guest; None if not known.

    :param needs: The needs of a guest, by resource class.
    :param names: The names of the hosts; empty for all hosts, whose names are
        then the identifiers in Placement.
    :param limit: The maximum number of hosts; None for all.
    """
    resources = ",".join(f"{kind}:{amount}" for kind, amount in needs.items())
    summaries, providers = None, {}
    with cloud.convert_errors("list free hosts"), cloud.skip_if_forbidden():
        query, version = f"resources={resources}", _VERSION
        if names:
            providers = _find_provider_names(admin, names)
        if len(names) == len(providers) == 1:
            (provider_id,) = providers
            query += f"&in_tree={provider_id}"
            version = _VERSION_WITH_MEMBER
        if limit is not None:
            query += f"&limit={limit}"
        answer = admin.placement.get(
            f"/allocation_candidates?{query}", microversion=version
        )
        if answer.ok:
            answered = cloud.parse_document(answer, _CANDIDATES)
            summaries = answered["provider_summaries"]
    if summaries is None or len(providers) < len(names):
        return None
    free_hosts = []
    for identifier, summary in summaries.items():
        name = providers.get(identifier) if names else identifier
        resources = summary["resources"]
        # A provider of shared disks, or of CPUs only, is not a whole host.
        if name is None or not needs.keys() <= resources.keys():
            continue
        free_hosts.append(
            HostCapacity(
                name=name,
                capacity={k: resources[k]["capacity"] for k in needs},
                used={k: resources[k]["used"] for k in needs},
            )
        )
    if summaries and not free_hosts and not names:
        return None
    return sorted(free_hosts, key=lambda host: host.name)


def may_fit(
    host_capacities: collections.abc.Sequence[HostCapacity],
    demands: collections.abc.Iterable[Demand],
    percent: float,
    *,
    shared: bool,
) -> bool:
    """Return whether the sum of all guests fits within a share of the hosts.

    :param shared: A flag that all guests must fit on one host. Otherwise only
        the sums are compared, so that the guests may not fit in fact.
    """
    needs = sum_demands(demands)
    if shared:
        return any(
            host.utilisation(needs) <= percent for host in host_capacities
        )
    return all(
        need
        <= sum(max(0.0, host.free(kind, percent)) for host in host_capacities)
        for kind, need in needs.items()
    )


def resolve_name(admin: cloud.Connection, host: HostCapacity) -> HostCapacity:
    """Return a host with its name in place of Placement's identifier."""
    with (
        cloud.convert_errors("read the name of a host"),
        cloud.skip_if_forbidden(),
    ):
        for provider in admin.placement.resource_providers(id=host.name):
            return dataclasses.replace(host, name=provider.name)
    return host


def _find_provider_names(
    admin: cloud.Connection, names: collections.abc.Set[str]
) -> dict[str, str]:
    """Return the names of hosts by their identifiers.

    :param names: The names of the hosts; missing and ambiguous names are
        omitted.
    """
    providers = admin.placement.resource_providers
    if len(names) <= _FEW:
        exact = [
            provider
            for name in sorted(names)
            for provider in providers(name=name)
        ]
        if len(exact) == len(names):
            return {provider.id: provider.name for provider in exact}
    listed = list(providers())
    chosen = {}
    for name in names:
        matches = [
            provider
            for provider in listed
            if host_names.same(name, provider.name)
        ]
        if len(matches) == 1:
            chosen[matches[0].id] = matches[0].name
    return chosen
