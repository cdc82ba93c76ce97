"""The rate of each guest, by level and repetition."""

import collections.abc
import dataclasses
import statistics
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import shares

#: The state of a cell; void cells were measured, but are not valid.
State = t.Literal["sound", "void", "missing"]


class Cell(t.NamedTuple):
    """The cell of a guest in a level of a repetition.

    :param share: The share of the solo guest's rate; None if missing.
    """

    share: float | None
    state: State


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strip:
    """The cells of a metric by guest.

    :param guests: The rows: names of guests and of hosts, which can be empty.
    :param columns: The columns: numbers of guests and of the repetition.
    :param cells: The cells by guest and column; guests that did not
        participate have none.
    """

    series: shares.Series
    guests: tuple[tuple[str, str], ...]
    columns: tuple[tuple[int, int], ...]
    cells: dict[tuple[str, tuple[int, int]], Cell]

    def merge(self, most: int) -> "Strip":
        """Return a copy with so many cells at most.

        Repetitions of a guest become one, then adjacent guests.

        :param most: The maximum number of cells.
        """
        if len(self.cells) <= most:
            return self
        levels = dict.fromkeys((level, 0) for level, _ in self.columns)
        numbers = {
            name: number for number, (name, _) in enumerate(self.guests)
        }
        pairs = {(numbers[name], level) for name, (level, _) in self.cells}
        size = 1
        while len({(row // size, level) for row, level in pairs}) > most:
            size += 1
        rows: dict[str, tuple[str, str]] = {}
        for start in range(0, len(self.guests), size):
            group = self.guests[start : start + size]
            names = dict.fromkeys((group[0][0], group[-1][0]))
            hosts = {host for _, host in group}
            host = hosts.pop() if len(hosts) == 1 else ""
            row = (" to ".join(names), host)
            rows |= {name: row for name, _ in group}
        merged: dict[tuple[str, tuple[int, int]], list[Cell]] = {}
        for (name, (level, _)), cell in self.cells.items():
            merged.setdefault((rows[name][0], (level, 0)), []).append(cell)
        return dataclasses.replace(
            self,
            guests=tuple(dict.fromkeys(rows.values())),
            columns=tuple(levels),
            cells={key: _merge(group) for key, group in merged.items()},
        )

    def number(self, state: State) -> int:
        """Return the number of cells that have a state."""
        return sum(1 for cell in self.cells.values() if cell.state == state)


def _merge(cells: list[Cell]) -> Cell:
    """Return the mean of the cells that are neither void nor missing."""
    shares = [
        cell.share for cell in cells if cell.share and cell.state == "sound"
    ]
    if shares:
        return Cell(share=statistics.fmean(shares), state="sound")
    states = {cell.state for cell in cells}
    return Cell(share=None, state="void" if "void" in states else "missing")


class Level(t.NamedTuple):
    """A level of a counted repetition that was not skipped.

    :param hosts: The hosts of the guests, as far as they are known.
    """

    guests: int
    number: int
    condition: repetition.Condition
    hosts: collections.abc.Mapping[str, str]


def list_levels(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> list[Level]:
    """Return the levels of counted repetitions by guests, as a list."""
    levels = [
        Level(
            density_levels.guests_of(condition),
            measured.number,
            condition,
            measured.hosts,
        )
        for measured in repetitions
        if measured.counted
        for condition in measured.conditions
        if not condition.skip_reason
    ]
    return sorted(levels, key=lambda level: level.guests)


def strip(
    series: shares.Series, levels: collections.abc.Iterable[Level]
) -> Strip:
    """Return the cells of a metric in its levels, a strip.

    :param levels: The levels as ``list_levels`` returns them.
    """
    cells: dict[tuple[str, tuple[int, int]], Cell] = {}
    columns: dict[tuple[int, int], None] = {}
    hosts: dict[str, str] = {}
    for guests, number, condition, homes in levels:
        column = (guests, number)
        columns[column] = None
        for name, cell in _create_cells(series, condition).items():
            cells[name, column] = cell
            hosts[name] = homes.get(name, "")
    return Strip(
        series=series,
        guests=tuple(hosts.items()),
        columns=tuple(columns),
        cells=cells,
    )


def _create_cells(
    series: shares.Series, level: repetition.Condition
) -> dict[str, Cell]:
    """Return the cell of each guest in a level, as a dict by guest name."""
    metric = series.row.metric
    samples = level.by_metric.get(
        metric, sample.MetricSamples(number=0, observations=())
    )
    guest_rates = rates.by_guest(metric, samples)
    point = series.row.point(density_levels.guests_of(level))
    void = (point and point.void) or _samples_void(series, level)
    sound: State = "void" if void else "sound"
    guest_cells = {}
    for name in level.machines:
        if name in guest_rates:
            share = guest_rates[name] / series.rate
            guest_cells[name] = Cell(share=share, state=sound)
        elif _is_expected(metric, level, name):
            guest_cells[name] = Cell(share=None, state="missing")
    return guest_cells


def _samples_void(series: shares.Series, level: repetition.Condition) -> bool:
    """Return whether a finding voids the samples of a metric at a level."""
    return any(
        run_finding.omitted
        and run_finding.finding.kind in finding.ABOUT_SAMPLES
        for run_finding in series.row.findings
    ) and any(
        level_finding.kind in finding.ABOUT_SAMPLES
        and level_finding.names(series.row.metric.name)
        for level_finding in level.findings
    )


def _is_expected(
    metric: sample.Metric, level: repetition.Condition, name: str
) -> bool:
    """Return whether a guest was expected to report a metric."""
    if level.state == "interrupted":
        return True
    expected = {metric_.name for metric_ in level.expected_metrics}
    return any(
        gap.machine == name
        and (gap.name == metric.name or gap.name not in expected)
        for gap in level.missing
    )
