"""Guests, booted all at once."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import access
from rally_vmperf.guests import cloud
from rally_vmperf.guests import floating
from rally_vmperf.guests import host_keys
from rally_vmperf.guests import placement
from rally_vmperf.guests import plan
from rally_vmperf.guests import request
from rally_vmperf.guests import user_data
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
    planned = plan.make(connection, asked)
    client = hostkey.generate("rally-vmperf")
    hosts_keys = {
        f"g{number}": host_keys.choose(asked)
        for number in range(1, asked.count + 1)
    }
    keypair, group = new_name(), new_name()
    access.add_keypair(connection, keypair, client.public)
    groups = access.add_security_group(connection, group, planned.network)
    ids, started = {}, {}
    for guest, host_key in hosts_keys.items():
        started[guest] = time.monotonic()
        ids[guest] = _create(
            connection,
            name=new_name(),
            image_id=planned.image.id,
            flavor_id=planned.flavor.id,
            networks=[{"uuid": planned.network.id}],
            key_name=keypair,
            user_data=user_data.compose(
                host_key, client.public, asked.user_data
            ),
            config_drive=asked.config_drive,
            **({"security_groups": groups} if groups else {}),
            **({"availability_zone": planned.zone} if planned.zone else {}),
        )
    noun = "guest" if asked.count == 1 else "guests"
    progress(f"{asked.count} {noun} asked for, BUILD")
    servers = waiting.until_active(
        connection, ids, started, asked.boot_timeout, progress
    )
    guests = []
    for guest in ids:
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
                "flavor": planned.flavor_facts(),
                "image": planned.image_facts(),
                "network": planned.network.name,
                "created_at": server.created_at,
                "boot_seconds": round(seconds, 1),
            }
        )
    hosts = {guest["name"]: guest["host"] for guest in guests}
    return {
        "guests": guests,
        "client_key": client.private,
        "findings": placement.findings(hosts, asked.host)
        + placement.flavor_limits(planned.flavor.name, planned.extra_specs),
    }


def _create(connection: sdk.Connection, **attributes: t.Any) -> str:
    with cloud.asking(f"create server {attributes['name']}"):
        return str(connection.compute.create_server(**attributes).id)
