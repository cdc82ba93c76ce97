# SPDX-License-Identifier: Apache-2.0
"""Nova, in memory."""

import typing as t
from urllib import parse

from openstack import exceptions as sdk_errors
from openstack.compute.v2 import _proxy

from tests.unit.guests.testing import calls


class FakeCompute:
    """Nova: servers, flavors, key pairs, limits."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_servers: calls.Things = {}
        self.all_keypairs: calls.Things = {}
        self.requests: list[dict[str, t.Any]] = []
        self.limits = calls.Thing(
            instances=10,
            instances_used=0,
            total_cores=20,
            total_cores_used=0,
            total_ram=-1,
            total_ram_used=0,
            server_groups=10,
            server_groups_used=0,
            server_group_members=10,
            keypairs=100,
        )
        self.all_flavors = [
            calls.Thing(
                id="f1",
                name="small",
                vcpus=2,
                ram=1024,
                disk=4,
                swap=0,
                ephemeral=0,
                rxtx_factor=1.0,
                is_public=True,
                extra_specs={"quota:cpu_quota": "5000"},
            )
        ]
        self.final_status = "ACTIVE"
        self.host: str | None = None
        self.console = "\x1b[1mBooting\x07\nlogin:\n"
        self.host_ids = ["d1"]
        self.zone = "nova"
        self.all_groups: calls.Things = {}
        self.all_zones = {"nova": ["h1"]}
        #: Host -> the state of its service, if it is not enabled and up.
        self.service_states: dict[str, dict[str, str]] = {}
        self.all_aggregates: list[calls.Thing] = []
        self.hypervisors: list[dict[str, t.Any]] | None = []
        #: Nova's actions on each server, by the path of their list.
        self.actions: dict[str, list[dict[str, str]]] = {}
        #: The migrations in progress, by server.
        self.migrations: dict[str, list[calls.Thing]] = {}

    @calls.call
    def get(self, path: str, microversion: str = "") -> calls.Thing:
        if path.endswith("/topology"):
            return calls.Thing(ok=True, json=lambda: {"nodes": []})
        if path in self.actions:
            listed = {"instanceActions": self.actions[path]}
            return calls.Thing(ok=True, json=lambda: listed)
        query = dict(parse.parse_qsl(path.partition("?")[2]))
        hypervisors = [
            hypervisor
            for hypervisor in self.hypervisors or ()
            if query.get("hypervisor_hostname_pattern", "")
            in hypervisor["hypervisor_hostname"]
        ]
        self.cloud.listed += len(hypervisors)
        # As Nova, which does not find what nothing matches.
        is_ok = microversion <= "2.87" and bool(hypervisors)
        return calls.Thing(ok=is_ok, json=lambda: {"hypervisors": hypervisors})

    def get_endpoint_data(self) -> calls.Thing:
        """Return what Nova's root document states."""
        return calls.Thing(max_microversion=(2, 93))

    @calls.call
    def flavors(
        self, details: bool = True, is_public: bool | None = None
    ) -> list[calls.Thing]:
        return [
            flavor
            for flavor in self.all_flavors
            if is_public in (None, getattr(flavor, "is_public", True))
        ]

    @calls.call
    def get_flavor(
        self, identifier: str, get_extra_specs: bool
    ) -> calls.Thing:
        return self._find_flavor(identifier)

    @calls.call
    def create_flavor(self, **attributes: t.Any) -> calls.Thing:
        flavor = self.cloud.add({}, extra_specs={}, **attributes)
        self.all_flavors.append(flavor)
        return flavor

    @calls.call
    def create_flavor_extra_specs(
        self, flavor: str, extra_specs: dict[str, str]
    ) -> None:
        self._find_flavor(flavor).extra_specs = dict(extra_specs)

    @calls.call
    def flavor_add_tenant_access(self, flavor: str, tenant: str) -> None:
        self._find_flavor(flavor).tenant = tenant

    @calls.call
    def delete_flavor(self, identifier: str, ignore_missing: bool) -> None:
        self.all_flavors[:] = [
            flavor for flavor in self.all_flavors if flavor.id != identifier
        ]

    @calls.call
    def fetch_flavor_extra_specs(self, flavor: calls.Thing) -> calls.Thing:
        return flavor

    @calls.call
    def get_limits(self) -> calls.Thing:
        return calls.Thing(absolute=self.limits)

    @calls.call
    def availability_zones(self) -> list[calls.Thing]:
        return [calls.Thing(name=zone) for zone in self.all_zones]

    @calls.call
    def services(self, binary: str, host: str = "") -> list[calls.Thing]:
        return [
            calls.Thing(
                binary=binary,
                host=service_host,
                availability_zone=zone,
                **{"status": "enabled", "state": "up"}
                | self.service_states.get(service_host, {}),
            )
            for zone, hosts in self.all_zones.items()
            for service_host in hosts
            if host in ("", service_host)
        ]

    @calls.call
    def aggregates(self) -> list[calls.Thing]:
        return self.all_aggregates

    @calls.call
    def create_server_group(
        self, name: str, policies: list[str]
    ) -> calls.Thing:
        return self.cloud.add(self.all_groups, name=name, policies=policies)

    @calls.call
    def server_groups(self, all_projects: bool = False) -> list[calls.Thing]:
        owner_query = {"project_id": self.cloud.current_project_id}
        return calls.matching(
            self.all_groups.values(), {} if all_projects else owner_query
        )

    @calls.call
    def delete_server_group(
        self, identifier: str, ignore_missing: bool
    ) -> None:
        self.all_groups.pop(identifier, None)

    @calls.call
    def create_keypair(self, name: str, public_key: str) -> None:
        self.all_keypairs[name] = calls.Thing(id=name, name=name, user_id="u1")

    @calls.call
    def keypairs(self, user_id: str = "u1") -> list[calls.Thing]:
        return calls.matching(self.all_keypairs.values(), {"user_id": user_id})

    @calls.call
    def delete_keypair(
        self, name: str, ignore_missing: bool, user_id: str = "u1"
    ) -> None:
        self.all_keypairs.pop(name, None)

    @calls.call
    def create_server(self, **request: t.Any) -> calls.Thing:
        self.requests.append(request)
        number = len(self.requests)
        server = self.cloud.add(
            self.all_servers,
            name=request["name"],
            project_id=self.cloud.current_project_id,
            status="BUILD",
            task_state=None,
            fault=None,
            host_id=self.host_ids[number % len(self.host_ids)],
            compute_host=self.host,
            hypervisor_hostname=self.host,
            availability_zone=self.zone,
            flavor=self._find_flavor(request.get("flavor_id")),
            created_at="2026-01-01T00:00:00Z",
            updated_at="2026-01-01T00:01:00Z",
            detail=0,
            deleted=False,
        )
        for card in request["networks"]:
            self.cloud.network.plug(server.id, card)
        for disk in request.get("block_device_mapping", ()):
            if disk["source_type"] == "volume":
                self.cloud.block_storage.attach(server.id, disk["uuid"])
        return server

    def _find_flavor(self, identifier: str | None) -> calls.Thing:
        """Return a flavor by its identifier; the first one by default."""
        return next(
            (flavor for flavor in self.all_flavors if flavor.id == identifier),
            self.all_flavors[0],
        )

    @calls.call
    def servers(self, **query: t.Any) -> list[calls.Thing]:
        for server in list(self.all_servers.values()):
            server.detail += 1
            if server.detail > 1 and server.deleted:
                del self.all_servers[server.id]
                self.cloud.network.unplug(server.id)
                self.cloud.block_storage.detach(server.id)
            elif server.status == "BUILD" and server.detail > 1:
                server.status = self.final_status
            elif server.task_state and not server.deleted:
                server.status, server.task_state = server.task_state, None
        return calls.named(self.all_servers.values(), query.get("name"))

    @calls.call
    def get_server(self, identifier: str) -> calls.Thing:
        if identifier not in self.all_servers:
            raise sdk_errors.NotFoundException("no", http_status=404)
        return self.all_servers[identifier]

    @calls.call
    def delete_server(self, identifier: str, ignore_missing: bool) -> None:
        server = self.all_servers.get(identifier)
        if server and not server.deleted:
            server.deleted, server.detail = True, 0
            server.task_state = "deleting"

    @calls.call
    def server_migrations(self, server: str) -> list[calls.Thing]:
        return self.migrations.get(server, [])

    @calls.call
    def delete(self, path: str, microversion: str) -> calls.Thing:
        """Abort a migration, as an administrator may."""
        _, _, server, _, migration = path.split("/")
        self.migrations[server] = [
            listed
            for listed in self.migrations[server]
            if str(listed.id) != migration
        ]
        self.all_servers[server].task_state = None
        return calls.Thing(status_code=202)

    def _switch(self, identifier: str, current: str, wish: str) -> None:
        """Have a server in another status when it is listed next."""
        server = self.all_servers[identifier]
        if server.status != current or server.task_state:
            raise sdk_errors.ConflictException(
                "409", details=f"it is {server.status}", http_status=409
            )
        server.task_state = wish

    @calls.call
    def pause_server(self, identifier: str) -> None:
        self._switch(identifier, "ACTIVE", "PAUSED")

    @calls.call
    def unpause_server(self, identifier: str) -> None:
        self._switch(identifier, "PAUSED", "ACTIVE")

    @calls.call
    def stop_server(self, identifier: str) -> None:
        self._switch(identifier, "ACTIVE", "SHUTOFF")

    @calls.call
    def start_server(self, identifier: str) -> None:
        self._switch(identifier, "SHUTOFF", "ACTIVE")

    @calls.call
    def get_server_console_output(
        self, server: str, length: int
    ) -> dict[str, str]:
        lines = self.console.splitlines(keepends=True)
        return {"output": "".join(lines[-length:])}
