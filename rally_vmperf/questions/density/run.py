"""A run in which more and more guests of each host take part."""

import collections.abc
import dataclasses
import functools
import secrets
import typing as t

from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import idle
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.density import levels as numbers
from rally_vmperf.records import build
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power
from rally_vmperf.runs import host_groups
from rally_vmperf.runs import opened
from rally_vmperf.runs import reference
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting


def make(
    asked: opened.Asked,
    *,
    levels: t.Any,
    order: build.OrderKind,
    idle_guests: idle.IdleState,
    solo_guest: numbers.SoloGuest,
    stop: dict[str, t.Any] | None,
    neighbours: dict[str, t.Any] | None = None,
) -> runs.Run:
    """Return a run with one condition for each number of guests.

    With neighbours it has two: without and with their work. The seed of the
    order is drawn here, once per run, and recorded.

    :param levels: numbers of guests on each host, as a task gives them
    :param order: in which levels run
    :param idle_guests: The state of guests that take no part.
    :param solo_guest: The guest that runs at level 1: rotate or all.
    :param stop: the task's rule for when to add no more guests
    :param neighbours: guests of each host beside the largest level
    """
    counts = numbers.expand(levels)
    guests = asked.booted.guests
    beside = asked.neighbours(neighbours)
    largest = max(counts) + (beside.guests if beside else 0)
    groups, placed = host_groups.of_guests(
        guests, largest, asked.booted.absent
    )
    sides: list[tuple[repetition.Axes, tuple[str, ...]]] = [({}, ())]
    if beside:
        groups, names = groups.split(max(counts))
        beside = dataclasses.replace(beside, names=names)
        sides = [
            ({repetition.NEIGHBOURS: 0}, ()),
            ({repetition.NEIGHBOURS: beside.guests}, names),
        ]
    shape = setting.shape_of(guests)
    covered = []
    if asked.baseline is not None:
        covered = reference.covered(
            asked.baseline,
            asked.assignments,
            [dataclasses.replace(shape, copies=number) for number in counts],
        )
    compared = {one.copies for one in covered}

    def act(
        connection: t.Any, session: sessions.Session
    ) -> tuple[actions.Action, ...]:
        return (
            guest_power.IdleGuests(
                kind=idle_guests,
                connection=connection,
                session=session,
                guests=guests,
                config=asked.options,
                progress=asked.progress,
            ),
        )

    return runs.Run(
        **asked.common(
            idle_guests=idle_guests,
            solo_guest=solo_guest,
            **({"neighbours": beside.plain()} if beside else {}),
        ),
        conditions=tuple(
            conditions.Condition(
                axes={repetition.GUESTS: number, **axis},
                copies=number if number in compared else None,
                choose=groups.each_alone
                if number == 1 and solo_guest == "all"
                else functools.partial(groups.choose, number),
                neighbours=at_work,
            )
            for number in counts
            for axis, at_work in sides
        ),
        order=build.Order(kind=order, seed=secrets.randbits(32)),
        enough=functools.partial(enough, numbers.Stop(**stop))
        if stop
        else runs.never_enough,
        unready=setting.of_guests(
            asked.booted,
            asked.assignments,
            findings=placed,
            neighbours=len(beside.names) if beside else 0,
        ),
        open=functools.partial(
            asked.ready,
            covered,
            act=act,
            idle_guests=idle_guests,
            findings=placed,
            neighbours=beside,
        ),
    )


def enough(
    stop: numbers.Stop,
    repetitions: collections.abc.Sequence[runs.Taken],
) -> str:
    """Return why there is to be no further level, or nothing.

    The total of a level that lacks a guest is not known. What guests do beside
    neighbours says nothing of more guests.

    :param repetitions: counted ones, and last the one that goes on
    """
    return stop.reached(
        [
            [
                numbers.Level(
                    t.cast(int, one.axes[repetition.GUESTS]),
                    one.observations,
                    one.batches,
                )
                for one in taken
                if one.state == "complete"
                and not one.axes.get(repetition.NEIGHBOURS)
            ]
            for taken in repetitions
        ]
    )
