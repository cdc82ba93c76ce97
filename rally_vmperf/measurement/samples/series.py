"""A value over time: as machines reported it, and of several as one."""

import bisect
import collections.abc
import dataclasses
import itertools
import statistics
import typing as t

Json = collections.abc.Mapping[str, t.Any]
Points = tuple[tuple[float, float], ...]

#: Points that are kept of a machine; more are drawn together.
LONGEST = 600
#: Points of what several machines reported.
MERGED = 24
#: Largest value, in any unit, and largest moment.
HIGHEST = 1e15
#: Significant digits of a line that is written.
_DIGITS = 4


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A value over time, the mean of several machines, in even intervals.

    :param end: of the last interval, in seconds since the beginning of what
        was measured
    :param mean: over the machines, in each interval
    :param low: of the machine that had least, in each interval; nothing where
        the line is of several repetitions
    :param high: of the one that had most, likewise
    :raises ValueError: where these differ in number, and as ``check`` does
    """

    end: float
    mean: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check(self.points(self.mean))
        for row in (self.low, self.high):
            if row and len(row) != len(self.mean):
                raise ValueError("a line needs as many values in each row")
            check(self.points(row or self.mean))

    def points(self, row: tuple[float, ...]) -> Points:
        """Return values with the ends of their intervals."""
        width = self.end / max(1, len(row))
        return tuple(
            (place * width, value) for place, value in enumerate(row, 1)
        )

    def plain(self) -> dict[str, float | list[float]]:
        """Return it as JSON holds it."""
        rows = {"mean": self.mean, "low": self.low, "high": self.high}
        return {
            "end": _short(self.end),
            **{
                name: [_short(value) for value in row]
                for name, row in rows.items()
                if row
            },
        }

    @classmethod
    def from_plain(cls, plain: Json) -> "Line":
        """Return what ``plain`` returned.

        :raises ValueError: for what is no line
        """
        rows = {
            name: tuple(plain.get(name, ()))
            for name in ("mean", "low", "high")
        }
        return cls(end=plain["end"], **rows)


def _short(value: float) -> float:
    """Return a value with few digits, whole where it is."""
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short


def check(points: Points) -> None:
    """Refuse what is no value over time.

    :raises ValueError: for moments that do not rise from zero on, values that
        are negative or too large to be added up, and none at all
    """
    if not points:
        raise ValueError("a series needs a point at least")
    if not all(0 <= number <= HIGHEST for one in points for number in one):
        raise ValueError(
            f"moments and values of a series must be from 0 to {HIGHEST:g}"
        )
    moments = [0.0, *(moment for moment, _ in points)]
    if not all(early < late for early, late in itertools.pairwise(moments)):
        raise ValueError("moments of a series must rise from zero on")


def shortened(points: Points) -> Points:
    """Return at most ``LONGEST`` points, of which each is the mean of some."""
    if len(points) <= LONGEST:
        return points
    return tuple(_resampled(points, points[-1][0], LONGEST))


def merge(parts: collections.abc.Sequence[Points]) -> Line:
    """Return several series as one line, as far as all of them reach.

    :param parts: each with a point at least
    """
    end = min(points[-1][0] for points in parts)
    steps = min(MERGED, max(len(points) for points in parts))
    rows = [list(_resampled(points, end, steps)) for points in parts]
    values = [
        [value for _, value in found] for found in zip(*rows, strict=True)
    ]
    return Line(
        end=end,
        mean=tuple(map(statistics.fmean, values)),
        low=tuple(map(min, values)),
        high=tuple(map(max, values)),
    )


def merge_lines(lines: collections.abc.Sequence[Line]) -> Line:
    """Return lines of several repetitions as one, their mean."""
    whole = merge([one.points(one.mean) for one in lines])
    return Line(end=whole.end, mean=whole.mean)


def _resampled(
    points: Points, end: float, steps: int
) -> collections.abc.Iterator[tuple[float, float]]:
    """Return the means of even intervals; a value holds until its moment."""
    moments = [0.0, *(moment for moment, _ in points)]
    sums = [0.0]
    for (early, late), (_, value) in zip(
        itertools.pairwise(moments), points, strict=True
    ):
        sums.append(sums[-1] + value * (late - early))

    def until(moment: float) -> float:
        place = min(bisect.bisect_left(moments, moment), len(points))
        place = max(1, place)
        return sums[place] - points[place - 1][1] * (moments[place] - moment)

    width = end / steps
    for step in range(1, steps + 1):
        early, late = (step - 1) * width, step * width
        yield late, max(0.0, until(late) - until(early)) / width
