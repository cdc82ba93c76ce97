# SPDX-License-Identifier: Apache-2.0
"""A run that measures the overhead of guests over bare metal."""

import dataclasses

from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.records import model
from rally_vmperf.runs import conditions
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting


def create_run(
    request: run_request.RunRequest,
    unmeasured: conditions.Unmeasured | None = None,
) -> runs.Run:
    """Return a run in which all guests work concurrently.

    With unmeasured guests, it has two conditions, whose order alternates
    between repetitions.

    :param request: The request for the run.
    :param unmeasured: The guests that work without being measured.
    """
    guests = request.booted.guests
    number = unmeasured.guests if unmeasured else 0
    if unmeasured:
        names = tuple(guest.name for guest in guests[-number:])
        unmeasured = dataclasses.replace(unmeasured, names=names)
    measured = guests[: len(guests) - number]
    shape = setting.find_shape(measured)
    participants = conditions.Participants(
        names=tuple(guest.name for guest in measured)
    )
    return request.create_run(
        (
            conditions.PlannedCondition(
                axes=axes,
                copies=shape.copies,
                choose=(lambda unavailable, _: participants)
                if unmeasured
                else None,
                unmeasured=working,
            )
            for axes, working in conditions.list_settings(unmeasured)
        ),
        shapes=[shape],
        order=model.Order(kind="blocks") if unmeasured else model.AS_LISTED,
        findings=_find_separate_guests(guests, number),
        unmeasured=unmeasured,
    )


def _find_separate_guests(
    guests: tuple[models.Guest, ...], unmeasured: int
) -> list[finding.Finding]:
    """Return a finding for each unmeasured guest on a separate host."""
    hosts = {guest.host_id for guest in guests[: len(guests) - unmeasured]}
    return [
        finding.Finding(
            kind="level_placement_wrong",
            subject=guest.name,
            detail=f"{guest.name} works on a host without measured guests",
        )
        for guest in guests[len(guests) - unmeasured :]
        if guest.host_id not in hosts
    ]
