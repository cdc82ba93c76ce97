# SPDX-License-Identifier: Apache-2.0
"""The capacity of all hosts in one sentence per flavor and in all."""

import collections.abc
import dataclasses

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema
from rally_vmperf.audit import hosts
from rally_vmperf.measurement.comparison import host_names
from rally_vmperf.measurement.samples import units

_AMOUNT = json_schema.number(minimum=0)
_INVENTORY = json_schema.mapping(
    {
        "total": _AMOUNT,
        "reserved": _AMOUNT,
        "allocation_ratio": json_schema.number(exclusiveMinimum=0),
    },
    *("total", "allocation_ratio"),
)
#: JSON Schema of the inventories of hosts, by host and resource class.
SCHEMA: documents.Schema = json_schema.values(json_schema.values(_INVENTORY))

#: The inventory of a host in Placement by resource class.
Inventory = collections.abc.Mapping[str, collections.abc.Mapping[str, float]]
#: The inventories in Placement by host.
Inventories = collections.abc.Mapping[str, Inventory]
#: The flavor of the capacity in all.
ALL = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Capacity:
    """The capacity of the hosts that were measured with a flavor, or of all.

    :param flavor: The name of the flavor; empty for the capacity in all.
    :param hosts: The number of hosts whose capacity was measured.
    :param guests: The guests that keep the limits on them; in all, the vCPUs.
    :param vcpus: The vCPUs of these guests.
    :param cpus: The CPUs of these hosts; None if they are not known.
    :param is_lower_bound: Whether more guests may keep the limits.
    :param admitted: The guests that Placement admits on them, in all the
        vCPUs; None if its inventories are not known.
    :param ratios: The smallest and largest allocation ratio of their CPUs;
        empty if not known.
    :param required: The smallest accepted number of guests; None without one.
    """

    flavor: str
    hosts: int
    guests: int
    vcpus: int
    cpus: int | None
    is_lower_bound: bool
    admitted: int | None = None
    ratios: tuple[float, ...] = ()
    required: int | None = None

    @property
    def is_too_small(self) -> bool:
        """Whether fewer guests than required are known to keep the limits."""
        return self.required is not None and self.guests < self.required

    def sentence(self) -> str:
        """Return the capacity as one sentence without a full stop."""
        guests = f"guests of {self.flavor}" if self.flavor else "vCPUs"
        start = units.number_of("host", self.hosts)
        if not self.flavor:
            start += " in all"
        text = f"{start}: "
        if self.admitted is not None:
            ratio = " to ".join(f"{ratio:.1f}" for ratio in self.ratios)
            ratio_text = f" (allocation ratio {ratio})" if ratio else ""
            text += f"Placement admits {self.admitted} {guests}{ratio_text}, "
            guests = ""
        number = f"at least {self.guests}"
        verb = "keep"
        if not self.is_lower_bound:
            number = str(self.guests)
            verb = "keeps" if self.guests == 1 else "keep"
        text += " ".join(filter(None, (number, guests, verb, "the limits")))
        if self.cpus:
            text += f" ({self.vcpus / self.cpus:.2f} vCPUs per CPU)"
        if self.is_too_small:
            text += f"; fewer than the required {self.required}"
        return text


