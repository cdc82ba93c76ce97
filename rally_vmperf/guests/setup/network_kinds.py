# SPDX-License-Identifier: Apache-2.0
"""The kinds of networks of a cloud, by their properties and names."""

import re
import typing as t

from rally_vmperf.guests import resolve

#: The networks of services, by their usual names.
_SERVICES = re.compile(
    r"^ha network tenant|^lb-?mgmt|octavia|amphora|trove|manila[-_]service|"
    r"sahara|magnum|ironic|(?<![a-z])(?:ctlplane|control-?plane|provision"
    r"(?:ing)?|cleaning|inspection|idrac|ipmi|bmc)(?![a-z])"
)
#: The names of networks that usually have another purpose.
_PURPOSES = re.compile(
    r"(?<![a-z])(?:mgmt|management|storage|backup|replication|migration|"
    r"heartbeat|ceph|nfs|iscsi)"
)


def find_misfit(network: t.Any, project: str, *, is_admin: bool) -> str:
    """Return why a network is not one for guests of the project, or "".

    :param network: The network, as an object of the SDK.
    :param project: The identifier of the project.
    :param is_admin: Whether the user is an administrator, who sees networks
        of other projects and boots guests on external networks.
    """
    if misfit := resolve.find_network_misfit(network):
        return misfit.partition(";")[0]
    if _SERVICES.search(str(network.name or "").lower()):
        return "of a service"
    is_shared = getattr(network, "is_shared", None)
    if network.is_router_external:
        if is_shared is False and not is_admin:
            return "external, and not shared"
        return ""
    if is_shared is False and not is_own(network, project):
        return "of another project"
    return ""


def is_own(network: t.Any, project: str) -> bool:
    """Return whether a network belongs to the project, or to none."""
    owner = getattr(network, "project_id", None)
    return owner is None or owner == project


def has_purpose(network: t.Any) -> bool:
    """Return whether the name of a network is of another purpose."""
    return bool(_PURPOSES.search(str(network.name or "").lower()))
