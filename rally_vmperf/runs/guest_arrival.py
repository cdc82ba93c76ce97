"""The wait until all guests answer SSH and have booted."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.measurement import finding
from rally_vmperf.runs import runs


def wait_for_guests(
    connection: t.Any,
    booted: models.BootedGuests,
    timeout: float,
    progress: runs.Progress,
) -> tuple[models.BootedGuests, arrival.Guests]:
    """Wait until guests answer SSH; return them, and their connections.

    Guests that do not answer are excluded, unless no guest answers.

    :param connection: The connection to the cloud, for the consoles of guests.
    :param timeout: The timeout in seconds.
    :raises GuestError: If no guest answers; with the end of the console of the
        first guest.
    """
    findings: list[finding.Finding] = []
    silent: dict[str, str] = {}
    first_end = ""
    begin = time.monotonic()
    guests = host_keys.read_host_keys(
        connection, booted.guests, timeout, progress
    )
    arriving = arrival.Guests(guests, booted.client_key)
    try:
        left = timeout - (time.monotonic() - begin)
        arrivals = arriving.wait(left, progress)
        for guest_, arrived in zip(guests, arrivals, strict=True):
            if arrived.busy:
                late = finding.Finding(
                    kind="still_booting",
                    subject=guest_.name,
                    detail=f"{arrived.busy} was still at work in "
                    f"{guest_.name} after {timeout:g} s",
                )
                findings.append(late)
            if arrived.error:
                reason, console_end = _diagnose_unreached(
                    connection, guest_, arrived, booted.ssh_sources
                )
                silent[guest_.name] = reason
                first_end = first_end or f"{reason}; {console_end}"
        if len(silent) == len(guests):
            raise errors.GuestError(first_end)
        boot.delete_failed(
            connection,
            {
                guest_.id: silent[guest_.name]
                for guest_ in guests
                if guest_.name in silent
            },
            progress,
        )
        arriving.leave(silent)
    except BaseException:
        arriving.close()
        raise
    arrived_all = dataclasses.replace(
        booted, guests=guests, findings=(*booted.findings, *findings)
    )
    return arrived_all.without(silent), arriving


def _diagnose_unreached(
    connection: t.Any,
    guest_: models.Guest,
    arrived: arrival.Arrival,
    ssh_sources: collections.abc.Sequence[str] | None,
) -> tuple[str, str]:
    """Return why a guest was not reached, and the end of its console."""
    output = console.diagnose(connection, guest_.id, guest_.host_key)
    name = f"guest {guest_.name} at {guest_.address}"
    end = f"end of the guest's console:\n{output.end}"
    if arrived.at_jump:
        return f"{name} was not tried: {arrived.error}", end
    reason = "raise ssh_timeout, or look at its network and image"
    if ssh_sources is not None:
        reason += (
            f"; SSH is permitted from {access.format_sources(ssh_sources)}; "
            "to "
            'change it: "allowed_sources": [NETWORK], 0.0.0.0/0 for all'
        )
    if output.hints:
        reason = "by its console " + "; ".join(output.hints)
    return f"{name} does not answer SSH: {arrived.error}; {reason}", end
