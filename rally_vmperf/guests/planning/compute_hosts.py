# SPDX-License-Identifier: Apache-2.0
"""The compute hosts of a cloud, and their inventories in Placement."""

import collections.abc
import typing as t

from openstack import exceptions

from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from rally_vmperf.measurement.comparison import host_names

_INVENTORY = json_schema.mapping(
    {
        "total": json_schema.number(minimum=0),
        "reserved": json_schema.number(minimum=0),
        "allocation_ratio": json_schema.number(exclusiveMinimum=0),
    },
    *("total", "reserved", "allocation_ratio"),
)
_INVENTORIES = json_schema.mapping(
    {"inventories": json_schema.values(_INVENTORY)}, "inventories"
)


def list_usable(
    admin: cloud.Connection,
    aggregate: str | None = None,
    zone: str | None = None,
) -> list[str]:
    """Return the names of enabled hosts that are up, as a sorted list.

    :param aggregate: The name of a host aggregate; None for all hosts.
    :param zone: The name of an availability zone; None for all zones.
    :raises GuestError: If Nova does not answer, or if the aggregate does not
        exist.
    """
    with cloud.convert_errors("list compute hosts, as administrator"):
        usable = {
            service.host
            for service in admin.compute.services(binary="nova-compute")
            if service.status == "enabled"
            and service.state == "up"
            and zone in (None, service.availability_zone)
        }
        if aggregate is not None:
            found = resolve.get_by_reference(
                "aggregate",
                request.ResourceReference(by="name", value=aggregate),
                list(admin.compute.aggregates()),
            )
            usable &= {*(found.hosts or ())}
    return sorted(usable)


def read_inventories(
    admin: cloud.Connection, names: collections.abc.Collection[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the inventories of hosts by name and resource class.

    Hosts that Placement does not know are omitted.

    :param names: The names of the hosts in Nova.
    :raises GuestError: If Placement does not answer.
    """
    inventories: dict[str, dict[str, dict[str, float]]] = {}
    with cloud.convert_errors("read inventories, as administrator"):
        providers = list(admin.placement.resource_providers())
        by_name: dict[str, t.Any] = {
            provider.name: provider for provider in providers
        }
        for name in names:
            provider = by_name.get(name) or next(
                (
                    other
                    for other in providers
                    if host_names.same(name, other.name)
                ),
                None,
            )
            if provider is None:
                continue
            answer = admin.placement.get(
                f"/resource_providers/{provider.id}/inventories"
            )
            exceptions.raise_from_response(answer)
            document = cloud.parse_document(answer, _INVENTORIES)
            inventories[name] = {
                kind: {
                    key: inventory[key]
                    for key in ("total", "reserved", "allocation_ratio")
                }
                for kind, inventory in document["inventories"].items()
            }
    return inventories
