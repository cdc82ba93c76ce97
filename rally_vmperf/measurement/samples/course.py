"""The progress of a program's work over time."""

import collections.abc
import dataclasses
import itertools

#: Part of the whole below which a window says nothing of it.
_LEAST = 0.5
#: Largest number of a course, so that no sum or difference overflows.
_LARGEST = 1e18
#: Part of the usual pace below which no work is done.
_STALLED = 1e-9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Course:
    """Work done by moments, at an even pace between two of them.

    :param metrics: names of the metrics that are this work per second
    :param points: moments, in seconds of any clock, and the work done until
        then, in any unit; the first is the beginning of what was measured
    :raises ValueError: for fewer than two points, numbers that are not finite
        or too large, times that do not rise, work that falls, or no work
    """

    metrics: frozenset[str]
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        finite = all(
            abs(number) <= _LARGEST
            for point in self.points
            for number in point
        )
        rising = all(
            early < late and less <= more
            for (early, less), (late, more) in itertools.pairwise(self.points)
        )
        if len(self.points) < 2 or not finite or not rising:
            raise ValueError("points must be numbers, and rise")
        if not self.points[-1][1] > self.points[0][1]:
            raise ValueError("no work was done")

    def pace(self, begin: float, end: float) -> float:
        """Return the rate within a window, as a multiple of the whole's.

        Times outside of the course are left out.  For a window with less than
        half of the course, or without work, the rate is not known, and 1 is
        returned.
        """
        first, last = self.points[0], self.points[-1]
        begin, end = max(begin, first[0]), min(end, last[0])
        whole = last[0] - first[0]
        if end - begin < _LEAST * whole:
            return 1.0
        done = self._done(end) - self._done(begin)
        pace = done / (last[1] - first[1]) / ((end - begin) / whole)
        return pace if pace > _STALLED else 1.0

    def rates(self, factor: float = 1.0) -> tuple[tuple[float, float], ...]:
        """Return the end of each interval, in seconds, and the rate in it.

        :param factor: units of the rate in one of the work
        """
        begin, _ = self.points[0]
        return tuple(
            (late - begin, (more - less) / (late - early) * factor)
            for (early, less), (late, more) in itertools.pairwise(self.points)
        )

    def _done(self, moment: float) -> float:
        for (early, less), (late, more) in itertools.pairwise(self.points):
            if moment <= late:
                share = (moment - early) / (late - early)
                return less + (more - less) * share
        return self.points[-1][1]


def course(
    metrics: collections.abc.Iterable[str],
    points: collections.abc.Iterable[tuple[float, float]],
) -> Course | None:
    """Return the course that a tool reports, or None where it makes no sense.

    Tools report when they can, so that two reports may share a moment.
    """
    kept: list[tuple[float, float]] = []
    for moment, done in points:
        if kept and moment <= kept[-1][0]:
            continue
        kept.append((moment, done))
    try:
        return Course(metrics=frozenset(metrics), points=tuple(kept))
    except ValueError:
        return None
