# SPDX-License-Identifier: Apache-2.0
"""Free quota of the project, checked before resources are created."""

import collections.abc
import typing as t

from rally_vmperf.guests import cloud

_UNLIMITED = -1
#: The quotas of Cinder that each volume type has, too, by their names there.
_PER_TYPE = {"volumes": "volumes", "GiB of volumes": "gigabytes"}
_TYPE = " of type "

#: The quotas of Neutron, as attributes of the SDK.
_NETWORK_QUOTAS = {
    "floating IPs": "floating_ips",
    "ports": "ports",
    "security groups": "security_groups",
    "security group rules": "security_group_rules",
}


def find_free_quota(
    connection: cloud.Connection, needs: dict[str, int]
) -> dict[str, int | None]:
    """Return the free quota of each resource as a dict; None: unlimited."""
    free_quota = find_free_compute_quota(connection)
    if needs.get("key pairs"):
        # Nova counts them per user, and does not report the number.
        with cloud.convert_errors("list key pairs"):
            used = sum(1 for _ in connection.compute.keypairs())
        free_quota["key pairs"] = _subtract(free_quota["key pairs"], used)
    if any(needs.get(resource) for resource in _NETWORK_QUOTAS):
        free_quota |= find_free_network_quota(connection)
    if needs.get("volumes"):
        free_quota |= find_free_volume_quota(connection, needs)
    return free_quota


def describe_shortage(
    project: str, free_quota: dict[str, int | None], needs: dict[str, int]
) -> str:
    """Return one line on the resources beyond the quota, or "".

    :param free_quota: The free quota of each resource; None if unlimited.
    :param needs: The required number of each resource.
    """
    short = []
    for resource, need in needs.items():
        free = free_quota.get(resource)
        if free is not None and need > free:
            verb = "is" if need == 1 else "are"
            short.append(
                f"has quota for {free} more {resource}, {need} {verb} required"
            )
    if not short:
        return ""
    return (
        f"quota: project {project} {'; '.join(short)}; request less, delete "
        "unused resources, or raise the quota"
    )


def find_free_compute_quota(
    connection: cloud.Connection,
) -> dict[str, int | None]:
    """Return the free quota in Nova as a dict; None means unlimited.

    The quota of key pairs includes those in use.
    """
    with cloud.convert_errors("read the compute limits"):
        limits = connection.compute.get_limits().absolute
    return {
        "instances": _subtract(limits.instances, limits.instances_used),
        "cores": _subtract(limits.total_cores, limits.total_cores_used),
        "MiB of memory": _subtract(limits.total_ram, limits.total_ram_used),
        "server groups": _subtract(
            limits.server_groups, limits.server_groups_used
        ),
        "members of a server group": _subtract(limits.server_group_members, 0),
        "key pairs": _subtract(limits.keypairs, 0),
    }


def find_free_network_quota(
    connection: cloud.Connection,
) -> dict[str, int | None]:
    """Return the free quota in Neutron; {} if a policy hides it."""
    limits = {}
    with cloud.convert_errors("read the network quota"):
        project = connection.current_project_id
        with cloud.skip_if_forbidden():
            details = connection.network.get_quota(project, details=True)
            limits = {
                resource: getattr(details, attribute)
                for resource, attribute in _NETWORK_QUOTAS.items()
            }
    free_quota: dict[str, int | None] = {}
    for resource, detail in limits.items():
        if isinstance(detail, dict):
            used = detail.get("used", 0) + detail.get("reserved", 0)
            free_quota[resource] = _subtract(detail.get("limit"), used)
    return free_quota


def name_type_quota(resource: str, volume_type: str) -> str:
    """Return the name of a quota of Cinder for volumes of one type."""
    return f"{resource}{_TYPE}{volume_type}"


def find_free_volume_quota(
    connection: cloud.Connection, needs: collections.abc.Iterable[str] = ()
) -> dict[str, int | None]:
    """Return the free quota in Cinder as a dict; None means unlimited.

    A policy can hide the maximum size of one volume, and the quotas of volume
    types.

    :param needs: The names of the required resources, some of one type.
    """
    with cloud.convert_errors("read the volume limits"):
        limits = connection.block_storage.get_limits().absolute
    quota_set: t.Any = None
    with (
        cloud.convert_errors("read the volume quota"),
        cloud.skip_if_forbidden(),
    ):
        quota_set = connection.block_storage.get_quota_set(
            connection.current_project_id, usage=True
        )
    return {
        "GiB of one volume": _subtract(
            getattr(quota_set, "per_volume_gigabytes", None), 0
        ),
        "volumes": _subtract(
            limits.max_total_volumes, limits.total_volumes_used
        ),
        "GiB of volumes": _subtract(
            limits.max_total_volume_gigabytes, limits.total_gigabytes_used
        ),
        **{
            need: _find_type_quota(quota_set, need)
            for need in needs
            if _TYPE in need
        },
    }


def _find_type_quota(quota_set: t.Any, need: str) -> int | None:
    """Return the free quota of a volume type; None if unlimited or hidden."""
    resource, _, volume_type = need.partition(_TYPE)
    name = f"{_PER_TYPE[resource]}_{volume_type}"
    used = [
        (getattr(quota_set, kind, None) or {}).get(name) or 0
        for kind in ("usage", "reservation")
    ]
    return _subtract(getattr(quota_set, name, None), sum(used))


def _subtract(limit: int | None, used: int | None) -> int | None:
    """Return the free part of a limit, at least 0; None if unlimited."""
    if limit is None or limit == _UNLIMITED:
        return None
    return max(0, limit - (used or 0))
