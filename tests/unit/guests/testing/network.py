# SPDX-License-Identifier: Apache-2.0
"""Neutron, in memory."""

import itertools
import typing as t

from openstack import exceptions as sdk_errors
from openstack.network.v2 import _proxy

from tests.unit.guests.testing import calls


class FakeNetwork:
    """Neutron: networks, addresses, groups."""

    proxy = _proxy.Proxy

    def __init__(self, cloud: t.Any) -> None:
        self.cloud = cloud
        self.all_ips: calls.Things = {}
        self.all_groups: calls.Things = {}
        self.all_policies: calls.Things = {}
        #: QoS policy of the ports of each network.
        self.policies: dict[str, str] = {}
        self.all_networks = [
            calls.Thing(
                id="n1",
                name="public",
                is_router_external=True,
                is_port_security_enabled=True,
            ),
            calls.Thing(
                id="n2",
                name="private",
                is_router_external=False,
                is_port_security_enabled=True,
            ),
        ]
        self.all_routers = [
            calls.Thing(
                id="r1",
                name="router",
                external_gateway_info={"network_id": "n1"},
            )
        ]
        self.all_ports = [
            calls.Thing(
                id="port-r1",
                name="",
                device_id="r1",
                network_id="n2",
                device_owner="network:router_interface",
                fixed_ips=[],
            )
        ]
        self.all_subnets: list[calls.Thing] = []
        #: The networks without a subnet.
        self.without_subnets: set[str] = set()
        self._addresses = itertools.count(1)
        self.rules: list[dict[str, t.Any]] = []
        self.floating_quota = {"limit": 5, "used": 0, "reserved": 0}
        self.port_quota = {"limit": 50, "used": 0, "reserved": 0}
        self.group_quota = {"limit": 10, "used": 1, "reserved": 0}
        self.rule_quota = {"limit": 100, "used": 4, "reserved": 0}

    @property
    def names(self) -> dict[str, str]:
        """The networks' names by their identifiers."""
        return {network.id: network.name for network in self.all_networks}

    @calls.call
    def networks(
        self, is_router_external: bool = False, **query: str
    ) -> list[calls.Thing]:
        return [
            network
            for network in calls.matching(self.all_networks, query)
            if network.is_router_external or not is_router_external
        ]

    @calls.call
    def routers(self, **query: t.Any) -> list[calls.Thing]:
        return calls.matching(self.all_routers, query)

    @calls.call
    def subnets(self, **query: str) -> list[calls.Thing]:
        found = calls.matching(self.all_subnets, query)
        if found or "network_id" not in query:
            return found
        # A network whose subnets no test has set has one of each version.
        network = query["network_id"]
        return [
            calls.Thing(
                id=f"{network}-{version}",
                name=f"{network}-{version}",
                network_id=network,
                ip_version=version,
                cidr=cidr,
                is_dhcp_enabled=True,
            )
            for version, cidr in ((4, "198.18.0.0/24"), (6, "fd00:1::/64"))
            if network not in self.without_subnets
        ]

    @calls.call
    def ports(self, **query: t.Any) -> list[calls.Thing]:
        return calls.matching(self.all_ports, query)

    @calls.call
    def get_qos_policy(self, identifier: str) -> calls.Thing:
        if identifier not in self.all_policies:
            raise sdk_errors.ForbiddenException("no", http_status=403)
        return self.all_policies[identifier]

    @calls.call
    def get_quota(self, project: str, details: bool) -> calls.Thing:
        return calls.Thing(
            floating_ips=self.floating_quota,
            ports=self.port_quota,
            security_groups=self.group_quota,
            security_group_rules=self.rule_quota,
        )

    @calls.call
    def create_port(
        self, name: str, network_id: str, **request: t.Any
    ) -> calls.Thing:
        return self._add_port(
            name=name, network_id=network_id, device_id="", **request
        )

    def _add_port(self, **attributes: t.Any) -> calls.Thing:
        # 10.1 is the first network, 10.2 the second.
        place = list(self.names).index(attributes["network_id"]) + 1
        number = next(self._addresses)
        port = calls.Thing(
            id=f"port{number}",
            device_owner="",
            qos_policy_id=None,
            qos_network_policy_id=self.policies.get(attributes["network_id"]),
            fixed_ips=[{"ip_address": f"10.{place}.0.{number}"}],
            **attributes,
        )
        self.all_ports.append(port)
        return port

    def plug(self, server: str, card: dict[str, str]) -> None:
        """Give a server a port: one that is there, or a new one."""
        if "uuid" in card:
            self._add_port(name="", network_id=card["uuid"], device_id=server)
        for port in self.all_ports:
            if port.id == card.get("port"):
                port.device_id = server

    def unplug(self, server: str) -> None:
        """Take a server's ports: Nova's own are gone, others are free."""
        for port in [p for p in self.all_ports if p.device_id == server]:
            port.device_id = ""
            if not port.name:
                self.all_ports.remove(port)

    @calls.call
    def create_ip(self, **request: t.Any) -> calls.Thing:
        address = f"172.24.4.{len(self.all_ips) + 10}"
        return self.cloud.add(
            self.all_ips, floating_ip_address=address, **request
        )

    @calls.call
    def ips(self, **query: str) -> list[calls.Thing]:
        return calls.matching(self.all_ips.values(), query)

    @calls.call
    def delete_ip(self, identifier: str, ignore_missing: bool) -> None:
        self.all_ips.pop(identifier, None)

    @calls.call
    def create_security_group(self, **request: str) -> calls.Thing:
        owner_query = {"project_id": self.cloud.current_project_id}
        return self.cloud.add(self.all_groups, **owner_query | request)

    @calls.call
    def create_security_group_rule(self, **request: t.Any) -> None:
        self.rules.append(request)

    @calls.call
    def security_groups(self, **query: str) -> list[calls.Thing]:
        return calls.matching(self.all_groups.values(), query)

    @calls.call
    def delete_security_group(
        self, identifier: str, ignore_missing: bool
    ) -> None:
        group = self.all_groups.get(identifier)
        servers = self.cloud.compute.all_servers.values()
        if group and calls.matching(servers, {"project_id": group.project_id}):
            raise sdk_errors.ConflictException("in use", http_status=409)
        self.all_groups.pop(identifier, None)

    @calls.call
    def delete_port(self, identifier: str, ignore_missing: bool) -> None:
        self._drop(self.all_ports, identifier)

    @calls.call
    def delete_subnet(self, identifier: str, ignore_missing: bool) -> None:
        self._drop(self.all_subnets, identifier)

    @calls.call
    def delete_network(self, identifier: str, ignore_missing: bool) -> None:
        if identifier in {port.network_id for port in self.all_ports}:
            raise sdk_errors.ConflictException("in use", http_status=409)
        self._drop(self.all_networks, identifier)

    @calls.call
    def remove_interface_from_router(
        self, router: str, subnet: None, port: str
    ) -> None:
        self._drop(self.all_ports, port)

    @calls.call
    def delete_router(self, identifier: str, ignore_missing: bool) -> None:
        if identifier in {port.device_id for port in self.all_ports}:
            raise sdk_errors.ConflictException("in use", http_status=409)
        self._drop(self.all_routers, identifier)

    def _drop(self, things: list[calls.Thing], identifier: str) -> None:
        things[:] = [thing for thing in things if thing.id != identifier]
