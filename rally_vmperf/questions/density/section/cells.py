"""The rate of each guest, by level and repetition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import level as level_
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import shares

#: Void: measured, but it does not mean what it claims.
State = t.Literal["sound", "void", "missing"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One guest in one column.

    :param share: of the lone guest's rate; None where it is missing
    """

    share: float | None
    state: State


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strip:
    """A metric, guest by guest.

    :param guests: with the host where it is known: the rows
    :param columns: numbers of guests and of the repetition
    :param cells: by guest and column, none where a guest did not take part
    """

    series: shares.Series
    guests: tuple[tuple[str, str], ...]
    columns: tuple[tuple[int, int], ...]
    cells: dict[tuple[str, tuple[int, int]], Cell]

    def number(self, state: State) -> int:
        """Return how many cells are in a state."""
        return sum(1 for one in self.cells.values() if one.state == state)


def strip(
    series: shares.Series,
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> Strip:
    """Return the cells of a metric over the counted repetitions."""
    counted = [one for one in repetitions if one.counted]
    numbers = sorted(
        {level_.guests_of(x) for one in counted for x in one.conditions}
    )
    cells: dict[tuple[str, tuple[int, int]], Cell] = {}
    columns: dict[tuple[int, int], None] = {}
    hosts: dict[str, str] = {}
    for guests in numbers:
        for one in counted:
            level = one.at(guests=guests)
            if level is None or level.skip_reason:
                continue
            column = (guests, one.number)
            columns[column] = None
            for name, cell in _cells(series, level).items():
                cells[name, column] = cell
                hosts[name] = one.hosts.get(name, "")
    return Strip(
        series=series,
        guests=tuple(hosts.items()),
        columns=tuple(columns),
        cells=cells,
    )


def _cells(
    series: shares.Series, level: repetition.Condition
) -> dict[str, Cell]:
    metric = series.row.metric
    entry = gathering.Gathered(
        number=level.number,
        observations=tuple(
            x for x in level.observations if x.sample.metric == metric
        ),
    )
    given = rates.by_guest(metric, entry)
    point = series.row.point(level_.guests_of(level))
    void = (point and point.void) or _samples_void(series, level)
    sound: State = "void" if void else "sound"
    found = {}
    for name in level.machines:
        if name in given:
            share = given[name] / series.rate
            found[name] = Cell(share=share, state=sound)
        elif _awaited(metric, level, name):
            found[name] = Cell(share=None, state="missing")
    return found


def _samples_void(series: shares.Series, level: repetition.Condition) -> bool:
    """Return whether a finding voids the samples of a metric at a level."""
    return any(
        one.left_out and one.finding.kind in finding.ABOUT_SAMPLES
        for one in series.row.findings
    ) and any(
        one.kind in finding.ABOUT_SAMPLES and one.names(series.row.metric.name)
        for one in level.findings
    )


def _awaited(
    metric: sample.Metric, level: repetition.Condition, name: str
) -> bool:
    """Return whether a guest was expected to report a metric."""
    if level.state == "interrupted":
        return True
    known = {one.name for one in level.expected_metrics}
    return any(
        gap.machine == name
        and (gap.name == metric.name or gap.name not in known)
        for gap in level.missing
    )
