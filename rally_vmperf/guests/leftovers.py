"""What runs of Rally left in a cloud, ours and that of Rally's contexts."""

import collections.abc
import functools
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import inventory

Resource = inventory.Resource
Owns = inventory.Owns


def find(
    connection: sdk.Connection, owns: Owns, *, admin: bool
) -> list[Resource]:
    """Return everything whose name is owned, in the order of deletion.

    :param admin: look into all projects, and for users and projects too
    """
    found = [
        *running(connection, owns, admin=admin),
        *inventory.floating_addresses(connection, owns),
        *inventory.volumes(connection, owns, **_projects(admin)),
        *_network(connection, owns),
        *inventory.ports(connection, owns),
        *inventory.security_groups(connection, owns),
        *inventory.server_groups(connection, owns, **_projects(admin)),
        *inventory.key_pairs(connection, owns),
    ]
    if admin:
        found += _identity(connection, owns)
    return found


def running(
    connection: sdk.Connection, owns: Owns, *, admin: bool
) -> list[Resource]:
    """Return the servers only; all else waits for them."""
    return list(inventory.servers(connection, owns, **_projects(admin)))


def _projects(admin: bool) -> dict[str, bool]:
    return {"all_projects": True} if admin else {}


def _network(
    connection: sdk.Connection, owns: Owns
) -> collections.abc.Iterator[Resource]:
    network = connection.network
    for kind, listed, delete in (
        ("router", network.routers, functools.partial(_router, connection)),
        ("subnet", network.subnets, network.delete_subnet),
        ("network", network.networks, network.delete_network),
    ):
        for one in listed():
            if owns(one.name):
                yield inventory.resource(kind, one, delete)


def _router(
    connection: sdk.Connection, identifier: str, ignore_missing: bool
) -> None:
    for port in connection.network.ports(device_id=identifier):
        if port.device_owner == "network:router_interface":
            connection.network.remove_interface_from_router(
                identifier, port_id=port.id
            )
    connection.network.delete_router(identifier, ignore_missing=ignore_missing)


def _identity(
    connection: sdk.Connection, owns: Owns
) -> collections.abc.Iterator[Resource]:
    identity = connection.identity
    users = [one for one in identity.users() if owns(one.name)]
    for user in users:
        yield from inventory.key_pairs(connection, owns, user_id=user.id)
        yield inventory.resource("user", user, identity.delete_user)
    projects = {one.id: one for one in identity.projects() if owns(one.name)}
    yield from _default_groups(connection, projects)
    for project in projects.values():
        yield inventory.resource("project", project, identity.delete_project)


def _default_groups(
    connection: sdk.Connection, projects: dict[str, t.Any]
) -> collections.abc.Iterator[Resource]:
    """Neutron makes one in each project and leaves it behind.

    It makes one anew whenever a single project's groups are asked for, so
    all are asked for.
    """
    delete = connection.network.delete_security_group
    for group in connection.network.security_groups() if projects else ():
        if group.name == "default" and group.project_id in projects:
            name = projects[group.project_id].name
            yield inventory.resource("security group", group, delete, name)
