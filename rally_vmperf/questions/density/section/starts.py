"""How well each command ran on all guests at once, at its worst."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import level as level_
from rally_vmperf.measurement import repetition


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """The worst of one command at one number of guests.

    :param skew: largest, in seconds, with its uncertainty and the repetition;
        None where no two machines ran it
    :param overlap: smallest share, with the repetition
    """

    skew: tuple[float, float | None, int] | None
    overlap: tuple[float, int] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A command of a workload.

    :param cells: one for each number of guests; None where it did not run
    """

    workload: str
    command: str
    bound: repetition.Bound
    cells: tuple[Cell | None, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """All commands, at each number of guests with more than one machine."""

    levels: tuple[int, ...]
    lines: tuple[Line, ...]


def worst(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> Table:
    """Return the worst start of each command over counted repetitions."""
    found: dict[
        tuple[str, str, repetition.Bound],
        dict[int, list[tuple[int, repetition.Synchronisation]]],
    ] = {}
    numbers = set()
    for one in repetitions:
        for level in one.conditions if one.counted else ():
            for start in level.synchronisation:
                if start.skew is None and start.overlap is None:
                    continue
                guests = level_.guests_of(level)
                numbers.add(guests)
                key = (start.workload, start.command, start.bound)
                here = found.setdefault(key, {})
                here.setdefault(guests, []).append((one.number, start))
    order = tuple(sorted(numbers))
    return Table(
        levels=order,
        lines=tuple(
            Line(
                workload=workload,
                command=command,
                bound=bound,
                cells=tuple(_cell(here.get(guests)) for guests in order),
            )
            for (workload, command, bound), here in found.items()
        ),
    )


def _cell(
    starts: list[tuple[int, repetition.Synchronisation]] | None,
) -> Cell | None:
    if not starts:
        return None
    skews = [
        (one.skew, one.uncertainty, number)
        for number, one in starts
        if one.skew is not None
    ]
    overlaps = [
        (one.overlap, number)
        for number, one in starts
        if one.overlap is not None
    ]
    return Cell(
        skew=max(skews, key=lambda found: found[0], default=None),
        overlap=min(overlaps, default=None),
    )
