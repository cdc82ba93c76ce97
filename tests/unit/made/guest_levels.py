# SPDX-License-Identifier: Apache-2.0
"""Repetitions whose conditions are numbers of guests."""

import dataclasses

from rally_vmperf.measurement import repetition as repetitions_
from tests.unit.made import repetitions

#: What disturbs each repetition as a whole.
NOISE = (1.0, 1.002, 0.997, 1.001, 0.9985)

#: Two processors shared: guests -> the rate of each guest.
SHARED = {1: [312.0], 2: [310.0, 305.0], 3: [205.0, 204.0, 203.0]}

LEVEL_GAP = (
    repetitions_.Missing(
        name=repetitions.EVENTS.name, machine="g3", reason="it died"
    ),
)


def level(number, guests, by_metric, **changes):
    """Return a condition of so many guests, ``{metric: one value each}``."""
    at_all = guests * changes.get("batches", 1)
    names = tuple(f"g{place + 1}" for place in range(at_all))
    changes = {"position": guests, "machines": names, **changes}
    return repetitions.build_condition(
        number, by_metric, {"guests": guests}, **changes
    )


def levels(
    by_metric,
    count=3,
    bare=None,
    noise=NOISE,
    apart=False,
    batches=None,
    **changes,
):
    """Return repetitions, ``{metric: {guests: [one value a guest]}}``.

    :param apart: True if levels vary on their own, not all alike.
    :param batches: The number of groups in which guests ran, by number of
        guests, if not at once.
    :param bare: The value of each copy, ``{metric: one value a repetition}``.
    """
    changes.setdefault("planned_repetitions", count)
    numbers = sorted({n for values in by_metric.values() for n in values})
    return [
        repetitions.repetition(
            place + 1,
            [
                level(
                    place + 1,
                    guests,
                    {
                        metric: [
                            value
                            * noise[(place + guests * apart) % len(noise)]
                            for value in values[guests]
                        ]
                        for metric, values in by_metric.items()
                        if guests in values
                    },
                    reference=repetitions.reference(bare, guests),
                    batches=(batches or {}).get(guests, 1),
                    **changes,
                )
                for guests in numbers
            ],
            **{k: v for k, v in changes.items() if k != "findings"},
        )
        for place in range(count)
    ]


def with_level(entries, number, level):
    """Return the repetitions with one level of one of them exchanged."""
    return [
        dataclasses.replace(
            entry,
            state=level.state if level.state != "skipped" else entry.state,
            conditions=tuple(
                level if each.axes == level.axes else each
                for each in entry.conditions
            ),
        )
        if entry.number == number
        else entry
        for entry in entries
    ]


def killed(number=2):
    """Return repetitions of which a guest died at level 3."""
    broken = level(
        number,
        3,
        {repetitions.EVENTS: [205.0, 204.0, 203.0]},
        state="incomplete",
        missing=LEVEL_GAP,
        observations=repetitions.observations(
            ["g1", "g2"], {repetitions.EVENTS: [205.0, 204.0]}
        ),
    )
    return with_level(levels({repetitions.EVENTS: SHARED}), number, broken)
