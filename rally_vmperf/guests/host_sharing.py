# SPDX-License-Identifier: Apache-2.0
"""The guests of others on the hosts of a run, which administrators see."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import units

Guests = collections.abc.Sequence[models.Guest]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OtherGuests:
    """The guests on a host that do not belong to the run.

    :param count: The number of guests, including stopped ones.
    """

    host: str
    count: int
    vcpus: int

    def sentence(self) -> str:
        """Return the host, the guests and their vCPUs as text."""
        guests = units.number_of("guest", self.count)
        vcpus = units.number_of("vCPU", self.vcpus)
        return f"host {self.host} has {guests} of others with {vcpus}"


def find_other_guests(
    admin: cloud.Connection, guests: Guests
) -> list[OtherGuests]:
    """Return the guests of others on each host that is not empty.

    A server that Nova is deleting is not counted.

    :param guests: All guests of the run; those without a known host are
        skipped.
    :raises GuestError: If Nova does not list the servers of a host.
    """
    run_ids = {guest.id for guest in guests}
    others = []
    for host in sorted({guest.host for guest in guests if guest.host}):
        with cloud.convert_errors(f"list the guests of host {host}"):
            servers = [
                server
                for server in admin.compute.servers(
                    all_projects=True, compute_host=host
                )
                if server.compute_host == host
                and server.id not in run_ids
                and server.task_state != "deleting"
            ]
        if servers:
            vcpus = sum(server.flavor.vcpus or 0 for server in servers)
            others.append(
                OtherGuests(host=host, count=len(servers), vcpus=vcpus)
            )
    return others


def find_shared_hosts(
    admin: cloud.Connection,
    guests: Guests,
    progress: t.Callable[[str], None],
) -> tuple[finding.Finding, ...]:
    """Return a finding on each host that has guests of others.

    If Nova does not list them, this is reported as progress.
    """
    try:
        others = find_other_guests(admin, guests)
    except errors.GuestError as error:
        progress(f"Cannot check for guests of others: {error}")
        return ()
    return tuple(
        finding.Finding("host_shared", other.host, other.sentence())
        for other in others
    )


def require_empty_hosts(
    admin: cloud.Connection | None, guests: Guests
) -> None:
    """Reject hosts that have guests of others, for ``empty_host``.

    :raises GuestError: If a host is not empty or not known.
    """
    connection = require_admin(admin)
    unknown = [guest.name for guest in guests if not guest.host]
    if unknown:
        raise errors.GuestError(
            f"empty_host: Nova does not show the host of {unknown[0]}; permit "
            "the admin to read it (OS-EXT-SRV-ATTR:host), or remove the option"
        )
    others = find_other_guests(connection, guests)
    if others:
        sentences = "; ".join(other.sentence() for other in others)
        raise errors.GuestError(
            f"empty_host: {sentences}; move these guests away, set host to an "
            "empty host, or remove the option"
        )


def require_admin(admin: cloud.Connection | None) -> cloud.Connection:
    """Return the administrator's connection, which ``empty_host`` requires.

    :raises GuestError: If there is no administrator.
    """
    if admin is None:
        raise errors.GuestError(
            "empty_host: only an administrator sees the guests of others; add "
            "an admin to the environment, or remove the option"
        )
    return admin
