# SPDX-License-Identifier: Apache-2.0
"""The deletion of servers, also of those that Nova migrates."""

import collections.abc
import contextlib
import time
import typing as t

from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import waiting

#: The version of Nova's API that aborts live migrations.
_ABORT_VERSION = "2.24"
#: Seconds within which an aborted migration of a failed guest must end.
_ABORT_SECONDS = 60


def request_abort(compute: t.Any, server_id: str, migration_id: int) -> t.Any:
    """Request the abort of a live migration; return Nova's response.

    :param compute: Nova, for an administrator.
    """
    return compute.delete(
        f"/servers/{server_id}/migrations/{migration_id}",
        microversion=_ABORT_VERSION,
    )


def delete(
    connection: cloud.Connection,
    server: t.Any,
    admin: cloud.Connection | None = None,
) -> None:
    """Delete a server; during a live migration, request its abort instead.

    Nova deletes it on its source host only: the guest runs on at the target.

    :param server: The server, with the state of its current task.
    :param admin: The connection of an administrator, who may abort
        migrations; None for that of the owner.
    :raises CloudBusy: If the server is being migrated.
    """
    if server.task_state == "migrating":
        outcome = _abort_migrations((admin or connection).compute, server.id)
        raise cloud.CloudBusy(f"Nova migrates it; {outcome}")
    connection.compute.delete_server(server.id, ignore_missing=True)


def _abort_migrations(compute: t.Any, server_id: str) -> str:
    """Request the abort of a server's migrations; return what happens."""
    outcome = "wait, or abort the migration"
    try:
        for migration in compute.server_migrations(server_id):
            answer = request_abort(compute, server_id, migration.id)
            sdk_errors.raise_from_response(answer)
            outcome = "aborting the migration"
    except cloud.CLOUD_ERRORS as error:
        return f"{outcome} (not aborted: {cloud.one_line(error)})"
    return outcome


def delete_failed(
    connection: cloud.Connection,
    failed: collections.abc.Mapping[str, str],
    progress: waiting.Progress,
    admin: cloud.Connection | None = None,
) -> None:
    """Request the deletion of servers whose guests failed.

    A guest that boots late, or repeatedly, would disturb the other guests.
    The clean-up verifies that the servers are deleted.

    :param failed: The reasons by identifier of the server.
    :param admin: The connection of an administrator, as for ``delete``.
    """
    for identifier, reason in failed.items():
        progress(f"{reason}; the run continues without it")
        with contextlib.suppress(*cloud.CLOUD_ERRORS):
            _delete_after_migration(connection, identifier, progress, admin)


def _delete_after_migration(
    connection: cloud.Connection,
    identifier: str,
    progress: waiting.Progress,
    admin: cloud.Connection | None,
) -> None:
    """Request the deletion of a server as soon as Nova does not migrate it.

    :raises CloudBusy: If its migration does not end.
    """
    deadline = time.monotonic() + _ABORT_SECONDS
    last_text = ""
    while True:
        server = connection.compute.get_server(identifier)
        try:
            return delete(connection, server, admin)
        except cloud.CloudBusy as error:
            if str(error) != last_text:
                progress(f"server {server.name}: {error}")
            last_text = str(error)
            if time.monotonic() > deadline:
                raise
        time.sleep(1)
