"""How much of each host is free, as Placement tells administrators."""

import collections
import collections.abc
import dataclasses
import math

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest
from rally_vmperf.measurement.comparison import host_names

Needs = collections.abc.Mapping[str, int]

#: Resource class -> what people call it.
LABELS = {
    "VCPU": "vCPUs",
    "PCPU": "pinned CPUs",
    "MEMORY_MB": "MiB of memory",
    "DISK_GB": "GiB of disk",
}
#: First version that can be asked for some hosts of many, and the first that
#: can be asked for one of them alone.
_VERSION, _OF_ONE = "1.16", "1.31"
#: Hosts up to which each is asked for by its name, and not all are listed.
_FEW = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Demand:
    """Guests of one group, as hosts and quota count them.

    :param from_volume: they take no disk of a host
    """

    flavor: guest.Flavor
    count: int
    from_volume: bool = False

    @property
    def each(self) -> dict[str, int]:
        """What one guest takes of a host, by resource class."""
        pinned = self.flavor.extra_specs.get("hw:cpu_policy") == "dedicated"
        wanted = {
            "PCPU" if pinned else "VCPU": self.flavor.vcpus,
            "MEMORY_MB": self.flavor.memory_mib,
            "DISK_GB": 0 if self.from_volume else self.flavor.disk_gib,
        }
        return {kind: amount for kind, amount in wanted.items() if amount}


def total(demands: collections.abc.Iterable[Demand]) -> dict[str, int]:
    """Return what all guests take together, by resource class."""
    found: collections.Counter[str] = collections.Counter()
    for demand in demands:
        for kind, amount in demand.each.items():
            found[kind] += amount * demand.count
    return dict(found)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """The resources that Nova may allocate on a host, with overcommitment.

    :param capacity: by resource class
    :param used: likewise, by whatever runs there
    """

    name: str
    capacity: dict[str, int]
    used: dict[str, int]

    def free(self, kind: str, percent: float) -> float:
        """Return what is free of a resource class within a share of it."""
        if kind not in self.capacity:
            return 0
        return self.capacity[kind] * percent / 100 - self.used[kind]

    def fits(self, each: Needs, percent: float) -> int:
        """Return how many more guests keep it within a share of itself."""
        return min(
            int(self.free(kind, percent)) // need
            for kind, need in each.items()
        )

    def share(self, needs: Needs) -> float:
        """Return how full it is with this in it as well, in percent.

        Of what is scarcest.
        """
        return max(
            (self.used[kind] + need) / self.capacity[kind] * 100
            if kind in self.capacity
            else math.inf
            for kind, need in needs.items()
        )

    def and_of(self, other: "Host | None") -> "Host":
        """Return this host with the resource classes of another answer too."""
        if other is None:
            return self
        return Host(
            name=self.name,
            capacity={**other.capacity, **self.capacity},
            used={**other.used, **self.used},
        )


def hosts(
    admin: sdk.Connection,
    each: Needs,
    names: collections.abc.Set[str],
    limit: int | None = None,
) -> list[Host] | None:
    """Return the hosts that have room for a guest; None if not known.

    :param names: of the hosts that are looked at, empty for all, which then
        have Placement's identifiers for names
    :param limit: so many of them are enough
    """
    resources = ",".join(f"{kind}:{amount}" for kind, amount in each.items())
    summaries, providers = None, {}
    with cloud.asking("ask Placement for room"), cloud.unless_forbidden():
        query, version = f"resources={resources}", _VERSION
        if names:
            providers = _providers(admin, names)
        if len(names) == len(providers) == 1:
            (only,) = providers
            query, version = f"{query}&in_tree={only}", _OF_ONE
        if limit is not None:
            query = f"{query}&limit={limit}"
        answer = admin.placement.get(
            f"/allocation_candidates?{query}", microversion=version
        )
        if answer.ok:
            summaries = answer.json()["provider_summaries"]
    if summaries is None or len(providers) < len(names):
        return None
    found = []
    for identifier, summary in summaries.items():
        name, resources = providers.get(identifier), summary["resources"]
        if not names:
            name = identifier
        # Disks may be shared, CPUs in a provider of their own: no whole host.
        if name is None or not each.keys() <= resources.keys():
            continue
        found.append(
            Host(
                name=name,
                capacity={k: resources[k]["capacity"] for k in each},
                used={k: resources[k]["used"] for k in each},
            )
        )
    if summaries and not found and not names:
        return None
    return sorted(found, key=lambda host: host.name)


def may_fit(
    found: collections.abc.Sequence[Host],
    demands: collections.abc.Iterable[Demand],
    percent: float,
    *,
    shared: bool,
) -> bool:
    """Tell whether the sum of all guests may fit within a share of the hosts.

    :param shared: they must all fit on one of the hosts; else only the sums
        are compared, so that some spread may still be impossible
    """
    needs = total(demands)
    if shared:
        return any(host.share(needs) <= percent for host in found)
    return all(
        need <= sum(max(0.0, host.free(kind, percent)) for host in found)
        for kind, need in needs.items()
    )


def named(admin: sdk.Connection, host: Host) -> Host:
    """Return a host under its name in place of Placement's identifier."""
    with cloud.asking("ask Placement for a host"), cloud.unless_forbidden():
        for one in admin.placement.resource_providers(id=host.name):
            return dataclasses.replace(host, name=one.name)
    return host


def _providers(
    admin: sdk.Connection, names: collections.abc.Set[str]
) -> dict[str, str]:
    """Return the names of hosts by their identifiers.

    :param names: of those that are looked for; what is not there, or may be
        this or that, is left out
    """
    providers = admin.placement.resource_providers
    if len(names) <= _FEW:
        exact = [x for name in sorted(names) for x in providers(name=name)]
        if len(exact) == len(names):
            return {one.id: one.name for one in exact}
    every = {one.id: one.name for one in providers()}
    chosen = {}
    for name in names:
        found = [
            x for x, other in every.items() if host_names.same(name, other)
        ]
        if len(found) == 1:
            chosen[found[0]] = every[found[0]]
    return chosen
