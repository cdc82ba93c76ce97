"""Free quota of the project, checked before resources are created."""

from openstack import connection as sdk

from rally_vmperf.guests import cloud

_UNLIMITED = -1


def rooms(
    connection: sdk.Connection, needs: dict[str, int]
) -> dict[str, int | None]:
    """Return the free quota of each resource; None if it is unlimited."""
    free_quota = compute_room(connection)
    if needs.get("floating IPs") or needs.get("ports"):
        free_quota |= network_room(connection)
    if needs.get("volumes"):
        free_quota |= volume_room(connection)
    return free_quota


def refusal(
    project: str, rooms: dict[str, int | None], needs: dict[str, int]
) -> str:
    """Return the resources that exceed the quota in one line, or nothing.

    :param rooms: The free quota of each resource; None if it is unlimited.
    :param needs: The required number of each resource.
    """
    short = []
    for resource, need in needs.items():
        room = rooms.get(resource)
        if room is not None and need > room:
            verb = "is" if need == 1 else "are"
            short.append(
                f"has quota for {room} more {resource}, {need} {verb} required"
            )
    if not short:
        return ""
    return (
        f"quota: project {project} {'; '.join(short)}; request less, delete "
        "unused resources, or raise the quota"
    )


def compute_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return the free quota of the project in Nova."""
    with cloud.asking("read the compute limits"):
        limits = connection.compute.get_limits().absolute
    return {
        "instances": _room(limits.instances, limits.instances_used),
        "cores": _room(limits.total_cores, limits.total_cores_used),
        "MiB of memory": _room(limits.total_ram, limits.total_ram_used),
        "server groups": _room(
            limits.server_groups, limits.server_groups_used
        ),
        "members of a server group": _room(limits.server_group_members, 0),
    }


def network_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return the free quota in Neutron; nothing if a policy hides it."""
    limits = {}
    with cloud.asking("read the network quota"):
        project = connection.current_project_id
        with cloud.unless_forbidden():
            details = connection.network.get_quota(project, details=True)
            limits["floating IPs"] = details.floating_ips
            limits["ports"] = details.ports
    free_quota: dict[str, int | None] = {}
    for resource, detail in limits.items():
        if isinstance(detail, dict):
            used = detail.get("used", 0) + detail.get("reserved", 0)
            free_quota[resource] = _room(detail.get("limit"), used)
    return free_quota


def volume_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return the free quota of the project in Cinder."""
    with cloud.asking("read the volume limits"):
        limits = connection.block_storage.get_limits().absolute
    return {
        "volumes": _room(limits.max_total_volumes, limits.total_volumes_used),
        "GiB of volumes": _room(
            limits.max_total_volume_gigabytes, limits.total_gigabytes_used
        ),
    }


def _room(limit: int | None, used: int | None) -> int | None:
    if limit is None or limit == _UNLIMITED:
        return None
    return max(0, limit - (used or 0))
