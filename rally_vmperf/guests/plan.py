"""What guests will be made of, settled and checked before any is made."""

import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import bill
from rally_vmperf.guests import choices
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
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
    bill: bill.Bill

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


def make(
    connection: sdk.Connection,
    asked: request.Request,
    admin: sdk.Connection | None = None,
) -> Plan:
    """Return the plan; nothing is created.

    Whether quota and hosts have room for it, its bill tells.

    :param admin: who sees what is free on hosts, if there is one
    :raises GuestError: for what is not there or does not fit together
    """
    parts = parts_of(connection, asked)
    chosen = networks.choose(connection, asked)
    extra_specs = choices.extra_specs(connection, parts.flavor)
    return Plan(
        image=parts.image,
        flavor=parts.flavor,
        where=parts.where,
        extra_specs=extra_specs,
        networks=chosen,
        bill=bill.draw_up(
            connection,
            asked,
            parts.flavor,
            extra_specs,
            parts.where,
            chosen,
            admin,
        ),
    )


def foresee(
    connection: sdk.Connection,
    asked: request.Request,
    admin: sdk.Connection | None,
) -> tuple[Parts, bill.Bill]:
    """Return what there is to say while networks are still to be made.

    :raises GuestError: for what is not there or does not fit together
    """
    parts = parts_of(connection, asked)
    extra_specs = choices.extra_specs(connection, parts.flavor)
    return parts, bill.draw_up(
        connection,
        asked,
        parts.flavor,
        extra_specs,
        parts.where,
        None,
        admin,
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
