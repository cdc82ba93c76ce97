# SPDX-License-Identifier: Apache-2.0
"""The progress of a program's work over time."""

import collections.abc
import dataclasses
import itertools

#: Smallest share of the whole for which a window is representative.
_MIN_SHARE = 0.5
#: Largest number in a course, so that no sum or difference overflows.
_MAX_NUMBER = 1e18
#: Relative rate below which no work is done.
_MIN_RELATIVE_RATE = 1e-9


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgressCurve:
    """The cumulative work of a program, linear between two points.

    :param metrics: The names of the metrics that are this work per second.
    :param points: The times in seconds of any clock, and the work done until
        then in any unit; the first is the start of the measurement.
    :raises ValueError: If there are fewer than two points, numbers that are
        not finite or too large, times that do not rise, work that falls, or
        no work.
    """

    metrics: frozenset[str]
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        is_finite = all(
            abs(number) <= _MAX_NUMBER
            for point in self.points
            for number in point
        )
        is_rising = all(
            start < end and work_before <= work_after
            for (start, work_before), (end, work_after) in itertools.pairwise(
                self.points
            )
        )
        if len(self.points) < 2 or not is_finite or not is_rising:
            raise ValueError("points must be finite numbers and rise")
        if not self.points[-1][1] > self.points[0][1]:
            raise ValueError("no work was done")

    def relative_rate(self, begin: float, end: float) -> float:
        """Return the rate within a window, relative to the mean rate.

        Times outside of the course are ignored. If the window covers less
        than half of the course, or no work, the rate is unknown and 1 is
        returned.
        """
        first, last = self.points[0], self.points[-1]
        begin, end = max(begin, first[0]), min(end, last[0])
        whole = last[0] - first[0]
        if end - begin < _MIN_SHARE * whole:
            return 1.0
        done = self._work_until(end) - self._work_until(begin)
        relative_rate = done / (last[1] - first[1]) / ((end - begin) / whole)
        return relative_rate if relative_rate > _MIN_RELATIVE_RATE else 1.0

    def rates(self, factor: float = 1.0) -> tuple[tuple[float, float], ...]:
        """Return the end in seconds and the rate of each interval.

        :param factor: The factor from the work unit to the rate unit.
        """
        begin, _ = self.points[0]
        return tuple(
            (end - begin, (work_after - work_before) / (end - start) * factor)
            for (start, work_before), (end, work_after) in itertools.pairwise(
                self.points
            )
        )

    def _work_until(self, moment: float) -> float:
        """Return the amount of work done until a moment, interpolated."""
        for (start, work_before), (end, work_after) in itertools.pairwise(
            self.points
        ):
            if moment <= end:
                share = (moment - start) / (end - start)
                return work_before + (work_after - work_before) * share
        return self.points[-1][1]


def build_curve(
    metrics: collections.abc.Iterable[str],
    points: collections.abc.Iterable[tuple[float, float]],
) -> ProgressCurve | None:
    """Return the curve of a tool's progress; None if it is invalid.

    Two reports may have the same time; the second one is ignored.
    """
    rising: list[tuple[float, float]] = []
    for moment, done in points:
        if rising and moment <= rising[-1][0]:
            continue
        rising.append((moment, done))
    try:
        return ProgressCurve(metrics=frozenset(metrics), points=tuple(rising))
    except ValueError:
        return None
