"""The worst synchronisation of each command on all guests."""

import collections.abc
import dataclasses
import itertools

from rally_vmperf.judging import density_levels
from rally_vmperf.measurement import repetition


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartCell:
    """The worst synchronisation of a command at one number of guests.

    :param skew: The largest skew in seconds, its uncertainty and the
        repetition; None if fewer than two machines ran the command.
    :param overlap: The smallest overlap as a share, and the repetition.
    """

    skew: tuple[float, float | None, int] | None
    overlap: tuple[float, int] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandRow:
    """A command of a workload.

    :param cells: The cells by number of guests; None if it did not run.
    """

    workload: str
    command: str
    bound: repetition.Bound
    cells: tuple[StartCell | None, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartTable:
    """All commands at each number of guests with several machines."""

    levels: tuple[int, ...]
    rows: tuple[CommandRow, ...]


def worst(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> StartTable:
    """Return a table of the worst start of each command at each level."""
    starts: dict[
        tuple[str, str, repetition.Bound],
        dict[int, list[tuple[int, repetition.Synchronisation]]],
    ] = {}
    for run_repetition in repetitions:
        for level in (
            run_repetition.conditions if run_repetition.counted else ()
        ):
            for start in level.synchronisation:
                if start.skew is None and start.overlap is None:
                    continue
                key = (start.workload, start.command, start.bound)
                starts.setdefault(key, {}).setdefault(
                    density_levels.guests_of(level), []
                ).append((run_repetition.number, start))
    levels = sorted({*itertools.chain.from_iterable(starts.values())})
    return StartTable(
        levels=tuple(levels),
        rows=tuple(
            CommandRow(
                workload=workload,
                command=command,
                bound=bound,
                cells=tuple(
                    _create_cell(by_guests.get(guests)) for guests in levels
                ),
            )
            for (workload, command, bound), by_guests in starts.items()
        ),
    )


def _create_cell(
    starts: list[tuple[int, repetition.Synchronisation]] | None,
) -> StartCell | None:
    """Return the largest skew and smallest overlap, or None if unknown."""
    if not starts:
        return None
    skews = [
        (start.skew, start.uncertainty, number)
        for number, start in starts
        if start.skew is not None
    ]
    overlaps = [
        (start.overlap, number)
        for number, start in starts
        if start.overlap is not None
    ]
    return StartCell(
        skew=max(skews, key=lambda skew: skew[0], default=None),
        overlap=min(overlaps, default=None),
    )
