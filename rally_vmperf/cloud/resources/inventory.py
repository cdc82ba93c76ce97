"""Flavors, networks, quotas and the image for the cloud's users."""

import collections.abc
import datetime
import time
import typing as t

import openstack

from rally_vmperf.cloud.system import errors

PATIENCE = 180.0


def wait(
    what: str,
    condition: collections.abc.Callable[[], object],
    patience: float = PATIENCE,
) -> None:
    """Wait until a condition holds in the cloud.

    :param what: its name in the error
    :param condition: asks the cloud
    :param patience: seconds
    """
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise errors.CloudError(
                f"{what} is still missing after {patience:.0f} s; see the "
                "logs of nova-compute, nova-scheduler and the agents"
            )
        time.sleep(0.5)


def heard_since(report: str | None, start: float) -> bool:
    """Return whether a service has reported since it was started.

    :param report: when it last reported, as the API says it, in UTC
    :param start: when it was started, in seconds of the epoch
    """
    if not report:
        return False
    moment = datetime.datetime.fromisoformat(report)
    return moment.replace(tzinfo=datetime.UTC).timestamp() >= start


def wait_for_hypervisor(cloud: t.Any, start: float) -> None:
    """Wait until Nova can place guests.

    :param cloud: a connection as administrator
    :param start: when nova-compute was started
    """

    def up() -> bool:
        return any(
            service.state == "up" and heard_since(service.updated_at, start)
            for service in cloud.compute.services(binary="nova-compute")
        )

    wait("a running nova-compute", up)
    wait("a hypervisor", lambda: list(cloud.compute.hypervisors()))


def wait_for_agents(cloud: t.Any, starts: dict[str, float]) -> None:
    """Wait until all agents have reported to Neutron.

    :param cloud: a connection as administrator
    :param starts: program of each agent -> when it was started
    """

    def up() -> bool:
        agents = list(cloud.network.agents())
        return all(
            any(
                agent.binary == program
                and agent.is_alive
                and heard_since(agent.last_heartbeat_at, start)
                for agent in agents
            )
            for program, start in starts.items()
        )

    wait(f"one of {', '.join(starts)}", up)


def forget_guests(cloud: t.Any) -> None:
    """Delete the servers of a cloud that was taken down: they no longer run.

    :param cloud: a connection as administrator
    """
    for server in cloud.compute.servers(all_projects=True):
        cloud.compute.delete_server(server, force=True)
    wait(
        "the end of earlier guests",
        lambda: not list(cloud.compute.servers(all_projects=True)),
    )


def ensure_flavors(cloud: t.Any, wanted: list[dict[str, t.Any]]) -> None:
    """Create the flavors."""
    known = {flavor.name for flavor in cloud.compute.flavors()}
    for entry in wanted:
        if entry["name"] in known:
            continue
        flavor = dict(entry)
        specs = flavor.pop("extra_specs", {})
        made = cloud.compute.create_flavor(**flavor)
        if specs:
            cloud.compute.create_flavor_extra_specs(made, specs)


def ensure_networks(cloud: t.Any, wanted: dict[str, t.Any]) -> None:
    """Create networks, subnets and the router between them."""
    neutron = cloud.network
    for name, attributes in wanted["networks"].items():
        if not neutron.find_network(name):
            neutron.create_network(name=name, **attributes)
    for name, entry in wanted["subnets"].items():
        if not neutron.find_subnet(name):
            attributes = {"ip_version": 4, "enable_dhcp": True, **entry}
            network = neutron.find_network(attributes.pop("network"))
            neutron.create_subnet(
                name=name, network_id=network.id, **attributes
            )
    entry = wanted["router"]
    gateway = neutron.find_network(entry["gateway"])
    router = neutron.find_router(entry["name"]) or neutron.create_router(
        name=entry["name"], external_gateway_info={"network_id": gateway.id}
    )
    subnet = neutron.find_subnet(entry["subnet"])
    ports = neutron.ports(device_id=router.id)
    inside = {ip["subnet_id"] for port in ports for ip in port.fixed_ips}
    if subnet.id not in inside:
        neutron.add_interface_to_router(router, subnet_id=subnet.id)


def ensure_quotas(cloud: t.Any, wanted: dict[str, t.Any]) -> None:
    """Set quotas that no scenario reaches."""
    for name in wanted["projects"]:
        project = cloud.identity.find_project(name, ignore_missing=False)
        try:
            cloud.set_compute_quotas(project.id, **wanted["compute"])
            cloud.set_network_quotas(project.id, **wanted["network"])
        except openstack.exceptions.SDKException as refused:
            raise errors.CloudError(
                f"quotas of project {name} were refused: {refused}"
            ) from refused
