# SPDX-License-Identifier: Apache-2.0
"""The services of the embedded cloud: wait for them, and forget old ones."""

import collections.abc
import datetime
import time
import typing as t

import openstack

from rally_vmperf.image import commands
from tests.cloud.system import layout

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
    :raises errors.HostError: If the condition does not hold in time.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise commands.HostError(
                f"{what} is still missing after {timeout:.0f} s; see "
                "'python -m tests.cloud status' and the directory log; "
                "'python -m tests.cloud up --rebuild' starts with empty "
                "databases"
            )
        time.sleep(interval)


def have_reported(
    cloud: t.Any, starts: collections.abc.Mapping[tuple[str, str], float]
) -> bool:
    """Return whether programs have reported since they were started.

    :param cloud: A connection as administrator.
    :param starts: The time when a program started, in seconds since 1970, by
        host and name.
    """
    reports = {
        (agent.host, agent.binary): agent.last_heartbeat_at
        for agent in cloud.network.agents()
        if agent.is_alive
    }
    for service in cloud.compute.services(binary="nova-compute"):
        if service.state == "up":
            reports[service.host, service.binary] = service.updated_at
    if any(name in layout.VOLUME_SERVICES for _, name in starts):
        for service in cloud.block_storage.services():
            if service.state == "up":
                # The host of cinder-volume has the name of its backend, too.
                host, _, _ = service.host.partition("@")
                reports[host, service.binary] = service.updated_at
    return all(
        _parse_time(reports.get(program)) >= start
        for program, start in starts.items()
    )


def _parse_time(text: str | None) -> float:
    """Return a time of an API, which is in UTC, in seconds since 1970."""
    if not text:
        return -1
    time = datetime.datetime.fromisoformat(text)
    return time.replace(tzinfo=datetime.UTC).timestamp()


def forget_guests(cloud: t.Any) -> None:
    """Delete the servers of a cloud that was down: they no longer run."""
    for server in cloud.compute.servers(all_projects=True):
        cloud.compute.delete_server(server, force=True)
    wait(
        "the end of earlier guests",
        lambda: not list(cloud.compute.servers(all_projects=True)),
    )


def check_hypervisor_removable(cloud: t.Any) -> None:
    """Reject the removal of the second hypervisor while it is in use.

    :param cloud: A connection as administrator.
    :raises errors.HostError: With the names of its guests, or with its
        migrations that have not ended.
    """
    name = layout.HYPERVISORS[1]
    guests = [
        server.name
        for server in cloud.compute.servers(all_projects=True)
        if server.compute_host == name
    ]
    if guests:
        raise commands.HostError(
            f"--hypervisors=1: hypervisor {name} has guests "
            f"({', '.join(sorted(guests))}); migrate or delete them first"
        )
    answer = cloud.compute.get("/os-migrations", microversion=_MIGRATIONS)
    openstack.exceptions.raise_from_response(answer)
    running = [
        migration["instance_uuid"]
        for migration in answer.json()["migrations"]
        if name in (migration["source_compute"], migration["dest_compute"])
        and migration["status"] not in _ENDED
    ]
    if running:
        raise commands.HostError(
            f"--hypervisors=1: hypervisor {name} has migrations that have "
            f"not ended, of {', '.join(running)}; wait for their end"
        )


def forget_hypervisor(cloud: t.Any) -> None:
    """Delete the second hypervisor, which has ended, in Nova and Neutron."""
    for service in cloud.compute.services(host=layout.HYPERVISORS[1]):
        cloud.compute.update_service_forced_down(service, forced=True)
        cloud.compute.delete_service(service)
    for agent in cloud.network.agents(host=layout.HYPERVISORS[1]):
        cloud.network.delete_agent(agent)


def check_volumes_removable(cloud: t.Any) -> None:
    """Reject the removal of Cinder and Ceph while they have volumes.

    :param cloud: A connection as administrator.
    :raises errors.HostError: With the names of the volumes.
    """
    names = [
        volume.name or volume.id
        for volume in cloud.block_storage.volumes(all_projects=True)
    ]
    if names:
        raise commands.HostError(
            f"--no-volumes: volumes exist ({', '.join(sorted(names))}); "
            "delete them first"
        )


def forget_volumes(cloud: t.Any) -> None:
    """Delete Cinder, which has ended, in the catalog."""
    for service in cloud.identity.services(type="block-storage"):
        cloud.identity.delete_service(service)
