"""Flavors, networks, quotas, hypervisors and the guest image."""

import collections.abc
import datetime
import pathlib
import time
import typing as t

import openstack

from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.system import errors

TIMEOUT = 300.0
_ENDED = ("completed", "error", "failed", "cancelled")
#: The version of Nova's API whose migrations have an identifier and a time.
_MIGRATIONS = "2.59"


def wait(
    what: str,
    condition: collections.abc.Callable[[], object],
    timeout: float = TIMEOUT,
    interval: float = 0.5,
) -> None:
    """Wait until a condition holds in the cloud.

    :param what: The name of the condition in the error.
    :param condition: The function that asks the cloud.
    :param timeout: The time limit in seconds.
    :param interval: The time between two calls in seconds.
    :raises errors.CloudError: If the condition does not hold in time.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise errors.CloudError(
                f"{what} is still missing after {timeout:.0f} s; see "
                "'rally-vmperf cloud status' and the directory log; "
                "'rally-vmperf cloud up --rebuild' starts with empty "
                "databases"
            )
        time.sleep(interval)


def heard_since(report: str | None, start: float) -> bool:
    """Return whether a service has reported since it was started.

    :param report: when it last reported, as the API says it, in UTC
    :param start: when it was started, in seconds of the epoch
    """
    if not report:
        return False
    moment = datetime.datetime.fromisoformat(report)
    return moment.replace(tzinfo=datetime.UTC).timestamp() >= start


def wait_for_hypervisors(cloud: t.Any, starts: dict[str, float]) -> None:
    """Wait until Nova can place guests on each hypervisor.

    :param cloud: A connection as administrator.
    :param starts: The time when nova-compute started, by hypervisor.
    """

    def up() -> bool:
        heard = {
            service.host
            for service in cloud.compute.services(binary="nova-compute")
            if service.state == "up"
            and heard_since(service.updated_at, starts.get(service.host, 0))
        }
        known = {one.name for one in cloud.compute.hypervisors()}
        return set(starts) <= heard and len(known) >= len(starts)

    wait(f"hypervisor {' or '.join(starts)}", up)


def wait_for_agents(
    cloud: t.Any, starts: dict[tuple[str, str], float]
) -> None:
    """Wait until all agents have reported to Neutron.

    :param cloud: A connection as administrator.
    :param starts: The time when an agent started, by host and program.
    """

    def up() -> bool:
        heard = {
            (agent.host, agent.binary)
            for agent in cloud.network.agents()
            if agent.is_alive
            and heard_since(
                agent.last_heartbeat_at,
                starts.get((agent.host, agent.binary), 0),
            )
        }
        return set(starts) <= heard

    wait(f"one of {', '.join(name for _, name in starts)}", up)


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


def check_hypervisor_removable(cloud: t.Any) -> None:
    """Reject the removal of the second hypervisor while it is in use.

    :param cloud: A connection as administrator.
    :raises errors.CloudError: With the names of its guests, or with its
        migrations that have not ended.
    """
    name = hypervisors.NAMES[1]
    guests = [
        server.name
        for server in cloud.compute.servers(all_projects=True)
        if server.compute_host == name
    ]
    if guests:
        raise errors.CloudError(
            f"--hypervisors=1: hypervisor {name} has guests "
            f"({', '.join(sorted(guests))}); migrate or delete them first"
        )
    answer = cloud.compute.get("/os-migrations", microversion=_MIGRATIONS)
    openstack.exceptions.raise_from_response(answer)
    running = [
        one["instance_uuid"]
        for one in answer.json()["migrations"]
        if name in (one["source_compute"], one["dest_compute"])
        and one["status"] not in _ENDED
    ]
    if running:
        raise errors.CloudError(
            f"--hypervisors=1: hypervisor {name} has migrations that have "
            f"not ended, of {', '.join(running)}; wait for their end"
        )


def forget_hypervisor(cloud: t.Any) -> None:
    """Delete the second hypervisor, which has ended, in Nova and Neutron.

    :param cloud: A connection as administrator.
    """
    for service in cloud.compute.services(host=hypervisors.NAMES[1]):
        cloud.compute.update_service_forced_down(service, forced=True)
        cloud.compute.delete_service(service)
    for agent in cloud.network.agents(host=hypervisors.NAMES[1]):
        cloud.network.delete_agent(agent)
    wait(
        f"the removal of hypervisor {hypervisors.NAMES[1]}",
        lambda: len(list(cloud.compute.hypervisors())) <= 1,
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


def ensure_image(
    cloud: t.Any,
    wanted: dict[str, t.Any],
    path: pathlib.Path,
) -> None:
    """Upload the guest image unless Glance has this build of it.

    :param cloud: a connection as administrator
    :param wanted: its name and properties
    :param path: the file
    """
    stamp = str(path.stat().st_mtime_ns)
    name = wanted["name"]
    for image in cloud.image.images(name=name):
        known = image.properties.get("vmperf_build") == stamp
        if known and image.status == "active":
            return
        cloud.image.delete_image(image)
    cloud.create_image(
        filename=str(path), wait=True, vmperf_build=stamp, **wanted
    )


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
