"""How much of the machine a guest loses, against bare metal."""

import dataclasses
import functools
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import build
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import opened
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting


def make(
    asked: opened.Asked, neighbours: dict[str, t.Any] | None = None
) -> runs.Run:
    """Return a run with all guests at once.

    With neighbours it has two conditions, and each of them is the first in
    every other repetition.

    :raises GuestError: for neighbours where a guest is absent
    """
    guests = asked.booted.guests
    number = 0
    if beside := asked.neighbours(neighbours):
        number = beside.guests
        names = tuple(one.name for one in guests[-number:])
        beside = dataclasses.replace(beside, names=names)
    measured = guests[: len(guests) - number]
    shape = setting.shape_of(measured)
    found = _elsewhere(guests, number)

    def ready() -> attempt.Ready:
        if asked.baseline is None:
            raise document.BaselineError(
                "there is no baseline to compare guests with; record one "
                "with: rally-vmperf baseline record"
            )
        return asked.ready([shape], findings=found, neighbours=beside)

    common = functools.partial(conditions.Condition, copies=shape.copies)
    chosen = conditions.Participants(names=tuple(x.name for x in measured))
    return runs.Run(
        **asked.common(**({"neighbours": beside.plain()} if beside else {})),
        conditions=tuple(
            common(
                axes={repetition.NEIGHBOURS: some},
                choose=lambda lost, _: chosen,
                neighbours=beside.names if some else (),
            )
            for some in (0, number)
        )
        if beside
        else (common(),),
        order=build.Order(kind="blocks") if beside else runs.AS_LISTED,
        unready=setting.of_guests(
            asked.booted, asked.assignments, neighbours=number
        ),
        open=ready,
    )


def _elsewhere(
    guests: tuple[guests_.Guest, ...], neighbours: int
) -> list[finding.Finding]:
    """Return a finding where neighbours share no host with those measured."""
    hosts = {one.host_id for one in guests[: len(guests) - neighbours]}
    return [
        finding.Finding(
            kind="level_placement_wrong",
            subject=one.name,
            detail=f"neighbour {one.name} is on a host without measured "
            "guests",
        )
        for one in guests[len(guests) - neighbours :]
        if one.host_id not in hosts
    ]
