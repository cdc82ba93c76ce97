"""Projects, users and endpoints in Keystone."""

import typing as t

import openstack

from rally_vmperf.cloud.system import layout

DOMAIN = "default"
INTERFACES = ("public", "internal", "admin")


def connect(folders: layout.Layout, user: str = "admin") -> t.Any:
    """Return a connection to the embedded cloud.

    :param folders: the state root's folders
    :param user: admin or member
    """
    config = openstack.config.OpenStackConfig(
        config_files=[str(folders.clouds)], load_envvars=False
    )
    return openstack.connection.Connection(
        config=config.get_one(f"vmperf-{user}")
    )


def ensure(
    cloud: t.Any,
    wanted: dict[str, t.Any],
    secrets: dict[str, str],
) -> None:
    """Create or update everything that identity.yaml.j2 lists.

    :param cloud: a connection as administrator
    :param wanted: what the file says
    :param secrets: passwords by purpose
    """
    keystone = cloud.identity
    projects = {
        name: keystone.find_project(name)
        or keystone.create_project(name=name, domain_id=DOMAIN)
        for name in wanted["projects"]
    }
    roles = {role.name: role for role in keystone.roles()}
    for entry in wanted["users"]:
        project = projects[entry["project"]]
        password = secrets[entry["secret"]]
        user = keystone.find_user(entry["name"])
        if user is None:
            user = keystone.create_user(
                name=entry["name"],
                domain_id=DOMAIN,
                password=password,
                default_project_id=project.id,
            )
        keystone.assign_project_role_to_user(
            project, user, roles[entry["role"]]
        )
    for entry in wanted["endpoints"]:
        publish(keystone, **entry)


def publish(keystone: t.Any, *, name: str, type: str, url: str) -> None:
    """Create or update a service and its endpoints in the catalogue.

    :param keystone: the identity API
    :param name: the service
    :param type: what it provides
    :param url: where it answers
    """
    service = keystone.find_service(name) or keystone.create_service(
        name=name, type=type
    )
    known = {
        endpoint.interface
        for endpoint in keystone.endpoints(service_id=service.id)
    }
    for interface in INTERFACES:
        if interface not in known:
            keystone.create_endpoint(
                service_id=service.id,
                interface=interface,
                url=url,
                region_id=layout.REGION,
            )
