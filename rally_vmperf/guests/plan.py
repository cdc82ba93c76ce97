"""What guests will be made of, settled and checked before any is made."""

import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import quota
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parts:
    """What a request comes down to, networks aside."""

    image: t.Any
    flavor: t.Any
    where: hosts.Where


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan(Parts):
    """The cloud's own objects that a request comes down to."""

    extra_specs: dict[str, str]
    networks: networks.Networks

    def flavor_facts(self) -> dict[str, t.Any]:
        """Return the flavor as plain data."""
        return {
            "id": self.flavor.id,
            "name": self.flavor.name,
            "vcpus": self.flavor.vcpus,
            "memory_mib": self.flavor.ram,
            "disk_gib": self.flavor.disk,
            "extra_specs": dict(self.extra_specs),
        }

    def image_facts(self) -> dict[str, t.Any]:
        """Return the image as plain data."""
        return {"id": self.image.id, "name": self.image.name}


def make(connection: sdk.Connection, asked: request.Request) -> Plan:
    """Return the plan; nothing is created.

    :raises GuestError: for what is not there, does not fit together or
        exceeds the quota
    """
    parts = parts_of(connection, asked)
    chosen = networks.choose(connection, asked)
    flavor = parts.flavor
    size = asked.boot_volume["size_gib"] if asked.boot_volume else 0
    needs = {
        "instances": asked.count,
        "cores": asked.count * flavor.vcpus,
        "MiB of memory": asked.count * flavor.ram,
        "floating addresses": asked.count if chosen.pool else 0,
        "ports": asked.count * len(chosen.every),
        "server groups": 1 if asked.server_group else 0,
        "members of a server group": asked.count if asked.server_group else 0,
        "volumes": asked.count if size else 0,
        "GiB of volumes": asked.count * size,
    }
    quota.check(connection, _project(connection), needs)
    return Plan(
        image=parts.image,
        flavor=flavor,
        where=parts.where,
        extra_specs=choices.extra_specs(connection, flavor),
        networks=chosen,
    )


def parts_of(connection: sdk.Connection, asked: request.Request) -> Parts:
    """Return what does not depend on networks, which may not exist yet.

    :raises GuestError: for what is not there or does not fit together
    """
    image = choices.image(connection, asked.image)
    flavor = choices.flavor(connection, asked.flavor)
    volumes.check(connection, asked)
    size = asked.boot_volume["size_gib"] if asked.boot_volume else None
    choices.check_fit(image, flavor, size)
    where = hosts.settle(connection, asked)
    return Parts(image=image, flavor=flavor, where=where)


def _project(connection: sdk.Connection) -> str:
    return str(connection.current_project.name or "?")
