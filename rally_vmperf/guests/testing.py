"""A cloud in memory, with as much of the SDK's interface as guests need."""

import collections.abc
import functools
import itertools
import types
import typing as t

from openstack import exceptions as sdk_errors

Thing = types.SimpleNamespace
Things = dict[str, Thing]


def _call(method: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    @functools.wraps(method)
    def counted(self: t.Any, *args: t.Any, **kwargs: t.Any) -> t.Any:
        with self.cloud.call(method.__name__):
            return method(self, *args, **kwargs)

    return counted


class FakeCloud:
    """A connection to a cloud that keeps everything in dictionaries.

    It has an image, a flavor, an external network ``public`` and, behind a
    router, ``private``. Servers are active the second time they are listed,
    and gone the second time after their deletion. Interruptions can be had
    at any call, by its number or name.

    :param interrupt: told of each call before (False) and after (True) it
        took effect; what it raises is raised by the call
    """

    def __init__(
        self,
        interrupt: collections.abc.Callable[[str, bool], None] | None = None,
    ) -> None:
        self.interrupt = interrupt or (lambda name, done: None)
        self.calls: list[str] = []
        self.current_project_id = "p1"
        self.current_project = Thing(id="p1", name="member")
        self.compute = FakeCompute(self)
        self.network = FakeNetwork(self)
        self.image = FakeImage(self)
        self._numbers = itertools.count(1)

    def call(self, name: str) -> t.Any:
        """Count a call and give way to interruptions around it."""
        return _Call(self, name)

    def add(self, things: Things, **attributes: t.Any) -> Thing:
        """Keep a new thing under an identifier of its own."""
        thing = Thing(id=f"id{next(self._numbers)}", **attributes)
        things[thing.id] = thing
        return thing

    def left(self) -> list[str]:
        """Return what somebody made and nobody removed."""
        made = (
            self.compute.all_servers,
            self.compute.all_keypairs,
            self.network.all_ips,
            self.network.all_groups,
        )
        return [key for things in made for key in things]


class _Call:
    def __init__(self, cloud: FakeCloud, name: str) -> None:
        self._cloud = cloud
        self._name = name

    def __enter__(self) -> None:
        self._cloud.calls.append(self._name)
        self._cloud.interrupt(self._name, False)

    def __exit__(self, kind: t.Any, *rest: object) -> None:
        if kind is None:
            self._cloud.interrupt(self._name, True)


class FakeCompute:
    """Nova: servers, flavors, key pairs, limits."""

    def __init__(self, cloud: FakeCloud) -> None:
        self.cloud = cloud
        self.all_servers: Things = {}
        self.all_keypairs: Things = {}
        self.requests: list[dict[str, t.Any]] = []
        self.limits = Thing(
            instances=10,
            instances_used=0,
            total_cores=20,
            total_cores_used=0,
            total_ram=-1,
            total_ram_used=0,
        )
        self.all_flavors = [
            Thing(
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

    @_call
    def flavors(self) -> list[Thing]:
        return self.all_flavors

    @_call
    def fetch_flavor_extra_specs(self, flavor: Thing) -> Thing:
        return flavor

    @_call
    def get_limits(self) -> Thing:
        return Thing(absolute=self.limits)

    @_call
    def availability_zones(self, details: bool = False) -> list[Thing]:
        return [Thing(name="nova", hosts={"h1": {"nova-compute": {}}})]

    @_call
    def create_keypair(self, name: str, public_key: str) -> None:
        self.all_keypairs[name] = Thing(id=name, name=name)

    @_call
    def keypairs(self) -> list[Thing]:
        return list(self.all_keypairs.values())

    @_call
    def delete_keypair(self, name: str, ignore_missing: bool) -> None:
        self.all_keypairs.pop(name, None)

    @_call
    def create_server(self, **request: t.Any) -> Thing:
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
            created_at="2026-01-01T00:00:00Z",
            seen=0,
            deleted=False,
            addresses={name: [{"addr": address, "version": 4}]},
        )
        self.cloud.network.all_ports.append(
            Thing(
                id=f"port-{server.id}",
                name="",
                device_id=server.id,
                device_owner="compute:nova",
                network_id="n2",
                fixed_ips=[{"ip_address": address}],
            )
        )
        return server

    @_call
    def servers(self, **query: t.Any) -> list[Thing]:
        for server in list(self.all_servers.values()):
            server.seen += 1
            if server.seen > 1 and server.deleted:
                del self.all_servers[server.id]
            elif server.seen > 1:
                server.status = self.final_status
        return list(self.all_servers.values())

    @_call
    def get_server(self, identifier: str) -> Thing:
        return self.all_servers[identifier]

    @_call
    def delete_server(self, identifier: str, ignore_missing: bool) -> None:
        server = self.all_servers.get(identifier)
        if server and not server.deleted:
            server.deleted, server.seen = True, 0

    @_call
    def get_server_console_output(
        self, server: str, length: int
    ) -> dict[str, str]:
        return {"output": "\x1b[1mBooting\x07\nlogin:\n"}


class FakeNetwork:
    """Neutron: networks, addresses, groups."""

    def __init__(self, cloud: FakeCloud) -> None:
        self.cloud = cloud
        self.all_ips: Things = {}
        self.all_groups: Things = {}
        self.all_networks = [
            Thing(
                id="n1",
                name="public",
                is_router_external=True,
                is_port_security_enabled=True,
            ),
            Thing(
                id="n2",
                name="private",
                is_router_external=False,
                is_port_security_enabled=True,
            ),
        ]
        self.all_routers = [
            Thing(
                id="r1",
                name="router",
                external_gateway_info={"network_id": "n1"},
            )
        ]
        self.all_ports = [
            Thing(
                id="port-r1",
                name="",
                device_id="r1",
                network_id="n2",
                device_owner="network:router_interface",
                fixed_ips=[],
            )
        ]
        self.rules: list[dict[str, t.Any]] = []
        self.floating_quota = {"limit": 5, "used": 0, "reserved": 0}

    @property
    def names(self) -> dict[str, str]:
        """The networks' names by their identifiers."""
        return {one.id: one.name for one in self.all_networks}

    @_call
    def networks(self, is_router_external: bool = False) -> list[Thing]:
        return [
            one
            for one in self.all_networks
            if one.is_router_external or not is_router_external
        ]

    @_call
    def routers(self) -> list[Thing]:
        return self.all_routers

    @_call
    def subnets(self) -> list[Thing]:
        return []

    @_call
    def ports(self, **query: str) -> list[Thing]:
        return [
            one for one in self.all_ports if query.items() <= vars(one).items()
        ]

    @_call
    def get_quota(self, project: str, details: bool) -> Thing:
        return Thing(floating_ips=self.floating_quota)

    @_call
    def create_ip(self, **request: t.Any) -> Thing:
        address = f"172.24.4.{len(self.all_ips) + 10}"
        return self.cloud.add(
            self.all_ips, floating_ip_address=address, **request
        )

    @_call
    def ips(self) -> list[Thing]:
        return list(self.all_ips.values())

    @_call
    def delete_ip(self, identifier: str, ignore_missing: bool) -> None:
        self.all_ips.pop(identifier, None)

    @_call
    def create_security_group(self, **request: str) -> Thing:
        return self.cloud.add(self.all_groups, **request)

    @_call
    def create_security_group_rule(self, **request: t.Any) -> None:
        self.rules.append(request)

    @_call
    def security_groups(self, **query: str) -> list[Thing]:
        return list(self.all_groups.values())

    @_call
    def delete_security_group(
        self, identifier: str, ignore_missing: bool
    ) -> None:
        if self.cloud.compute.all_servers:
            raise sdk_errors.ConflictException("in use", http_status=409)
        self.all_groups.pop(identifier, None)


class FakeImage:
    """Glance: one image."""

    def __init__(self, cloud: FakeCloud) -> None:
        self.cloud = cloud
        self.all_images = [
            Thing(
                id="i1",
                name="debian",
                status="active",
                min_ram=0,
                min_disk=2,
                size=1 << 29,
                virtual_size=3 << 30,
            )
        ]

    @_call
    def images(self) -> list[Thing]:
        return self.all_images
