"""What guests will be made of, settled and checked before any is made."""

import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import addresses
from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import placement
from rally_vmperf.guests import quota
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """The cloud's own objects that a request comes down to.

    :param pool: the network of floating addresses, None for fixed ones
    :param zone: availability zone, with the host when one is forced
    """

    image: t.Any
    flavor: t.Any
    extra_specs: dict[str, str]
    network: t.Any
    pool: t.Any
    zone: str | None

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
    image = choices.image(connection, asked.image)
    flavor = choices.flavor(connection, asked.flavor)
    choices.check_fit(image, flavor)
    network = choices.network(connection, asked)
    pool = None
    if addresses.needs_floating(asked, network):
        pool = addresses.floating_pool(connection, asked, network)
    zone = asked.availability_zone
    if asked.host:
        zone = placement.zone(connection, asked.host, zone)
    needs = {
        "instances": asked.count,
        "cores": asked.count * flavor.vcpus,
        "MiB of memory": asked.count * flavor.ram,
        "floating addresses": asked.count if pool else 0,
    }
    quota.check(connection, _project(connection), needs)
    return Plan(
        image=image,
        flavor=flavor,
        extra_specs=choices.extra_specs(connection, flavor),
        network=network,
        pool=pool,
        zone=zone,
    )


def _project(connection: sdk.Connection) -> str:
    with cloud.asking("ask for the project"):
        return str(connection.current_project.name or "?")
