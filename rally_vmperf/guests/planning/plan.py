"""The plan of guests, checked before any is booted."""

import dataclasses

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import credentials
from rally_vmperf.guests import guest
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import quota
from rally_vmperf.guests.planning import requirements


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A request, resolved to image, flavor, network and host of a cloud.

    :param images: of each group
    :param flavors: likewise
    :param networks: None while they are still to be made
    """

    asked: request.Request
    images: tuple[guest.Image, ...]
    flavors: tuple[guest.Flavor, ...]
    where: hosts.Where
    networks: networks.Networks | None
    requirements: requirements.Requirements

    def guests(
        self,
    ) -> dict[str, tuple[request.Group, guest.Image, guest.Flavor]]:
        """Return the guests by name, numbered through all groups."""
        each = [
            (group, image, flavor)
            for group, image, flavor in zip(
                self.asked.groups, self.images, self.flavors, strict=True
            )
            for _ in range(group.count)
        ]
        return {f"g{number}": one for number, one in enumerate(each, 1)}


def make(
    connection: sdk.Connection,
    asked: request.Request,
    admin: sdk.Connection | None = None,
    *,
    has_networks: bool = True,
) -> Plan:
    """Return the plan; nothing is created.

    Whether quota and hosts have room for it, its requirements tell.

    :param admin: who sees what is free on hosts, if there is one
    :param has_networks: the networks are there already
    :raises GuestError: for what is not there or does not fit together
    """
    images, flavors = [], []
    for group in asked.groups:
        image = choices.image(connection, group.image)
        flavor = choices.flavor(connection, group.flavor)
        volume = group.boot_volume
        if volume:
            volumes.check(connection, volume)
        choices.check_fit(image, flavor, volume.size_gib if volume else None)
        images.append(guest.Image(id=image.id, name=image.name))
        flavors.append(flavor)
    asked, apart = _on_one_host(connection, asked)
    where = hosts.settle(connection, asked)
    chosen = networks.choose(connection, asked) if has_networks else None
    needed = requirements.find(
        connection,
        asked,
        [
            capacity.Demand(
                flavor=flavor,
                count=group.count,
                from_volume=group.boot_volume is not None,
            )
            for group, flavor in zip(asked.groups, flavors, strict=True)
        ],
        where,
        chosen,
        admin,
    )
    return Plan(
        asked=asked,
        images=tuple(images),
        flavors=tuple(flavors),
        where=where,
        networks=chosen,
        requirements=dataclasses.replace(
            needed, remarks=(*needed.remarks, *apart)
        ),
    )


def _on_one_host(
    connection: sdk.Connection, asked: request.Request
) -> tuple[request.Request, tuple[str, ...]]:
    """Return the request, with a server group for guests that share a host.

    A placement that is asked for goes first.  Where the quota has no room for
    the group, Nova chooses, and a remark says so.
    """
    placed = asked.host or asked.hosts or asked.aggregate or asked.server_group
    if placed or not asked.one_host or asked.count < 2:
        return asked, ()
    short = quota.refusal(
        str(connection.current_project.name or "?"),
        quota.compute_room(connection),
        {"server groups": 1, "members of a server group": asked.count},
    )
    if short:
        remark = f"Nova chooses the hosts, which may be several: {short}"
        return asked, (f"{remark}, or name a host",)
    return dataclasses.replace(asked, server_group="affinity"), ()


def of_options(
    context: credentials.Json,
    options: credentials.Json,
    *,
    has_networks: bool,
    one_host: bool = False,
) -> Plan:
    """Return the plan of what a task asks of vmperf_guests.

    :param context: Rally's context object, with the credentials
    :param options: of vmperf_guests
    :param has_networks: the networks are there already
    :param one_host: the guests are to share one, where nothing else is asked
    :raises GuestError: as ``make`` does
    """
    admin = credentials.of_admin(context)
    return make(
        cloud.connect(credentials.of_guests(context, options)),
        request.of_config(options, one_host=one_host),
        cloud.connect(admin) if admin else None,
        has_networks=has_networks,
    )
