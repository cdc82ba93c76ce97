"""Server groups: guests together on one host, or apart."""

import collections
import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.measurement import finding

Guest = collections.abc.Mapping[str, t.Any]


def add(connection: sdk.Connection, name: str, policy: str) -> dict[str, str]:
    """Make a server group.

    :return: the scheduler hint that puts a server into it
    """
    with cloud.asking(f"create server group {name} ({policy})"):
        # The SDK says it in the words of the API's version, old or new.
        made = connection.compute.create_server_group(
            name=name, policies=[policy]
        )
    return {"group": made.id}


def findings(
    guests: collections.abc.Iterable[Guest], policy: str
) -> list[finding.Finding]:
    """Return whether guests are not together or apart as was asked.

    Members see ``hostId``, a hash of project and host: the same for all
    guests of a project on one host.
    """
    guests = list(guests)
    by_host: dict[str, list[str]] = collections.defaultdict(list)
    for guest in guests:
        if not guest["host_id"]:
            return [
                finding.Finding(
                    kind="placement_unknown",
                    subject=guest["name"],
                    seen=f"Nova gives no hostId, server_group {policy} was "
                    "asked for",
                )
            ]
        by_host[guest["host_id"]].append(guest["name"])
    wanted = len(guests) if policy.endswith("anti-affinity") else 1
    if len(by_host) == wanted:
        return []
    soft = policy.startswith("soft-")
    seen = "; ".join(", ".join(names) for names in by_host.values())
    return [
        finding.Finding(
            kind="guests_not_as_wished" if soft else "wrong_host",
            subject="guests",
            seen=f"server_group {policy} was asked for, host by host they "
            f"are: {seen}",
        )
    ]
