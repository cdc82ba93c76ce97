"""The rate of each guest, by level and repetition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import shares

#: The state of a cell; void cells were measured, but are not valid.
State = t.Literal["sound", "void", "missing"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
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

    def number(self, state: State) -> int:
        """Return the number of cells that have a state."""
        return sum(1 for cell in self.cells.values() if cell.state == state)


def strip(
    series: shares.Series,
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> Strip:
    """Return the cells of a metric in its counted repetitions, a strip."""
    counted = [
        repetition_ for repetition_ in repetitions if repetition_.counted
    ]
    cells: dict[tuple[str, tuple[int, int]], Cell] = {}
    columns: dict[tuple[int, int], None] = {}
    hosts: dict[str, str] = {}
    for guests in density_levels.guest_counts(counted):
        for repetition_ in counted:
            for level in repetition_.select(guests=guests).conditions:
                if level.skip_reason:
                    continue
                column = (guests, repetition_.number)
                columns[column] = None
                for name, cell in _create_cells(series, level).items():
                    cells[name, column] = cell
                    hosts[name] = repetition_.hosts.get(name, "")
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
    samples = sample.MetricSamples(
        number=level.number,
        observations=tuple(
            observation
            for observation in level.observations
            if observation.sample.metric == metric
        ),
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
