"""The conditions of a repetition, and the order in which they run."""

import collections.abc
import dataclasses
import random
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.records import build

Names = collections.abc.Collection[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Participants:
    """The machines that take part in a condition.

    :param names: in the order in which they pair up
    :param turns: groups of them that run one after another; all at once by
        default
    :param lacking: names of lost machines without which the condition cannot
        be measured
    :param reason: why not, or nothing
    """

    names: tuple[str, ...]
    turns: tuple[tuple[str, ...], ...] = ()
    lacking: tuple[str, ...] = ()
    reason: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition that is to be measured.

    :param axes: what sets it apart from the others of its repetition
    :param copies: number of bare-metal copies that it is compared with
    :param choose: returns the participants, given the names of lost machines
        and the number of the repetition; without it all machines take part,
        and lost ones are tried again
    :param neighbours: names of guests that run another workload beside them
    """

    axes: repetition.Axes = dataclasses.field(default_factory=dict)
    copies: int | None = None
    choose: t.Callable[[Names, int], Participants] | None = None
    neighbours: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.axes.items())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Current:
    """The condition that is being measured, as actions see it.

    :param repetition: its number
    :param machines: names of those that take part
    :param lost: names of machines that no longer answer
    """

    condition: Condition
    repetition: int = 1
    machines: Names
    lost: Names = frozenset()

    @property
    def working(self) -> frozenset[str]:
        """The names of those that take part, and of their neighbours."""
        return frozenset((*self.machines, *self.condition.neighbours))


def in_order(
    given: collections.abc.Sequence[Condition],
    order: build.Order,
    number: int,
) -> list[Condition]:
    """Return the conditions in the order of one repetition.

    A machine that gets warmer or fuller while the run goes on must not look
    like one that suffers under a condition.  ``shuffled`` draws an order for
    each repetition; ``blocks`` draws one for as many repetitions as there are
    conditions, such that each condition has each position once (a Latin
    square).

    :param number: of the repetition, from 1
    """
    found = list(given)
    if order.kind == "shuffled":
        _generator(order, number).shuffle(found)
    elif order.kind == "blocks":
        block, row = divmod(number - 1, len(found))
        numbers = _generator(order, f"block {block}")
        numbers.shuffle(found)
        rows = list(range(len(found)))
        numbers.shuffle(rows)
        found = found[rows[row] :] + found[: rows[row]]
    return found


def _generator(order: build.Order, what: object) -> random.Random:
    return random.Random(f"{order.seed}/{what}")  # noqa: S311
