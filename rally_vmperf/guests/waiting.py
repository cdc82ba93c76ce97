"""Wait until guests are active, with one request a second for all."""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors

Progress = collections.abc.Callable[[str], None]

#: What Nova's faults say -> what can be done about them.
_REMEDIES = {
    "No valid host": "ask for fewer or smaller guests, another zone, or have "
    "the scheduler's log read",
    "Quota": "have the quota raised or ask for less",
    "Exceeded maximum number of retries": "have nova-compute's log read on "
    "the hosts that were tried",
    "image": "check that the image boots with this flavor",
}
_OTHERWISE = "have nova-compute's log read on the guest's host"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Waited:
    """How servers came up.

    :param ready: guest -> its server, and the seconds that its boot took
    :param failed: guest -> in one line why it is not active
    """

    ready: dict[str, tuple[t.Any, float]]
    failed: dict[str, str]


def until_active(
    connection: sdk.Connection,
    wanted: collections.abc.Mapping[str, str],
    started: collections.abc.Mapping[str, float],
    timeout: float,
    progress: Progress,
    names: collections.abc.Iterable[str],
    placed: str = "",
) -> Waited:
    """Wait until all guests are active, or have failed.

    :param wanted: guest -> id of its server
    :param started: guest -> when its server was asked for (monotonic)
    :param names: of the servers; nobody else's are asked for
    :param placed: the placement that was asked for, if any
    :raises GuestError: when all fail, vanish or take too long, with the
        first reason
    """
    beginning = cloud.beginning(names)
    deadline = time.monotonic() + timeout
    ready: dict[str, tuple[t.Any, float]] = {}
    states: dict[str, str] = {}
    failed: dict[str, str] = {}
    trouble = ""
    while True:
        try:
            listed = connection.compute.servers(name=beginning)
            servers = {one.id: one for one in listed}
        except cloud.REFUSALS as error:
            if not cloud.passing(error):
                raise errors.GuestError(
                    f"list servers: {cloud.one_line(error)}"
                ) from error
            trouble = f" (last answer of Nova: {cloud.one_line(error)})"
        else:
            for number, (guest, identifier) in enumerate(wanted.items(), 1):
                if guest in ready or guest in failed:
                    continue
                server = servers.get(identifier)
                state = server.status if server else "gone"
                seconds = time.monotonic() - started[guest]
                if state != states.get(guest, "BUILD"):
                    progress(
                        f"guest {number} of {len(wanted)}: "
                        f"{states.get(guest, 'BUILD')} -> {state} after "
                        f"{seconds:.0f} s"
                    )
                    if state == "ACTIVE":
                        ready[guest] = (server, seconds)
                states[guest] = state
                why = _failure(connection, guest, identifier, server, placed)
                if why:
                    failed[guest] = why
        if len(ready) + len(failed) == len(wanted):
            if not ready:
                raise errors.GuestError(next(iter(failed.values())))
            return Waited(ready=ready, failed=failed)
        if time.monotonic() > deadline:
            late = {
                guest: f"guest {guest} is {states.get(guest, 'unseen')}, not "
                f"active, after {timeout:.0f} s{trouble}"
                for guest in wanted
                if guest not in ready and guest not in failed
            }
            if not ready:
                raise errors.GuestError(
                    _late(connection, wanted, late, states, timeout) + trouble
                )
            return Waited(ready=ready, failed=failed | late)
        time.sleep(1)


def until_placed(
    connection: sdk.Connection, identifier: str, timeout: float
) -> None:
    """Wait until Nova has chosen the host of a server, or given up.

    Whether it boots is not asked, nor why Nova does not say.
    """
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            server = connection.compute.get_server(identifier)
        except cloud.REFUSALS:
            return
        if server.host_id or server.status != "BUILD":
            return
        time.sleep(1)


def _failure(
    connection: sdk.Connection,
    guest: str,
    identifier: str,
    server: t.Any,
    placed: str,
) -> str:
    """Return why a guest will not become active, or nothing."""
    if server is None:
        return (
            f"guest {guest} ({identifier}) was removed by somebody else "
            "while it booted; run the task again"
        )
    if server.status != "ERROR":
        return ""
    where = f" (asked for: {placed})" if placed else ""
    return f"guest {guest}{where} is in ERROR: {fault(connection, server)}"


def fault(connection: sdk.Connection, server: t.Any) -> str:
    """Return what Nova says of a failed server, and the way out."""
    found = server.fault
    if not found:
        try:
            found = connection.compute.get_server(server.id).fault
        except cloud.REFUSALS:
            found = None
    message = " ".join(str((found or {}).get("message") or "").split())
    message = message[:500].rstrip(".") or "Nova gives no reason"
    for words, way in _REMEDIES.items():
        if words in message:
            return f"{message}; {way}"
    return f"{message}; {_OTHERWISE}"


def _late(
    connection: sdk.Connection,
    wanted: collections.abc.Mapping[str, str],
    late: collections.abc.Collection[str],
    states: collections.abc.Mapping[str, str],
    timeout: float,
) -> str:
    first = next(iter(late))
    states_text = ", ".join(f"{g} {states.get(g, 'unseen')}" for g in late)
    return (
        f"{len(late)} of {len(wanted)} guests are not active after "
        f"{timeout:.0f} s ({states_text}); raise boot_timeout or have the "
        f"hosts looked at; end of the console of {first}:\n"
        + console.witness(connection, wanted[first]).end
    )
