"""A run that measures the overhead of guests over bare metal."""

import dataclasses
import functools
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import build
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting


def create_run(
    request: run_request.RunRequest, neighbours: dict[str, t.Any] | None = None
) -> runs.Run:
    """Return a run with all guests concurrently.

    With neighbours, it has two conditions, whose order alternates between
    repetitions.

    :param request: The request for the run.
    :param neighbours: The neighbours argument of the task; None without one.
    :raises GuestError: If there are neighbours and a guest is absent.
    """
    guests = request.booted.guests
    number = 0
    if neighbours_ := request.resolve_neighbours(neighbours):
        number = neighbours_.guests
        names = tuple(guest.name for guest in guests[-number:])
        neighbours_ = dataclasses.replace(neighbours_, names=names)
    measured = guests[: len(guests) - number]
    shape = setting.find_shape(measured)
    findings = _find_separate_neighbours(guests, number)

    def ready() -> attempt.ReadySession:
        if request.baseline is None:
            raise document.BaselineError(
                "the context vmperf_baseline is missing; record a baseline "
                "with: rally-vmperf baseline record"
            )
        return request.prepare_session(
            [shape], findings=findings, neighbours=neighbours_
        )

    make_condition = functools.partial(
        conditions.Condition, copies=shape.copies
    )
    participants = conditions.Participants(
        names=tuple(guest.name for guest in measured)
    )
    return runs.Run(
        **request.common_arguments(
            **({"neighbours": neighbours_.plain()} if neighbours_ else {})
        ),
        conditions=tuple(
            make_condition(
                axes={repetition.NEIGHBOURS: number_at_work},
                choose=lambda unavailable, _: participants,
                neighbours=neighbours_.names if number_at_work else (),
            )
            for number_at_work in (0, number)
        )
        if neighbours_
        else (make_condition(),),
        order=build.Order(kind="blocks") if neighbours_ else runs.AS_LISTED,
        fallback_setting=setting.build_setting(
            request.booted, request.assignments, neighbours=number
        ),
        open=ready,
    )


def _find_separate_neighbours(
    guests: tuple[models.Guest, ...], neighbours: int
) -> list[finding.Finding]:
    """Return a finding for each neighbour without measured guests."""
    hosts = {guest.host_id for guest in guests[: len(guests) - neighbours]}
    return [
        finding.Finding(
            kind="level_placement_wrong",
            subject=guest.name,
            detail=f"neighbour {guest.name} is on a host without measured "
            "guests",
        )
        for guest in guests[len(guests) - neighbours :]
        if guest.host_id not in hosts
    ]
