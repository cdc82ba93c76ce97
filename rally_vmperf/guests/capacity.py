"""How much of each host is free, as Placement tells administrators."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud

Needs = collections.abc.Mapping[str, int]

#: Resource class -> what people call it.
WORDS = {
    "VCPU": "vCPUs",
    "PCPU": "pinned CPUs",
    "MEMORY_MB": "MiB of memory",
    "DISK_GB": "GiB of disk",
}
#: First version whose answer is in the form that is read here.
_VERSION = "1.12"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """What Nova may give away on a host, overcommitment included.

    :param capacity: by resource class
    :param used: likewise, by whatever runs there
    """

    name: str
    capacity: dict[str, int]
    used: dict[str, int]

    def fits(self, each: Needs, percent: float) -> int:
        """Return how many more guests keep it within a share of itself."""
        return min(
            int(self.capacity[kind] * percent / 100 - self.used[kind]) // need
            for kind, need in each.items()
        )

    def share(self, each: Needs, guests: int) -> float:
        """Return how full it is with so many more guests, in percent.

        Of what is scarcest.
        """
        return max(
            (self.used[kind] + need * guests) / self.capacity[kind] * 100
            for kind, need in each.items()
        )


def needs(
    flavor: t.Any,
    extra_specs: collections.abc.Mapping[str, str],
    from_volume: bool,
) -> dict[str, int]:
    """Return what one guest takes of a host, by resource class."""
    pinned = extra_specs.get("hw:cpu_policy") == "dedicated"
    wanted = {
        "PCPU" if pinned else "VCPU": flavor.vcpus,
        "MEMORY_MB": flavor.ram,
        "DISK_GB": 0 if from_volume else flavor.disk,
    }
    return {kind: amount for kind, amount in wanted.items() if amount}


def hosts(
    admin: sdk.Connection, each: Needs, names: collections.abc.Set[str]
) -> list[Host] | None:
    """Return the hosts that have room for a guest; None if not known.

    :param names: of the hosts that are looked at, empty for all
    """
    resources = ",".join(f"{kind}:{amount}" for kind, amount in each.items())
    with cloud.asking("ask Placement for room"):
        try:
            providers = {
                one.id: one.name
                for one in admin.placement.resource_providers()
            }
            answer = admin.placement.get(
                f"/allocation_candidates?resources={resources}",
                microversion=_VERSION,
            )
            if not answer.ok:
                return None
            summaries = answer.json()["provider_summaries"]
        except cloud.REFUSALS as error:
            if cloud.passing(error):
                raise
            return None
    wanted = {_short(name) for name in names}
    known = {_short(name) for name in providers.values()}
    if not wanted <= known:
        return None
    found = []
    for identifier, summary in summaries.items():
        name, resources = providers.get(identifier), summary["resources"]
        # Disks may be shared, CPUs in a provider of their own: no whole host.
        if name is None or not each.keys() <= resources.keys():
            continue
        if not wanted or _short(name) in wanted:
            found.append(
                Host(
                    name=name,
                    capacity={k: resources[k]["capacity"] for k in each},
                    used={k: resources[k]["used"] for k in each},
                )
            )
    if summaries and not found and not wanted:
        return None
    return sorted(found, key=lambda host: host.name)


def _short(name: str) -> str:
    return name.split(".")[0].lower()
