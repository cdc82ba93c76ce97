"""A run in which more and more guests of each host take part."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import idle
from rally_vmperf.questions.density import levels as numbers
from rally_vmperf.records import build
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import host_groups
from rally_vmperf.runs import idle_guests
from rally_vmperf.runs import opened
from rally_vmperf.runs import reference
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting


def make(
    asked: opened.Asked,
    *,
    levels: t.Any,
    order: build.OrderKind,
    seed: int,
    others: idle.Others,
    stop: dict[str, t.Any] | None,
) -> runs.Run:
    """Return a run with one condition for each number of guests.

    :param levels: numbers of guests on each host, as a task gives them
    :param order: in which levels run
    :param seed: what a shuffling begins with
    :param others: what guests do while they take no part
    :param stop: when no more guests are to be added, as a task gives it
    """
    counts = numbers.expand(levels)
    guests = asked.booted.guests
    groups, placed = host_groups.of_guests(guests, max(counts))
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
            idle_guests.IdleGuests(
                kind=others,
                connection=connection,
                session=session,
                guests=guests,
                config=asked.options,
                progress=asked.progress,
            ),
        )

    return runs.Run(
        **asked.common(),
        conditions=tuple(
            conditions.Condition(
                axes={"guests": number},
                copies=number if number in compared else None,
                choose=functools.partial(groups.choose, number),
            )
            for number in counts
        ),
        order=build.Order(kind=order, seed=seed),
        options={"others": others},
        enough=functools.partial(enough, numbers.Stop(**stop))
        if stop
        else runs.never_enough,
        unready=setting.of_guests(
            asked.booted, asked.assignments, findings=placed
        ),
        open=functools.partial(asked.ready, covered, act=act, findings=placed),
    )


def enough(
    stop: numbers.Stop, taken: collections.abc.Sequence[build.Taken]
) -> str:
    """Return why there is to be no further level, or nothing.

    Without one of its guests a level says nothing of its total.
    """
    return stop.reached(
        [
            (t.cast(int, one.axes["guests"]), one.observations)
            for one in taken
            if one.state == "complete"
        ]
    )
