"""Guests, booted all at once."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import access
from rally_vmperf.guests import cloud
from rally_vmperf.guests import floating
from rally_vmperf.guests import groups
from rally_vmperf.guests import host_keys
from rally_vmperf.guests import placement
from rally_vmperf.guests import plan
from rally_vmperf.guests import ports
from rally_vmperf.guests import request
from rally_vmperf.guests import user_data
from rally_vmperf.guests import volumes
from rally_vmperf.guests import waiting
from rally_vmperf.machines import hostkey

Json = dict[str, t.Any]
Names = collections.abc.Callable[[], str]


def boot(
    connection: sdk.Connection,
    asked: request.Request,
    new_name: Names,
    progress: waiting.Progress,
    admin: sdk.Connection | None = None,
) -> Json:
    """Boot guests and return them as plain data, with findings.

    Whatever is made bears a name of ``new_name``; whoever calls removes it
    when this raises, and in the end.

    :param progress: takes lines for whoever is waiting
    :param admin: who may see the hosts, when ``connection`` may not
    :raises GuestError: one line with the way out
    """
    planned = plan.make(connection, asked, admin)
    for line in planned.bill.lines():
        progress(line)
    planned.bill.check()
    client = hostkey.generate("rally-vmperf")
    hosts_keys = {
        f"g{number}": host_keys.choose(asked)
        for number in range(1, asked.count + 1)
    }
    keypair, group = new_name(), new_name()
    access.add_keypair(connection, keypair, client.public)
    group_id = access.add_security_group(
        connection, group, planned.networks.every
    )
    common = _common(connection, asked, new_name)
    disks = volumes.make(connection, asked, planned.image, new_name, progress)
    ids, started = {}, {}
    for index, (guest, host_key) in enumerate(hosts_keys.items()):
        cards = ports.cards(
            connection, planned.networks.every, group_id, new_name
        )
        disk = {"image_id": planned.image.id}
        if disks:
            disk = volumes.source(disks[index])
        zone = planned.where.zones[index]
        started[guest] = time.monotonic()
        ids[guest] = _create(
            connection,
            name=new_name(),
            flavor_id=planned.flavor.id,
            key_name=keypair,
            user_data=user_data.compose(
                host_key, client.public, asked.user_data
            ),
            config_drive=asked.config_drive,
            **disk,
            **cards,
            **common,
            **({"availability_zone": zone} if zone else {}),
        )
    noun = "guest" if asked.count == 1 else "guests"
    progress(f"{asked.count} {noun} asked for, BUILD")
    servers = waiting.until_active(
        connection,
        ids,
        started,
        asked.boot_timeout,
        progress,
        placement.words(asked),
    )
    guests: list[Json] = []
    for index, guest in enumerate(ids):
        server, seconds = servers[guest]
        shown = placement.shown(server, admin)
        reached = floating.reach(
            connection, guest, server, asked, planned, new_name
        )
        guests.append(
            {
                "name": guest,
                "server_name": server.name,
                "id": server.id,
                **reached,
                **asked.reaching(),
                "user": asked.user,
                "port": 22,
                "host_key": hosts_keys[guest].public,
                "host_id": server.host_id,
                "host": shown.compute_host or None,
                "hypervisor": shown.hypervisor_hostname or None,
                "availability_zone": server.availability_zone or None,
                "server_group": asked.server_group,
                "flavor": planned.flavor_facts(),
                "image": planned.image_facts(),
                "disk": volumes.facts(disks[index])
                if disks
                else {"source": "flavor", "size_gib": planned.flavor.disk},
                "config_drive": asked.config_drive,
                "networks": [one.name for one in planned.networks.every],
                "network": planned.networks.reach_on.name,
                "created_at": server.created_at,
                "boot_seconds": round(seconds, 1),
            }
        )
    return {
        "guests": guests,
        "client_key": client.private,
        "findings": placement.findings(guests, asked, planned.where.hosts)
        + placement.flavor_limits(planned.flavor.name, planned.extra_specs),
    }


def _common(
    connection: sdk.Connection, asked: request.Request, new_name: Names
) -> Json:
    """Return what Nova's API is told of all servers alike."""
    if not asked.server_group:
        return {}
    hint = groups.add(connection, new_name(), asked.server_group)
    return {"scheduler_hints": hint}


def _create(connection: sdk.Connection, **attributes: t.Any) -> str:
    with cloud.asking(f"create server {attributes['name']}"):
        return str(connection.compute.create_server(**attributes).id)
