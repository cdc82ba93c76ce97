# SPDX-License-Identifier: Apache-2.0
"""Wait until guests are active, with one request per second for all."""

import collections.abc
import contextlib
import dataclasses
import time
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors

Progress = collections.abc.Callable[[str], None]

#: A part of the message of a fault -> the solution.
_REMEDIES = {
    "No valid host": "request fewer or smaller guests or another zone, or "
    "check the log of nova-scheduler",
    "Quota": "raise the quota or request less",
    "Exceeded maximum number of retries": "check the log of nova-compute on "
    "the hosts that were tried",
    "image": "check that the image boots with this flavor",
}
_DEFAULT_REMEDY = "check the log of nova-compute on the guest's host"


@dataclasses.dataclass(frozen=True, kw_only=True)
class BootOutcome:
    """The outcome of the boot of all guests.

    :param ready: The server and the boot duration in seconds, by guest.
    :param failed: The one-line reasons why guests are not active, by guest.
    """

    ready: dict[str, tuple[t.Any, float]]
    failed: dict[str, str]


def wait_until_active(
    connection: cloud.Connection,
    server_ids: collections.abc.Mapping[str, str],
    started: collections.abc.Mapping[str, float],
    timeout: float,
    progress: Progress,
    names: collections.abc.Iterable[str],
    placed: str = "",
) -> BootOutcome:
    """Wait for all guests; return the active and the failed ones.

    :param server_ids: The identifiers of the servers, by guest.
    :param started: The monotonic times of the requests to boot, by guest.
    :param names: The names of the servers, which limit the requests.
    :param placed: The requested placement; empty if there is none.
    :raises GuestError: If all guests fail, disappear or time out; with the
        first reason.
    """
    server_names = tuple(names)
    deadline = time.monotonic() + timeout
    ready: dict[str, tuple[t.Any, float]] = {}
    statuses: dict[str, str] = {}
    failed: dict[str, str] = {}
    pending = set(server_ids)
    last_error = ""
    while True:
        try:
            servers = cloud.list_servers(connection, server_names)
        except cloud.CLOUD_ERRORS as error:
            if not cloud.is_temporary(error):
                raise errors.GuestError(
                    f"list servers: {cloud.one_line(error)}"
                ) from error
            last_error = f" (last response of Nova: {cloud.one_line(error)})"
        else:
            for number, guest in enumerate(server_ids, 1):
                if guest not in pending:
                    continue
                server = servers.get(server_ids[guest])
                status = server.status if server else "gone"
                seconds = time.monotonic() - started[guest]
                earlier = statuses.get(guest, "BUILD")
                if status != earlier:
                    progress(
                        f"guest {number} of {len(server_ids)}: {earlier} -> "
                        f"{status} after {seconds:.0f} s"
                    )
                statuses[guest] = status
                if status == "ACTIVE":
                    ready[guest] = (server, seconds)
                elif reason := _find_failure(
                    connection, guest, server_ids[guest], server, placed
                ):
                    failed[guest] = reason
            pending = server_ids.keys() - ready.keys() - failed.keys()
        if not pending:
            if not ready:
                raise errors.GuestError(next(iter(failed.values())))
            return BootOutcome(ready=ready, failed=failed)
        if time.monotonic() > deadline:
            late = {
                guest: f"guest {guest} is {statuses.get(guest, 'unseen')}, "
                f"not active, after {timeout:.0f} s{last_error}"
                for guest in server_ids
                if guest in pending
            }
            if not ready:
                raise errors.GuestError(
                    _format_timeout(
                        connection, server_ids, late, statuses, timeout
                    )
                    + last_error
                )
            return BootOutcome(ready=ready, failed=failed | late)
        time.sleep(1)


def wait_until_placed(
    connection: cloud.Connection, identifier: str, timeout: float
) -> None:
    """Wait until Nova has chosen a server's host, or failed; return None.

    Failures of the server and of the request are ignored.
    """
    deadline = time.monotonic() + timeout
    with contextlib.suppress(*cloud.CLOUD_ERRORS):
        while time.monotonic() < deadline:
            server = connection.compute.get_server(identifier)
            if server.host_id or server.status != "BUILD":
                return
            time.sleep(1)


def _find_failure(
    connection: cloud.Connection,
    guest: str,
    identifier: str,
    server: t.Any,
    placed: str,
) -> str:
    """Return the reason why a guest will not become active, or ""."""
    if server is None:
        return (
            f"guest {guest} ({identifier}) was deleted by another user "
            "while it booted; run the task again"
        )
    if server.status != "ERROR":
        return ""
    where = f" (requested: {placed})" if placed else ""
    fault = describe_fault(connection, server)
    return f"guest {guest}{where} is in ERROR: {fault}"


def describe_fault(connection: cloud.Connection, server: t.Any) -> str:
    """Return the fault of a failed server and the solution."""
    fault = server.fault
    if not fault:
        with contextlib.suppress(*cloud.CLOUD_ERRORS):
            fault = connection.compute.get_server(server.id).fault
    message = " ".join(str((fault or {}).get("message") or "").split())
    message = message[:500].rstrip(".") or "Nova gives no reason"
    for fragment, remedy in _REMEDIES.items():
        if fragment in message:
            return f"{message}; {remedy}"
    return f"{message}; {_DEFAULT_REMEDY}"


def _format_timeout(
    connection: cloud.Connection,
    server_ids: collections.abc.Mapping[str, str],
    late: collections.abc.Collection[str],
    statuses: collections.abc.Mapping[str, str],
    timeout: float,
) -> str:
    """Return a message on late guests, with the console of the first."""
    first = next(iter(late))
    states_text = ", ".join(
        f"{guest} {statuses.get(guest, 'unseen')}" for guest in late
    )
    return (
        f"{len(late)} of {len(server_ids)} guests are not active after "
        f"{timeout:.0f} s ({states_text}); raise boot_timeout or check the "
        f"hosts; end of the console of {first}:\n"
        + console.diagnose(connection, server_ids[first]).end
    )
