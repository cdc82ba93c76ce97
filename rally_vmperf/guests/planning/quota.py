"""Whether the project's quota leaves room, asked before anything is made."""

from openstack import connection as sdk

from rally_vmperf.guests import cloud

_UNLIMITED = -1


def rooms(
    connection: sdk.Connection, needs: dict[str, int]
) -> dict[str, int | None]:
    """Return the free quota of each resource; None where unlimited."""
    found = compute_room(connection)
    if needs.get("floating IPs") or needs.get("ports"):
        found |= network_room(connection)
    if needs.get("volumes"):
        found |= volume_room(connection)
    return found


def refusal(
    project: str, rooms: dict[str, int | None], needs: dict[str, int]
) -> str:
    """Return all resources that are short in one line, or nothing.

    :param rooms: how many more may be made; None where unlimited
    :param needs: how many are to be made
    """
    short = []
    for what, need in needs.items():
        room = rooms.get(what)
        if room is not None and need > room:
            verb = "is" if need == 1 else "are"
            short.append(
                f"has room for {room} more {what}, {need} {verb} asked for"
            )
    if not short:
        return ""
    return (
        f"quota: project {project} {'; '.join(short)}; ask for less, remove "
        "what is not needed, or have the quota raised"
    )


def compute_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return what Nova's limits leave to the project."""
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
    """Return what Neutron's quota leaves; nothing where policy hides it."""
    limits = {}
    with cloud.asking("read the network quota"):
        project = connection.current_project_id
        with cloud.unless_forbidden():
            details = connection.network.get_quota(project, details=True)
            limits["floating IPs"] = details.floating_ips
            limits["ports"] = details.ports
    found: dict[str, int | None] = {}
    for what, detail in limits.items():
        if isinstance(detail, dict):
            used = detail.get("used", 0) + detail.get("reserved", 0)
            found[what] = _room(detail.get("limit"), used)
    return found


def volume_room(connection: sdk.Connection) -> dict[str, int | None]:
    """Return what Cinder's limits leave to the project."""
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
