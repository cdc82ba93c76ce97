# SPDX-License-Identifier: Apache-2.0
"""The record of an event, and the rates of machines in its phases."""

import collections.abc
import dataclasses
import typing as t

import annotated_types

from rally_vmperf import formats
from rally_vmperf.measurement.samples import sample

#: The axis of the phases of an event, and its values in order.
AXIS = "phase"
PHASES = ("before", "during", "after")
Outcome = t.Literal["completed", "aborted", "failed", "server_error"]
#: The maximum number of points of a line in a record.
MAX_POINTS = 120
#: A shorter last interval, as a share of the others, is left out.
_SHORT = 0.8
#: The end of an interval, and its rate.
Point = tuple[
    formats.Number,
    t.Annotated[float, formats.number(">= 0", annotated_types.Ge(0))],
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EventRecord:
    """An event that the run caused.

    Times are seconds since the epoch on the clock of the controller.

    :param name: The name of the event in tasks.
    :param guest: The name of the guest to which it happened.
    :param outcome: ``completed``; ``aborted`` at the deadline; ``failed``;
        ``server_error`` if Nova shows the server in status ERROR afterwards.
    :param detail: The reason of another outcome than ``completed``, or "".
    :param source: The host before the event; empty if it is not known.
    :param target: The host after it; empty if it is not known.
    :param stops_guest: Whether the guest stopped and started again.
    :param exit_status: The exit status of a command; None for other events.
    :param migration: The identifier of the migration in Nova, or "".
    :param request: The identifier of the request in Nova, or "".
    :param initiator: The identifier of the user in Nova, or "".
    :param nova_begun: The begin in the record of Nova, in UTC, or "".
    :param nova_ended: The end in the record of Nova, in UTC, or "".
    """

    name: str = "live_migration"
    guest: str
    outcome: Outcome
    detail: str = ""
    source: str = ""
    target: str = ""
    migration: str = ""
    request: str = ""
    initiator: str = ""
    requested: formats.Number
    ended: formats.Number
    stops_guest: bool = False
    exit_status: int | None = None
    nova_begun: str = ""
    nova_ended: str = ""

    @property
    def seconds(self) -> float:
        """The duration by the clock of the controller."""
        return self.ended - self.requested


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """The rate or the response time of a machine in a phase.

    :param begun: The begin in seconds since the epoch on the clock of the
        controller.
    :param points: The end of each interval in seconds since the begin, and
        its value.
    """

    machine: str
    metric: sample.Metric
    begun: formats.Number
    points: t.Annotated[tuple[Point, ...], annotated_types.MaxLen(MAX_POINTS)]

    @property
    def key(self) -> tuple[str, str]:
        """The names of the machine and of the metric."""
        return self.machine, self.metric.name


@dataclasses.dataclass(frozen=True, kw_only=True)
class Phase:
    """The lines of a phase, and the event in it.

    :param event: The event; None in the phases before and after.
    """

    lines: tuple[Line, ...] = ()
    event: EventRecord | None = None


def without_short_end(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the points without a last interval that is far shorter.

    Tools report the rest of a run as an interval, whose rate varies more.
    """
    if len(points) <= 2:
        return points
    width = points[1][0] - points[0][0]
    is_short = points[-1][0] - points[-2][0] < _SHORT * width
    return points[:-1] if is_short else points


def points_until(line: Line, moment: float) -> list[Point]:
    """Return the intervals that ended until a time.

    Their ends are on the clock of the controller.
    """
    return [
        (line.begun + end, value)
        for end, value in line.points
        if line.begun + end <= moment
    ]


def points_between(line: Line, begin: float, end: float) -> list[Point]:
    """Return the intervals that overlap with a time, as ``points_until``."""
    ends: collections.abc.Sequence[float] = [
        0.0,
        *(point for point, _ in line.points),
    ]
    return [
        (line.begun + late, value)
        for early, (late, value) in zip(ends, line.points, strict=False)
        if line.begun + late > begin and line.begun + early < end
    ]
