# SPDX-License-Identifier: Apache-2.0
"""Boot the guests of a run, or of one of its groups, at the same time."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import host_sharing
from rally_vmperf.guests import hosts
from rally_vmperf.guests import models
from rally_vmperf.guests import networks
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes
from rally_vmperf.guests import waiting
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import copies
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.booting import ports
from rally_vmperf.guests.booting import rate_limits
from rally_vmperf.guests.cleanup import servers
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import plan
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.measurement.samples import units


def prepare(
    connection: cloud.Connection,
    guest_request: request.Request,
    new_name: ports.Names,
    progress: waiting.Progress,
    admin: cloud.Connection | None = None,
    ports_open: range = range(0),
) -> "Boot":
    """Create what guests share; return an object that boots them.

    All created resources have a name from ``new_name``. The caller removes
    them after the run, also if this function raises.

    :param progress: The function that reports lines of progress.
    :param admin: The connection of an administrator, which shows hosts that
        ``connection`` may not show; None if there is none.
    :param ports_open: The ports on which guests listen for one another.
    :raises GuestError: If the guests cannot be booted; the line includes the
        solution.
    """
    planned = plan.create_plan(connection, guest_request, admin)
    for line in planned.requirements.format_lines():
        progress(line)
    planned.requirements.check()
    planned = dataclasses.replace(
        planned,
        demands=copies.create_copies(
            connection, admin, planned.demands, new_name, progress
        ),
    )
    boot = Boot(connection, planned, new_name, progress, admin, ports_open)
    boot.create_shared_resources()
    return boot


#: Policies by which Nova looks up the hosts of the other members of a group;
#: servers that are created simultaneously have no hosts yet.
_AFFINITY = ("affinity", "soft-affinity")


@dataclasses.dataclass
class Boot:
    """The boot of guests, from the key pair to their addresses."""

    connection: cloud.Connection
    planned: plan.Plan
    new_name: ports.Names
    progress: waiting.Progress
    admin: cloud.Connection | None
    ports_open: range

    def __post_init__(self) -> None:
        self._guests = self.planned.guests()
        self._networks = t.cast(networks.Networks, self.planned.networks)
        key_type = self.planned.guest_request.key_type
        self._client = hostkey.generate("rally-vmperf", key_type)
        self._host_keys = {
            name: host_keys.choose_host_key(demand.group.host_key, key_type)
            for name, demand in self._guests.items()
        }
        self._volumes: dict[str, volumes.GuestVolumes] = {}
        self._server_names: list[str] = []
        self._requested_at: dict[str, float] = {}
        self._policies: dict[str, set[str]] = {}

    def pin_host(self, host: str) -> None:
        """Boot further guests on a host, if the user may select hosts.

        Guests whose group has a host or an aggregate of its own stay there.
        """
        guest_request = self.planned.guest_request
        if guest_request.host:
            return
        try:
            host_placement = hosts.resolve_placement(
                self.connection, dataclasses.replace(guest_request, host=host)
            )
        except errors.GuestError:
            self.progress(
                f"the first guests booted on {host}, and the user may not "
                "select this host for the others, so that Nova chooses; with "
                "host, the admin of the environment boots all guests there"
            )
        else:
            self.planned = dataclasses.replace(
                self.planned, placement=host_placement
            )

    def run(self, group_name: str | None = None) -> models.BootedGuests:
        """Create guests, wait until they run; return them and findings.

        :param group_name: The name of their group; None for all groups.
        :raises GuestError: If the guests cannot be booted; the line includes
            the solution.
        """
        guest_request = self.planned.guest_request
        guests_to_boot = {
            name: demand
            for name, demand in self._guests.items()
            if group_name in (None, demand.group.name)
        }
        outcome = self._boot_servers(guests_to_boot)
        described = [
            self._collect_facts(name, *outcome.ready[name])
            for name in guests_to_boot
            if name in outcome.ready
        ]
        guests = self._add_hypervisors(described)
        if guest_request.empty_host:
            host_sharing.require_empty_hosts(self.admin, guests)
        ssh_sources = self._security_group.allow_ssh(
            guest_request, self._networks, guests, self.progress
        )
        placement_findings = placement.find_placement_findings(
            guests, guest_request, self.planned.placement.hosts
        )
        limit_findings, caps = rate_limits.find_guest_limits(
            self.connection,
            self.admin,
            guests=guests,
            port_policies={
                policy: names & guests_to_boot.keys()
                for policy, names in self._policies.items()
                if names & guests_to_boot.keys()
            },
            progress=self.progress,
        )
        return models.BootedGuests(
            guests=guests,
            client_key=self._client.private,
            absent=tuple(outcome.failed),
            findings=(
                *placement_findings,
                *limit_findings,
                *models.create_absence_findings(outcome.failed),
            ),
            caps=tuple(caps[0]),
            volume_caps={
                number: tuple(limits)
                for number, limits in caps.items()
                if number
            },
            ssh_sources=ssh_sources,
        )

    def _boot_servers(
        self, demands: collections.abc.Mapping[str, capacity.Demand]
    ) -> waiting.BootOutcome:
        """Create servers with their volumes, and wait until they are active.

        :param demands: The image and the flavor of each guest.
        """
        guest_request = self.planned.guest_request
        self._server_names.clear()
        self._volumes = volumes.create_volumes(
            self.connection,
            {
                name: (demand.image, demand.group)
                for name, demand in demands.items()
            },
            guest_request.boot_timeout,
            self.new_name,
            self.progress,
        )
        ids = {}
        for name in demands:
            self._requested_at[name] = time.monotonic()
            ids[name] = self._create_server(name)
            if (
                len(ids) == 1 < len(demands)
                and guest_request.server_group in _AFFINITY
            ):
                waiting.wait_until_placed(
                    self.connection, ids[name], guest_request.boot_timeout
                )
        self.progress(f"{units.number_of('guest', len(ids))} requested, BUILD")
        outcome = waiting.wait_until_active(
            self.connection,
            ids,
            self._requested_at,
            guest_request.boot_timeout,
            self.progress,
            self._server_names,
            placement.describe_request(guest_request),
        )
        if outcome.failed and guest_request.server_group == "anti-affinity":
            # With fewer guests the policy would separate fewer hosts.
            raise errors.GuestError(next(iter(outcome.failed.values())))
        servers.delete_failed(
            self.connection,
            {ids[name]: reason for name, reason in outcome.failed.items()},
            self.progress,
            self.admin,
        )
        return outcome

    def _add_hypervisors(
        self, guests: list[models.Guest]
    ) -> tuple[models.Guest, ...]:
        """Return guests with the facts of Nova and of their hosts.

        Only administrators see those of hosts.
        """
        names = {guest.hypervisor for guest in guests if guest.hypervisor}
        hypervisors = (
            hosts.find_hypervisors(self.admin, names) if self.admin else {}
        )
        microversion = hosts.find_microversion(self.connection)
        return tuple(
            dataclasses.replace(
                guest,
                nova_microversion=microversion,
                **hypervisors.get(guest.hypervisor or "", {}),
            )
            for guest in guests
        )

    def create_shared_resources(self) -> None:
        """Create the key pair, the security group and the server group."""
        guest_request = self.planned.guest_request
        self._keypair, name = self.new_name(), self.new_name()
        with cloud.convert_errors(f"create key pair {self._keypair}"):
            self.connection.compute.create_keypair(
                name=self._keypair, public_key=self._client.public
            )
        self._security_group = access.create_security_group(
            self.connection,
            name,
            {
                network.id: network
                for chosen in (
                    self._networks,
                    *self.planned.networks_by_group.values(),
                )
                for network in chosen.networks
            }.values(),
            guest_request.count,
            self.ports_open,
        )
        self._server_group_id = (
            add_server_group(
                self.connection, self.new_name(), guest_request.server_group
            )
            if guest_request.server_group
            else None
        )

    def _find_networks(self, name: str) -> networks.Networks:
        """Return the networks of a guest."""
        group = self._guests[name].group.name
        return self.planned.networks_by_group.get(group, self._networks)

    def _create_server(self, name: str) -> str:
        """Create a guest's ports and its server; return the server's id."""
        demand = self._guests[name]
        options = ports.create_ports(
            self.connection,
            self._find_networks(name).networks,
            self._security_group.id,
            self.new_name,
        )
        if self._server_group_id:
            options["scheduler_hints"] = {"group": self._server_group_id}
        options |= volumes.create_device_mapping(
            self._volumes[name], demand.image
        )
        zones = self.planned.placement.zones
        if zone := zones[[*self._guests].index(name)]:
            options["availability_zone"] = zone
        server_name = self.new_name()
        self._server_names.append(server_name)
        with cloud.convert_errors(f"create server {server_name}"):
            server = self.connection.compute.create_server(
                name=server_name,
                flavor_id=demand.flavor.id,
                key_name=self._keypair,
                user_data=host_keys.compose_user_data(
                    self._host_keys[name],
                    self._client.public,
                    demand.group.user_data,
                ),
                config_drive=demand.group.config_drive,
                **options,
            )
        return str(server.id)

    def _collect_facts(
        self, name: str, server: t.Any, seconds: float
    ) -> models.Guest:
        """Return a guest with its addresses, host, disk and boot seconds."""
        guest_request = self.planned.guest_request
        demand = self._guests[name]
        group, flavor = demand.group, demand.flavor
        guest_networks = self._find_networks(name)
        addresses = ports.find_addresses(
            self.connection,
            name,
            server.id,
            guest_request.ip_version,
            guest_networks,
            self.new_name,
        )
        for policy in addresses.policies:
            self._policies.setdefault(policy, set()).add(name)
        server_with_host = placement.with_host(server, self.admin)
        settings = {**group.extra_specs, **group.image_properties}
        return models.Guest(
            name=name,
            group=group.name,
            server_name=server.name,
            id=server.id,
            boot=models.create_boot_id(server.id),
            address=addresses.floating or addresses.fixed,
            fixed_address=addresses.fixed,
            floating_address=addresses.floating,
            measure_address=addresses.measured,
            reached_by="floating" if addresses.floating else "fixed",
            jump=guest_request.jump,
            namespace=guest_request.namespace,
            login=group.login,
            user=group.user,
            host_key=self._host_keys[name].public,
            host_id=server.host_id,
            host=server_with_host.compute_host or None,
            hypervisor=server_with_host.hypervisor_hostname or None,
            availability_zone=server.availability_zone or None,
            server_group=guest_request.server_group,
            flavor=flavor,
            image=demand.image,
            **volumes.describe_disks(self._volumes[name], group, flavor),
            config_drive=group.config_drive,
            settings=settings,
            topology=(
                placement.get_topology(self.admin, server.id)
                if settings and self.admin
                else None
            ),
            networks=tuple(
                network.name for network in guest_networks.networks
            ),
            network=guest_networks.ssh_network.name,
            created_at=server.created_at,
            requested_at=self._requested_at[name],
            boot_seconds=round(seconds, 1),
        )


def add_server_group(
    connection: cloud.Connection, name: str, policy: str
) -> str:
    """Create a server group; return its identifier."""
    with cloud.convert_errors(f"create server group {name} ({policy})"):
        # The SDK translates the policy to the version of the API.
        server_group = connection.compute.create_server_group(
            name=name, policies=[policy]
        )
    return str(server_group.id)
