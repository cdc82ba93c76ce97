"""Wait until all guests answer SSH and have finished booting."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.measurement import finding
from rally_vmperf.runs import run as runs


def wait(
    connection: t.Any,
    booted: guest.Booted,
    timeout: float,
    progress: runs.Progress,
) -> tuple[guest.Booted, arrival.Guests]:
    """Return the guests with their host keys, and the connections to them.

    Guests that do not answer are left out, unless nobody answers.

    :param connection: to the cloud, which shows the guests' consoles
    :param timeout: seconds
    :raises GuestError: where none answers, with the end of the first one's
        console, which is the guest's own words
    """
    found: list[finding.Finding] = []
    silent: dict[str, str] = {}
    first_end = ""
    begin = time.monotonic()
    guests = host_keys.learn(connection, booted.guests, timeout, progress)
    arriving = arrival.Guests(guests, booted.client_key)
    try:
        left = timeout - (time.monotonic() - begin)
        arrivals = arriving.wait(left, progress)
        for one, arrived in zip(guests, arrivals, strict=True):
            if arrived.busy:
                late = finding.Finding(
                    kind="still_booting",
                    subject=one.name,
                    detail=f"{arrived.busy} was still at work in "
                    f"{one.name} after {timeout:g} s",
                )
                found.append(late)
            if arrived.trouble:
                why, end = _unreached(connection, one, arrived, booted.let_in)
                silent[one.name] = why
                first_end = first_end or f"{why}; {end}"
        if len(silent) == len(guests):
            raise errors.GuestError(first_end)
        boot.leave_out(
            connection,
            {one.id: silent[one.name] for one in guests if one.name in silent},
            progress,
        )
        arriving.leave(silent)
    except BaseException:
        arriving.close()
        raise
    arrived_all = dataclasses.replace(
        booted, guests=guests, findings=(*booted.findings, *found)
    )
    return arrived_all.without(silent), arriving


def _unreached(
    connection: t.Any,
    one: guest.Guest,
    arrived: arrival.Arrival,
    let_in: collections.abc.Sequence[str] | None,
) -> tuple[str, str]:
    """Say in one line why a guest was not reached, and show its console."""
    seen = console.witness(connection, one.id, one.host_key)
    name = f"guest {one.name} at {one.address}"
    end = f"end of the guest's console:\n{seen.end}"
    if arrived.at_jump:
        return f"{name} was not tried: {arrived.trouble}", end
    why = "raise ssh_timeout, or look at its network and image"
    if let_in is not None:
        why += (
            f"; SSH is let in from {access.told(let_in)}: name others with "
            '"allowed_sources": [NETWORK], 0.0.0.0/0 for everywhere'
        )
    if seen.hints:
        why = "by its console " + "; ".join(seen.hints)
    return f"{name} does not answer SSH: {arrived.trouble}; {why}", end
