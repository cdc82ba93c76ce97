# SPDX-License-Identifier: Apache-2.0
"""The conditions of a repetition, and the order in which they run."""

import collections.abc
import dataclasses
import random
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import sessions
from rally_vmperf.measurement import repetition
from rally_vmperf.records import model

Names = collections.abc.Collection[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Participants:
    """The machines that participate in a condition.

    :param names: The names in the order of their pairs.
    :param batches: The groups that run one after another; empty for one group.
    :param unavailable: The names of lost machines without which the condition
        cannot be measured.
    :param reason: The reason why they are unavailable; empty if none is.
    """

    names: tuple[str, ...]
    batches: tuple[tuple[str, ...], ...] = ()
    unavailable: tuple[str, ...] = ()
    reason: str = ""


class Load(t.Protocol):
    """Jobs on guests that are not measured; errors are by machine."""

    async def begin(self) -> dict[str, str]:
        """Start the jobs, wait for the load; return errors by machine."""
        ...

    async def end(self) -> dict[str, str]:
        """End the jobs, if there are any; return errors by machine."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unmeasured:
    """Guests that work in some conditions without being measured.

    :param axis: The axis of their number.
    :param guests: Their number; the last guests of each host.
    :param names: Their names, after the boot of the guests.
    :param assignments: The workloads that they run.
    :param options: Their number and workloads, for records.
    :param create_load: A function that returns their load from a session and
        their names.
    """

    axis: str
    guests: int
    names: tuple[str, ...] = ()
    assignments: tuple[assignment.Assignment, ...]
    options: collections.abc.Mapping[str, t.Any]
    create_load: t.Callable[[sessions.Session, Names], Load]


def list_settings(
    unmeasured: Unmeasured | None,
) -> list[tuple[repetition.Axes, tuple[str, ...]]]:
    """Return the axes of unmeasured guests, with the names of working ones.

    There are two settings, without and with their load; without such guests
    there is one, which has no axis.
    """
    if unmeasured is None:
        return [({}, ())]
    return [
        ({unmeasured.axis: 0}, ()),
        ({unmeasured.axis: unmeasured.guests}, unmeasured.names),
    ]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedCondition:
    """A condition to measure.

    :param axes: The axes that distinguish it in its repetition.
    :param copies: The number of bare-metal copies for the comparison.
    :param choose: A function that returns the participants from the names of
        lost machines and the number of the repetition; without it, all
        machines participate, and lost ones are tried again.
    :param unmeasured: The names of guests that run another workload
        concurrently.
    :param is_reference: Whether others are compared with it, so that it must
        reach the offered rates.
    """

    axes: repetition.Axes = dataclasses.field(default_factory=dict)
    copies: int | None = None
    choose: t.Callable[[Names, int], Participants] | None = None
    unmeasured: tuple[str, ...] = ()
    is_reference: bool = False

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.axes.items())

    def count_batches(self) -> int:
        """Return the number of groups that run one after another."""
        if self.choose is None:
            return 1
        return max(1, len(self.choose(frozenset(), 1).batches))


@dataclasses.dataclass(frozen=True, kw_only=True)
class CurrentCondition:
    """The condition that is being measured, as actions see it.

    :param repetition: The number of the repetition.
    :param machines: The names of the participants.
    :param lost: The names of machines that no longer answer.
    """

    condition: PlannedCondition
    repetition: int = 1
    machines: Names
    lost: Names = frozenset()

    @property
    def working(self) -> frozenset[str]:
        """The names of the participants and of unmeasured guests."""
        return frozenset((*self.machines, *self.condition.unmeasured))


def order_conditions(
    conditions: collections.abc.Sequence[PlannedCondition],
    order: model.Order,
    number: int,
) -> list[PlannedCondition]:
    """Return the conditions in the order of one repetition.

    The effect of a machine that gets warmer or fuller during the run must not
    be attributed to a condition.  ``shuffled`` draws an order for
    each repetition; ``blocks`` draws one for as many repetitions as there are
    conditions, such that each condition has each position once.

    :param number: The number of the repetition; 1 is the first counted one.
    """
    ordered = list(conditions)
    if order.kind == "shuffled":
        _create_generator(order, number).shuffle(ordered)
    elif order.kind == "blocks":
        block, row = divmod(number - 1, len(ordered))
        _create_generator(order, f"block {block}").shuffle(ordered)
        ordered = [ordered[index] for index in _list_row(len(ordered), row)]
    return ordered


def _list_row(size: int, row: int) -> list[int]:
    """Return a row of a Latin square in which linear drift cancels early.

    The square has the rows 0, -1, 1, -2, 2, ..., shifted (Williams, Australian
    Journal of Scientific Research A 2, 1949, pp. 149-168). Each row is
    followed by its reverse, or for an odd size by the row that resembles it
    most, so that the mean positions of conditions are similar before the
    square is complete.

    :param size: The number of conditions.
    :param row: The number of the row, from 0.
    """
    shift = row // 2 - row % 2 * (size // 2)
    return [
        (shift + (-1) ** column * ((column + 1) // 2)) % size
        for column in range(size)
    ]


def _create_generator(
    order: model.Order, seed_suffix: object
) -> random.Random:
    """Return a random generator, seeded with the order's seed and a suffix."""
    return random.Random(f"{order.seed}/{seed_suffix}")  # noqa: S311
