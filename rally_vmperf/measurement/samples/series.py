# SPDX-License-Identifier: Apache-2.0
"""Time series: points of one machine, and means of several machines."""

import bisect
import collections.abc
import dataclasses
import itertools
import statistics
import typing as t

import annotated_types

from rally_vmperf import formats

Points = tuple[tuple[float, float], ...]

#: Largest number of points of a machine; more are averaged.
MAX_POINTS = 600
#: Number of points of a mean of several machines.
MERGED_POINTS = 24
#: Largest value, in any unit, and largest moment.
MAX_VALUE = 1e15
#: A value for each interval.
Row = t.Annotated[
    tuple[formats.Amount, ...], annotated_types.MaxLen(MERGED_POINTS)
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanSeries:
    """A value over time, the mean of several machines, in even intervals.

    :param end: The end of the last interval, in seconds since the start of
        the measurement.
    :param mean: The mean over the machines, in each interval.
    :param low: The smallest value of a machine, in each interval; empty for a
        mean of several repetitions.
    :param high: The largest value of a machine, in each interval; empty as
        for ``low``.
    :raises ValueError: If the rows differ in length, or ``check`` rejects
        them.
    """

    end: t.Annotated[float, formats.number("> 0", annotated_types.Gt(0))]
    mean: Row
    low: Row = ()
    high: Row = ()

    def __post_init__(self) -> None:
        check(self.points(self.mean))
        for row in (self.low, self.high):
            if row and len(row) != len(self.mean):
                raise ValueError(
                    "rows of a mean series must have the same length"
                )
            check(self.points(row or self.mean))

    def points(self, row: tuple[float, ...]) -> Points:
        """Return the values with the ends of their intervals, as pairs."""
        width = self.end / max(1, len(row))
        return tuple(
            (place * width, value) for place, value in enumerate(row, 1)
        )


def check(points: Points) -> None:
    """Reject points that are not a valid time series.

    :raises ValueError: If points are missing, times do not rise from zero,
        or values are negative or too large to be added up.
    """
    if not points:
        raise ValueError("a time series must have at least one point")
    if not all(
        0 <= number <= MAX_VALUE for point in points for number in point
    ):
        raise ValueError(
            "times and values of a time series must be from 0 to "
            f"{MAX_VALUE:g}"
        )
    moments = [0.0, *(moment for moment, _ in points)]
    if not all(early < late for early, late in itertools.pairwise(moments)):
        raise ValueError("times of a time series must rise from zero")


def shorten(points: Points, limit: int = MAX_POINTS) -> Points:
    """Return at most ``limit`` points, averaged over even intervals."""
    if len(points) <= limit:
        return points
    return tuple(_resample(points, points[-1][0], limit))


def merge_machines(series: collections.abc.Sequence[Points]) -> MeanSeries:
    """Return the mean of machines' series, until the shortest ends.

    :param series: The points of each series, at least one.
    """
    end = min(points[-1][0] for points in series)
    steps = min(MERGED_POINTS, max(len(points) for points in series))
    rows = [list(_resample(points, end, steps)) for points in series]
    columns = [
        [reading for _, reading in step_points]
        for step_points in zip(*rows, strict=True)
    ]
    return MeanSeries(
        end=end,
        mean=tuple(map(statistics.fmean, columns)),
        low=tuple(map(min, columns)),
        high=tuple(map(max, columns)),
    )


def merge_repetitions(
    all_series: collections.abc.Sequence[MeanSeries],
) -> MeanSeries:
    """Return the mean series of several repetitions."""
    whole = merge_machines(
        [series.points(series.mean) for series in all_series]
    )
    return MeanSeries(end=whole.end, mean=whole.mean)


def _resample(
    points: Points, end: float, steps: int
) -> collections.abc.Iterator[tuple[float, float]]:
    """Yield the end and the mean value of each even interval."""
    moments = [0.0, *(moment for moment, _ in points)]
    sums = [0.0]
    for (early, late), (_, value) in zip(
        itertools.pairwise(moments), points, strict=True
    ):
        sums.append(sums[-1] + value * (late - early))

    def until(moment: float) -> float:
        """Return the sum of values times seconds until a moment."""
        place = min(bisect.bisect_left(moments, moment), len(points))
        place = max(1, place)
        return sums[place] - points[place - 1][1] * (moments[place] - moment)

    width = end / steps
    for step in range(1, steps + 1):
        early, late = (step - 1) * width, step * width
        yield late, max(0.0, until(late) - until(early)) / width