def sum_capacities(
    audited: collections.abc.Iterable[hosts.Host],
    inventories: Inventories | None = None,
    required: collections.abc.Mapping[str, int] | None = None,
) -> list[Capacity]:
    """Return the capacity for each flavor, and in all for several flavors.

    Several flavors on one host are alternatives. In all, a host counts with
    the flavor whose guests have the fewest vCPUs within the limits. Guests at
    several loads have no number in all.

    :param inventories: The inventories in Placement; None if not known.
    :param required: The smallest accepted number of guests by flavor; the
        empty name stands for every flavor.
    :raises VMPerfError: If a required flavor was not measured.
    """
    by_flavor: dict[str, list[_HostCapacity]] = {}
    smallest: list[_HostCapacity] = []
    for host in audited:
        of_host = [
            _HostCapacity(host, capacity, _find_inventory(inventories, host))
            for capacity in host.capacities.values()
        ]
        for flavor, host_capacity in zip(
            host.capacities, of_host, strict=True
        ):
            by_flavor.setdefault(flavor, []).append(host_capacity)
        if of_host:
            smallest.append(min(of_host, key=lambda capacity: capacity.vcpus))
    loads = {
        host_capacity.capacity.load
        for of_flavor in by_flavor.values()
        for host_capacity in of_flavor
    }
    required = required or {}
    for flavor in required:
        if flavor != ALL and flavor not in by_flavor:
            raise errors.VMPerfError(
                f"--min-guests {flavor}={required[flavor]}: the audit has no "
                "number of guests of this flavor (it has: "
                f"{', '.join(by_flavor) or 'none'})"
            )
    if required and not by_flavor:
        raise errors.VMPerfError(
            f"--min-guests {required[ALL]}: the audit has no numbers of "
            "guests; measure them with density: true"
        )
    capacities = [
        _sum(flavor, of_flavor, required.get(flavor, required.get(ALL)))
        for flavor, of_flavor in by_flavor.items()
    ]
    return (
        [*capacities, _sum(ALL, smallest)]
        if len(capacities) > 1 and len(loads) == 1
        else capacities
    )


@dataclasses.dataclass(frozen=True)
class _HostCapacity:
    """The capacity of one host for one flavor.

    :param inventory: Its inventory in Placement; None if not known.
    """

    host: hosts.Host
    capacity: hosts.GuestCapacity
    inventory: Inventory | None

    @property
    def vcpus(self) -> int:
        """The vCPUs of the guests that keep the limits."""
        return self.capacity.found.proven * self.capacity.vcpus

    @property
    def admitted(self) -> int | None:
        """The guests that Placement admits on the empty host, or None."""
        if self.inventory is None:
            return None
        numbers = []
        for kind, need in self.capacity.needs.items():
            resource = self.inventory.get(kind)
            if resource is None:
                # Disks may be shared, and have a provider of their own.
                if kind == "DISK_GB":
                    continue
                return 0
            free = resource["total"] - resource.get("reserved", 0)
            numbers.append(int(free * resource["allocation_ratio"]) // need)
        return min(numbers, default=0)

    @property
    def ratio(self) -> float | None:
        """The allocation ratio of its CPUs; None if not known."""
        for kind in ("VCPU", "PCPU"):
            if kind in self.capacity.needs and self.inventory:
                resource = self.inventory.get(kind)
                return resource["allocation_ratio"] if resource else None
        return None


def _sum(
    flavor: str, parts: list[_HostCapacity], required: int | None = None
) -> Capacity:
    """Return the capacity of hosts for a flavor, or in all."""
    admitted: list[int] = []
    for host_capacity in parts:
        if host_capacity.admitted is not None:
            vcpus = 1 if flavor else host_capacity.capacity.vcpus
            admitted.append(host_capacity.admitted * vcpus)
    ratios = {
        host_capacity.ratio
        for host_capacity in parts
        if host_capacity.ratio is not None
    }
    cpus = [host_capacity.host.cpus for host_capacity in parts]
    vcpus = sum(host_capacity.vcpus for host_capacity in parts)
    return Capacity(
        flavor=flavor,
        hosts=len(parts),
        guests=sum(
            host_capacity.capacity.found.proven for host_capacity in parts
        )
        if flavor
        else vcpus,
        vcpus=vcpus,
        cpus=sum(cpus) if all(cpus) else None,
        is_lower_bound=any(
            host_capacity.capacity.found.is_lower_bound
            for host_capacity in parts
        ),
        admitted=sum(admitted) if len(admitted) == len(parts) else None,
        ratios=tuple(sorted({min(ratios), max(ratios)})) if ratios else (),
        required=required,
    )


def _find_inventory(
    inventories: Inventories | None, host: hosts.Host
) -> Inventory | None:
    """Return the inventory of a host in Placement; None if not known."""
    if inventories is None:
        return None
    if host.name in inventories:
        return inventories[host.name]
    matches = [
        name for name in inventories if host_names.same(name, host.name)
    ]
    return inventories[matches[0]] if len(matches) == 1 else None
