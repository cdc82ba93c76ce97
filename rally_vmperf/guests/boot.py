"""Guests, booted all at once."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest
from rally_vmperf.guests import host_keys
from rally_vmperf.guests import networks
from rally_vmperf.guests import placement
from rally_vmperf.guests import plan
from rally_vmperf.guests import ports
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes
from rally_vmperf.guests import waiting
from rally_vmperf.machines import hostkey


def boot(
    connection: sdk.Connection,
    asked: request.Request,
    new_name: ports.Names,
    progress: waiting.Progress,
    admin: sdk.Connection | None = None,
) -> guest.Booted:
    """Boot the guests of all groups and return them, with findings.

    Whatever is made bears a name of ``new_name``; whoever calls removes it
    when this raises, and in the end.

    :param progress: takes lines for whoever is waiting
    :param admin: who may see the hosts, when ``connection`` may not
    :raises GuestError: one line with the way out
    """
    planned = plan.make(connection, asked, admin)
    for line in planned.requirements.lines():
        progress(line)
    planned.requirements.check()
    return _Boot(connection, planned, new_name, progress, admin).run()


class _Boot:
    """One boot of all guests, from the key pair to their addresses."""

    def __init__(
        self,
        connection: sdk.Connection,
        planned: plan.Plan,
        new_name: ports.Names,
        progress: waiting.Progress,
        admin: sdk.Connection | None,
    ) -> None:
        self._connection = connection
        self._planned = planned
        self._guests = planned.guests()
        self._zones = dict(zip(self._guests, planned.where.zones, strict=True))
        self._networks = t.cast(networks.Networks, planned.networks)
        self._new_name = new_name
        self._progress = progress
        self._admin = admin
        self._client = hostkey.generate("rally-vmperf")
        self._host_keys = {
            name: host_keys.choose(group.host_key)
            for name, (group, _, _) in self._guests.items()
        }
        self._volumes: dict[str, t.Any] = {}

    def run(self) -> guest.Booted:
        """Make all that the guests need, and them; wait until all run."""
        asked = self._planned.asked
        shared = self._share()
        self._volumes = volumes.make(
            self._connection,
            {
                name: (image, group.boot_volume)
                for name, (group, image, _) in self._guests.items()
                if group.boot_volume
            },
            asked.boot_timeout,
            self._new_name,
            self._progress,
        )
        ids, started = {}, {}
        for name in self._guests:
            started[name] = time.monotonic()
            ids[name] = self._create(name, *shared)
        self._progress(f"{asked.words()} asked for, BUILD")
        servers = waiting.until_active(
            self._connection,
            ids,
            started,
            asked.boot_timeout,
            self._progress,
            placement.words(asked),
        )
        guests = tuple(self._describe(name, *servers[name]) for name in ids)
        found = placement.findings(guests, asked, self._planned.where.hosts)
        for flavor in {one.id: one for one in self._planned.flavors}.values():
            found += placement.flavor_limits(flavor)
        return guest.Booted(
            guests=guests,
            client_key=self._client.private,
            findings=tuple(found),
        )

    def _share(self) -> tuple[str, str | None, str | None]:
        """Make what all guests share.

        :return: name of the key pair, identifiers of the security group and
            of the server group
        """
        keypair, group = self._new_name(), self._new_name()
        with cloud.asking(f"create key pair {keypair}"):
            self._connection.compute.create_keypair(
                name=keypair, public_key=self._client.public
            )
        group_id = add_security_group(
            self._connection, group, self._networks.every
        )
        policy = self._planned.asked.server_group
        if not policy:
            return keypair, group_id, None
        made = add_server_group(self._connection, self._new_name(), policy)
        return keypair, group_id, made

    def _create(
        self,
        name: str,
        keypair: str,
        security_group: str | None,
        server_group: str | None,
    ) -> str:
        group, image, flavor = self._guests[name]
        nics = ports.for_server(
            self._connection,
            self._networks.every,
            security_group,
            self._new_name,
        )
        hints = {}
        if server_group:
            hints = {"scheduler_hints": {"group": server_group}}
        disk = {"image_id": image.id}
        if name in self._volumes:
            disk = volumes.source(self._volumes[name])
        zone = self._zones[name]
        server_name = self._new_name()
        with cloud.asking(f"create server {server_name}"):
            made = self._connection.compute.create_server(
                name=server_name,
                flavor_id=flavor.id,
                key_name=keypair,
                user_data=host_keys.compose(
                    self._host_keys[name], self._client.public, group.user_data
                ),
                config_drive=group.config_drive,
                **disk,
                **nics,
                **hints,
                **({"availability_zone": zone} if zone else {}),
            )
        return str(made.id)

    def _describe(
        self, name: str, server: t.Any, seconds: float
    ) -> guest.Guest:
        asked = self._planned.asked
        group, image, flavor = self._guests[name]
        found = ports.addresses(
            self._connection,
            name,
            server.id,
            asked.ip_version,
            self._networks,
            self._new_name,
        )
        shown = placement.shown(server, self._admin)
        disk = guest.Disk(source="flavor", size_gib=flavor.disk_gib)
        if name in self._volumes:
            volume = self._volumes[name]
            disk = guest.Disk(
                source="volume", size_gib=volume.size, type=volume.volume_type
            )
        return guest.Guest(
            name=name,
            group=group.name,
            server_name=server.name,
            id=server.id,
            boot=guest.first_boot(server.id),
            address=found.floating or found.fixed,
            fixed_address=found.fixed,
            floating_address=found.floating,
            measure_address=found.measured,
            reached_by="floating" if found.floating else "fixed",
            jump=asked.jump,
            namespace=asked.namespace,
            login=group.login,
            user=group.user,
            host_key=self._host_keys[name].public,
            host_id=server.host_id,
            host=shown.compute_host or None,
            hypervisor=shown.hypervisor_hostname or None,
            availability_zone=server.availability_zone or None,
            server_group=asked.server_group,
            flavor=flavor,
            image=image,
            disk=disk,
            config_drive=group.config_drive,
            networks=tuple(one.name for one in self._networks.every),
            network=self._networks.reach_on.name,
            created_at=server.created_at,
            boot_seconds=round(seconds, 1),
        )


_ETHERNETS = (("IPv4", "icmp"), ("IPv6", "ipv6-icmp"))
_SSH = (22, 22)
#: Where network workloads listen, on guests and for machines outside.
_WORKLOADS = (5201, 5328)
_PORTS = (("tcp", _SSH), ("tcp", _WORKLOADS), ("udp", _WORKLOADS))


def add_security_group(
    connection: sdk.Connection,
    name: str,
    every: collections.abc.Iterable[networks.Network],
) -> str | None:
    """Make a group that lets in SSH, ICMP and network workloads.

    :param every: where the guests will be; without port security they
        take no groups, and none is made
    :return: its identifier
    """
    if not any(network.secured for network in every):
        return None
    with cloud.asking(f"create security group {name}"):
        group = connection.network.create_security_group(
            name=name, description="Guests of rally-vmperf"
        )
        for rule in rules():
            connection.network.create_security_group_rule(
                security_group_id=group.id, direction="ingress", **rule
            )
    return str(group.id)


def add_server_group(
    connection: sdk.Connection, name: str, policy: str
) -> str:
    """Make a server group; return its identifier."""
    with cloud.asking(f"create server group {name} ({policy})"):
        # The SDK says it in the words of the API's version, old or new.
        made = connection.compute.create_server_group(
            name=name, policies=[policy]
        )
    return str(made.id)


def rules() -> collections.abc.Iterator[dict[str, t.Any]]:
    """Yield the rules of the group."""
    for ether_type, icmp in _ETHERNETS:
        yield {"ether_type": ether_type, "protocol": icmp}
        for protocol, (first, last) in _PORTS:
            yield {
                "ether_type": ether_type,
                "protocol": protocol,
                "port_range_min": first,
                "port_range_max": last,
            }
