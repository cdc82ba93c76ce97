"""Boot all guests of a run at the same time."""

import collections.abc
import contextlib
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import hosts
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes
from rally_vmperf.guests import waiting
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.booting import ports
from rally_vmperf.guests.booting import rate_limits
from rally_vmperf.guests.planning import plan
from rally_vmperf.machines.remote import hostkey


def boot(
    connection: sdk.Connection,
    asked: request.Request,
    new_name: ports.Names,
    progress: waiting.Progress,
    admin: sdk.Connection | None = None,
    ports_open: range = range(0),
) -> guest.Booted:
    """Boot the guests of all groups and return them, with findings.

    Whatever is made bears a name of ``new_name``; whoever calls removes it
    when this raises, and in the end.

    :param progress: takes lines for whoever is waiting
    :param admin: who may see the hosts, when ``connection`` may not
    :param ports_open: those at which guests listen for one another
    :raises GuestError: one line with the way out
    """
    planned = plan.make(connection, asked, admin)
    for line in planned.requirements.lines():
        progress(line)
    planned.requirements.check()
    return _Boot(
        connection, planned, new_name, progress, admin, ports_open
    ).run()


#: Nova asks where the others of the group are, and all at once are nowhere.
_AFFINITY = ("affinity", "soft-affinity")


@dataclasses.dataclass
class _Boot:
    """One boot of all guests, from the key pair to their addresses."""

    connection: sdk.Connection
    planned: plan.Plan
    new_name: ports.Names
    progress: waiting.Progress
    admin: sdk.Connection | None
    ports_open: range

    def __post_init__(self) -> None:
        zones = self.planned.where.zones
        self._guests = self.planned.guests()
        self._zones = dict(zip(self._guests, zones, strict=True))
        self._networks = t.cast(networks.Networks, self.planned.networks)
        key_type = self.planned.asked.key_type
        self._client = hostkey.generate("rally-vmperf", key_type)
        self._host_keys = {
            name: host_keys.choose(group.host_key, key_type)
            for name, (group, _, _) in self._guests.items()
        }
        self._volumes: dict[str, t.Any] = {}
        self._server_names: list[str] = []
        self._policies: set[str] = set()

    def run(self) -> guest.Booted:
        """Create the guests with all that they need; wait until all run."""
        asked = self.planned.asked
        keypair, group, server_group = self._share()
        self._volumes = volumes.make(
            self.connection,
            {
                name: (image, group.boot_volume)
                for name, (group, image, _) in self._guests.items()
                if group.boot_volume
            },
            asked.boot_timeout,
            self.new_name,
            self.progress,
        )
        ids, started = {}, {}
        for name in self._guests:
            started[name] = time.monotonic()
            ids[name] = self._create(name, keypair, group.id, server_group)
            if len(ids) == 1 < asked.count and asked.server_group in _AFFINITY:
                waiting.until_placed(
                    self.connection, ids[name], asked.boot_timeout
                )
        self.progress(f"{asked.title()} asked for, BUILD")
        waited = waiting.until_active(
            self.connection,
            ids,
            started,
            asked.boot_timeout,
            self.progress,
            self._server_names,
            placement.described(asked),
        )
        if waited.failed and asked.server_group == "anti-affinity":
            # Those who are left would be apart from nobody who lacks a host.
            raise errors.GuestError(next(iter(waited.failed.values())))
        leave_out(
            self.connection,
            {ids[name]: why for name, why in waited.failed.items()},
            self.progress,
        )
        described = [
            self._describe(name, *waited.ready[name])
            for name in ids
            if name in waited.ready
        ]
        guests = self._with_hypervisors(described)
        let_in = group.let_in(asked, self._networks, guests, self.progress)
        found = placement.findings(guests, asked, self.planned.where.hosts)
        limited, caps = rate_limits.of_guests(
            self.connection,
            self.admin,
            flavors={one.id: one for one in self.planned.flavors}.values(),
            volume_types=[x.disk.type for x in guests if x.disk.type],
            port_policies=self._policies,
            progress=self.progress,
        )
        return guest.Booted(
            guests=guests,
            client_key=self._client.private,
            absent=tuple(waited.failed),
            findings=(*found, *limited, *guest.absences(waited.failed)),
            caps=tuple(caps),
            let_in=let_in,
        )

    def _with_hypervisors(
        self, guests: list[guest.Guest]
    ) -> tuple[guest.Guest, ...]:
        """Return guests with what an administrator sees of their hosts."""
        names = {one.hypervisor for one in guests if one.hypervisor}
        found = hosts.hypervisors(self.admin, names) if self.admin else {}
        unknown = hosts.Hypervisor()
        pairs = [(x, found.get(x.hypervisor or "", unknown)) for x in guests]
        return tuple(
            dataclasses.replace(
                one,
                host_cpu=there.features,
                host_vcpus=there.vcpus,
                host_memory_mib=there.memory_mib,
            )
            for one, there in pairs
        )

    def _share(self) -> tuple[str, access.Access, str | None]:
        """Create the resources that all guests share.

        :return: name of the key pair, the security group, and the identifier
            of the server group
        """
        asked = self.planned.asked
        keypair, name = self.new_name(), self.new_name()
        with cloud.asking(f"create key pair {keypair}"):
            self.connection.compute.create_keypair(
                name=keypair, public_key=self._client.public
            )
        group = access.create(
            self.connection,
            name,
            self._networks.every,
            asked.count,
            self.ports_open,
        )
        if not asked.server_group:
            return keypair, group, None
        made = add_server_group(
            self.connection, self.new_name(), asked.server_group
        )
        return keypair, group, made

    def _create(
        self,
        name: str,
        keypair: str,
        security_group: str | None,
        server_group: str | None,
    ) -> str:
        group, image, flavor = self._guests[name]
        nics = ports.for_server(
            self.connection,
            self._networks.every,
            security_group,
            self.new_name,
        )
        hints = {}
        if server_group:
            hints = {"scheduler_hints": {"group": server_group}}
        disk = {"image_id": image.id}
        if name in self._volumes:
            disk = volumes.source(self._volumes[name])
        zone = self._zones[name]
        server_name = self.new_name()
        self._server_names.append(server_name)
        with cloud.asking(f"create server {server_name}"):
            made = self.connection.compute.create_server(
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
        asked = self.planned.asked
        group, image, flavor = self._guests[name]
        found = ports.addresses(
            self.connection,
            name,
            server.id,
            asked.ip_version,
            self._networks,
            self.new_name,
        )
        self._policies.update(found.policies)
        shown = placement.shown(server, self.admin)
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
            network=self._networks.ssh_network.name,
            created_at=server.created_at,
            boot_seconds=round(seconds, 1),
        )


def leave_out(
    connection: sdk.Connection,
    failed: collections.abc.Mapping[str, str],
    progress: waiting.Progress,
) -> None:
    """Have servers deleted whose guests did not come.

    One that comes later, or boots again and again, would disturb the others.
    The clean-up sees to it that they are gone.

    :param failed: identifier of the server -> why
    """
    for identifier, why in failed.items():
        progress(f"{why}; the run goes on without it")
        with contextlib.suppress(*cloud.REFUSALS):
            connection.compute.delete_server(identifier, ignore_missing=True)


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
