"""The wait for guests to become active, one question a second for all."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors

Progress = collections.abc.Callable[[str], None]

#: What Nova's faults say -> what can be done about them.
_WAYS_OUT = {
    "No valid host": "ask for fewer or smaller guests, another zone, or have "
    "the scheduler's log read",
    "Quota": "have the quota raised or ask for less",
    "Exceeded maximum number of retries": "have nova-compute's log read on "
    "the hosts that were tried",
    "image": "check that the image boots with this flavor",
}
_OTHERWISE = "have nova-compute's log read on the guest's host"


def until_active(
    connection: sdk.Connection,
    wanted: collections.abc.Mapping[str, str],
    started: collections.abc.Mapping[str, float],
    timeout: float,
    progress: Progress,
    placed: str = "",
) -> dict[str, tuple[t.Any, float]]:
    """Return servers and boot seconds by guest when all are active.

    :param wanted: guest -> id of its server
    :param started: guest -> when its server was asked for (monotonic)
    :param placed: the placement that was asked for, if any
    :raises GuestError: when a guest fails, vanishes or takes too long
    """
    deadline = time.monotonic() + timeout
    ready: dict[str, tuple[t.Any, float]] = {}
    states: dict[str, str] = {}
    trouble = ""
    while True:
        try:
            servers = {s.id: s for s in connection.compute.servers()}
        except cloud.REFUSALS as error:
            if not cloud.passing(error):
                raise errors.GuestError(
                    f"list servers: {cloud.one_line(error)}"
                ) from error
            trouble = f" (last answer of Nova: {cloud.one_line(error)})"
        else:
            for number, (guest, identifier) in enumerate(wanted.items(), 1):
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
                _refuse(connection, guest, identifier, server, placed)
        if len(ready) == len(wanted):
            return ready
        if time.monotonic() > deadline:
            raise errors.GuestError(
                _late(connection, wanted, ready, states, timeout) + trouble
            )
        time.sleep(1)


def _refuse(
    connection: sdk.Connection,
    guest: str,
    identifier: str,
    server: t.Any,
    placed: str,
) -> None:
    if server is None:
        raise errors.GuestError(
            f"guest {guest} ({identifier}) was removed by somebody else "
            "while it booted; run the task again"
        )
    if server.status == "ERROR":
        where = f" (asked for: {placed})" if placed else ""
        raise errors.GuestError(
            f"guest {guest}{where} is in ERROR: {fault(connection, server)}"
        )


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
    for words, way in _WAYS_OUT.items():
        if words in message:
            return f"{message}; {way}"
    return f"{message}; {_OTHERWISE}"


def _late(
    connection: sdk.Connection,
    wanted: collections.abc.Mapping[str, str],
    ready: collections.abc.Container[str],
    states: collections.abc.Mapping[str, str],
    timeout: float,
) -> str:
    late = [guest for guest in wanted if guest not in ready]
    first = late[0]
    states_text = ", ".join(f"{g} {states.get(g, 'unseen')}" for g in late)
    return (
        f"{len(late)} of {len(wanted)} guests are not active after "
        f"{timeout:.0f} s ({states_text}); raise boot_timeout or have the "
        f"hosts looked at; end of the console of {first}:\n"
        + console.witness(connection, wanted[first]).end
    )
