"""Booted guests, until all of them answer SSH and have finished booting."""

import dataclasses
import time
import typing as t

from rally_vmperf.execution import arrival
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import host_keys
from rally_vmperf.measurement import finding
from rally_vmperf.runs import run as runs


def wait(
    connection: t.Any,
    booted: guest.Booted,
    timeout: float,
    progress: runs.Progress,
) -> tuple[guest.Booted, arrival.Guests]:
    """Return the guests with their host keys, and the connections to them.

    :param connection: to the cloud, which shows the guests' consoles
    :param timeout: seconds
    :raises GuestError: for a guest that does not answer, with the end of its
        console, which is the guest's own words
    """
    found = list(booted.findings)
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
                    seen=f"{arrived.busy} was still at work in "
                    f"{one.name} after {timeout:g} s",
                )
                found.append(late)
            if arrived.trouble:
                raise errors.GuestError(_unreached(connection, one, arrived))
    except BaseException:
        arriving.close()
        raise
    arrived_all = dataclasses.replace(
        booted, guests=guests, findings=tuple(found)
    )
    return arrived_all, arriving


def _unreached(
    connection: t.Any, one: guest.Guest, arrived: arrival.Arrival
) -> str:
    """Say why a guest was not reached, with its console as a witness."""
    seen = console.witness(connection, one.id, one.host_key)
    name = f"guest {one.name} at {one.address}"
    end = f"end of the guest's console:\n{seen.end}"
    if arrived.at_jump:
        return f"{name} was not tried: {arrived.trouble}; {end}"
    why = "raise ssh_timeout, or look at its security group and image"
    if seen.hints:
        why = "by its console " + "; ".join(seen.hints)
    return f"{name} does not answer SSH: {arrived.trouble}; {why}; {end}"
