"""Nova, in memory."""

import typing as t

from rally_vmperf.guests.testing import calls


class FakeCompute:
    """Nova: servers, flavors, key pairs, limits."""

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
        )
        self.all_flavors = [
            calls.Thing(
                id="f1",
                name="small",
                vcpus=2,
                ram=1024,
                disk=4,
                extra_specs={"quota:cpu_quota": "5000"},
            )
        ]
        self.final_status = "ACTIVE"
        self.host: str | None = None
        self.console = "\x1b[1mBooting\x07\nlogin:\n"

    @calls.call
    def flavors(self) -> list[calls.Thing]:
        return self.all_flavors

    @calls.call
    def fetch_flavor_extra_specs(self, flavor: calls.Thing) -> calls.Thing:
        return flavor

    @calls.call
    def get_limits(self) -> calls.Thing:
        return calls.Thing(absolute=self.limits)

    @calls.call
    def availability_zones(self, details: bool = False) -> list[calls.Thing]:
        return [calls.Thing(name="nova", hosts={"h1": {"nova-compute": {}}})]

    @calls.call
    def create_keypair(self, name: str, public_key: str) -> None:
        self.all_keypairs[name] = calls.Thing(id=name, name=name)

    @calls.call
    def keypairs(self) -> list[calls.Thing]:
        return list(self.all_keypairs.values())

    @calls.call
    def delete_keypair(self, name: str, ignore_missing: bool) -> None:
        self.all_keypairs.pop(name, None)

    @calls.call
    def create_server(self, **request: t.Any) -> calls.Thing:
        self.requests.append(request)
        name = self.cloud.network.names[request["networks"][0]["uuid"]]
        address = f"10.0.0.{len(self.requests)}"
        server = self.cloud.add(
            self.all_servers,
            name=request["name"],
            status="BUILD",
            fault=None,
            host_id="d1",
            compute_host=self.host,
            hypervisor_hostname=self.host,
            created_at="2026-01-01T00:00:00Z",
            seen=0,
            deleted=False,
            addresses={name: [{"addr": address, "version": 4}]},
        )
        self.cloud.network.all_ports.append(
            calls.Thing(
                id=f"port-{server.id}",
                name="",
                device_id=server.id,
                device_owner="compute:nova",
                network_id="n2",
                fixed_ips=[{"ip_address": address}],
            )
        )
        return server

    @calls.call
    def servers(self, **query: t.Any) -> list[calls.Thing]:
        for server in list(self.all_servers.values()):
            server.seen += 1
            if server.seen > 1 and server.deleted:
                del self.all_servers[server.id]
            elif server.seen > 1:
                server.status = self.final_status
        return list(self.all_servers.values())

    @calls.call
    def get_server(self, identifier: str) -> calls.Thing:
        return self.all_servers[identifier]

    @calls.call
    def delete_server(self, identifier: str, ignore_missing: bool) -> None:
        server = self.all_servers.get(identifier)
        if server and not server.deleted:
            server.deleted, server.seen = True, 0

    @calls.call
    def get_server_console_output(
        self, server: str, length: int
    ) -> dict[str, str]:
        return {"output": self.console}
