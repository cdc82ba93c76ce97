"""One density run as a report shows it."""

import dataclasses
import functools

from rally_vmperf.measurement import level as level_
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import rows
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import cells
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import run as runs

#: Heading of the judgement on it.
FAIRNESS = "Fairness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DensityReport(runs.RunReport):
    """The results of a density run, level by level."""

    @functools.cached_property
    def levels(self) -> tuple[repetition.Repetition, ...]:
        """The repetitions with what was measured without neighbours."""
        return tuple(one.without_neighbours() for one in self.repetitions)

    @functools.cached_property
    def series(self) -> list[shares.Series]:
        """The metrics that were measured, as shares of the lone guest."""
        found = [self.shares_of(row) for row in self.judgement.curves]
        return [one for one in found if one is not None]

    def shares_of(self, row: rows.Row) -> shares.Series | None:
        """Return a metric as shares, None where nothing was measured."""
        return shares.series(row, self.hosts)

    @property
    def hosts(self) -> int:
        """On how many hosts there were so many guests each."""
        return (
            max(
                (
                    len(level.machines)
                    // (level_.guests_of(level) * level.batches)
                    for one in self.levels
                    for level in one.conditions
                ),
                default=1,
            )
            or 1
        )

    @property
    def max_guests(self) -> int:
        """How many guests took part in the largest level."""
        every = [x for one in self.levels for x in one.conditions]
        return max((len(x.machines) // x.batches for x in every), default=0)

    def fairness_at(
        self, metric: sample.Metric, guests: int
    ) -> list[tuple[str, str]]:
        """Return the verdicts on a level's fairness, by figure."""
        fairness = self.judgements.get(FAIRNESS)
        return [
            (
                "Jain's index" if row.figure == "index" else "spread",
                row.statuses[guests],
            )
            for row in (fairness.rows if fairness else ())
            if row.metric == metric and guests in row.statuses
        ]

    @functools.cached_property
    def strips(self) -> list[cells.Strip]:
        """The metrics that were measured, guest by guest."""
        return [cells.strip(one, self.levels) for one in self.series]

    def named(self) -> str:
        """Return the title of the run."""
        numbers = levels.numbers(self.levels)
        if not numbers:
            return f"{self.size}, no guests"
        most = units.number_of("guest", numbers[-1])
        if len(numbers) == 1:
            return f"{self.size}, {most}"
        return f"{self.size}, {numbers[0]} to {most}"
