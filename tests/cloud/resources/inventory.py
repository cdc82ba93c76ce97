# SPDX-License-Identifier: Apache-2.0
"""The resources of the cloud: projects, flavors, networks, the image."""

import pathlib
import typing as t

import openstack

from rally_vmperf import atomic
from rally_vmperf import resources
from tests.cloud.state import templates
from tests.cloud.system import layout


def connect(folders: layout.Layout) -> t.Any:
    """Return a connection to the embedded cloud as administrator."""
    config = openstack.config.OpenStackConfig(
        config_files=[str(folders.clouds)], load_envvars=False
    )
    return openstack.connection.Connection(
        config=config.get_one("vmperf-admin")
    )


def _ensure(api: t.Any, kind: str, name: str, **attributes: t.Any) -> t.Any:
    """Return a resource by its name; create it if it does not exist."""
    resource = getattr(api, f"find_{kind}")(name, ignore_missing=True)
    return resource or getattr(api, f"create_{kind}")(name=name, **attributes)


def ensure_identity(
    cloud: t.Any, resources: dict[str, t.Any], secrets: dict[str, str]
) -> None:
    """Create the projects, users and endpoints that do not exist.

    :param cloud: A connection as administrator.
    :param resources: The content of ``identity.yaml.j2``.
    :param secrets: The secrets by purpose.
    """
    keystone = cloud.identity
    projects = {
        name: _ensure(keystone, "project", name, domain_id="default")
        for name in resources["projects"]
    }
    roles = {role.name: role for role in keystone.roles()}
    for entry in resources["users"]:
        project = projects[entry["project"]]
        user = _ensure(
            keystone,
            "user",
            entry["name"],
            domain_id="default",
            password=secrets[entry["secret"]],
            default_project_id=project.id,
        )
        keystone.assign_project_role_to_user(
            project, user, roles[entry["role"]]
        )
    for entry in resources["endpoints"]:
        service = _ensure(
            keystone, "service", entry["name"], type=entry["type"]
        )
        endpoints = keystone.endpoints(service_id=service.id)
        for interface in {"public", "internal", "admin"} - {
            endpoint.interface for endpoint in endpoints
        }:
            keystone.create_endpoint(
                service_id=service.id,
                interface=interface,
                url=entry["url"],
                region_id=layout.REGION,
            )


def ensure_flavors(cloud: t.Any, flavors: list[dict[str, t.Any]]) -> None:
    """Create the flavors that do not exist."""
    names = {flavor.name for flavor in cloud.compute.flavors()}
    for entry in flavors:
        if entry["name"] not in names:
            attributes = dict(entry)
            specs = attributes.pop("extra_specs", {})
            flavor = cloud.compute.create_flavor(**attributes)
            if specs:
                cloud.compute.create_flavor_extra_specs(flavor, specs)


def ensure_image(
    cloud: t.Any, attributes: dict[str, t.Any], path: pathlib.Path
) -> None:
    """Upload the guest image unless Glance has this build of it.

    :param cloud: A connection as administrator.
    :param attributes: The name and the properties of the image.
    :param path: The path of the guest image.
    """
    stamp = str(path.stat().st_mtime_ns)
    for image in cloud.image.images(name=attributes["name"]):
        is_current = image.properties.get("vmperf_build") == stamp
        if is_current and image.status == "active":
            return
        cloud.image.delete_image(image)
    cloud.create_image(
        filename=str(path), wait=True, vmperf_build=stamp, **attributes
    )


def ensure_networks(cloud: t.Any, resources: dict[str, t.Any]) -> t.Any:
    """Create the networks and the router that do not exist.

    :param cloud: A connection as administrator.
    :param resources: The content of ``resources.yaml.j2``.
    :return: The router.
    """
    neutron = cloud.network
    networks, subnets = {}, {}
    for name, entry in resources["networks"].items():
        attributes = dict(entry)
        subnet = attributes.pop("subnet")
        networks[name] = _ensure(neutron, "network", name, **attributes)
        subnets[name] = _ensure(
            neutron,
            "subnet",
            f"{name}-v4",
            network_id=networks[name].id,
            ip_version=4,
            **subnet,
        )
    router = _ensure(
        neutron,
        "router",
        "router",
        external_gateway_info={"network_id": networks["public"].id},
    )
    ports = neutron.ports(device_id=router.id)
    inside = {ip["subnet_id"] for port in ports for ip in port.fixed_ips}
    subnet_id = subnets["private"].id
    if subnet_id not in inside:
        neutron.add_interface_to_router(router, subnet_id)
    return router


def ensure_volume_types(cloud: t.Any, types: list[dict[str, t.Any]]) -> None:
    """Create the volume types that do not exist, with their limits.

    QEMU enforces the limits, as those of flavors.

    :param cloud: A connection as administrator.
    :param types: Each with ``name`` and, optionally, ``qos``.
    """
    cinder = cloud.block_storage
    known = {spec.name: spec for spec in cinder.qos_specs()}
    for entry in types:
        name = entry["name"]
        volume_type = _ensure(cinder, "type", name)
        if "qos" in entry:
            spec = known.get(name) or cinder.create_qos_spec(
                name=name, consumer="front-end", **entry["qos"]
            )
            cinder.associate_qos_spec(spec, volume_type.id)


def ensure_quotas(cloud: t.Any, quotas: dict[str, t.Any]) -> None:
    """Set quotas that no scenario reaches; those of volumes are the disk."""
    for name in templates.USERS:
        project = cloud.identity.find_project(name, ignore_missing=False)
        cloud.set_compute_quotas(project.id, **quotas["compute"])
        cloud.set_network_quotas(project.id, **quotas["network"])
        if "volume" in quotas:
            cloud.set_volume_quotas(project.id, **quotas["volume"])


def write_tempest_conf(
    folders: layout.Layout, shipped: templates.Templates, cloud: t.Any
) -> None:
    """Write the configuration file of Tempest, which only root can read.

    :param folders: The paths of the cloud.
    :param shipped: The templates.
    :param cloud: A connection as administrator.
    """
    limits = resources.path("etc", "tempest-limits.embedded.yaml")
    text = shipped.render("tempest.conf.j2", cloud=cloud, limits_file=limits)
    atomic.write(folders.root / "tempest.conf", text)
