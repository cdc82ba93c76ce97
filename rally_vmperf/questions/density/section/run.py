"""One density run as a report shows it."""

import dataclasses
import functools

from rally_vmperf.measurement import sample
from rally_vmperf.measurement import units
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows
from rally_vmperf.questions.density.section import cells
from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import run as runs

#: Heading of the judgement on it.
FAIRNESS = "Fairness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(runs.Run):
    """Levels of guests, and what they amount to."""

    @functools.cached_property
    def series(self) -> list[shares.Series]:
        """The metrics that were measured, as shares of the lone guest."""
        found = [self.shares_of(row) for row in self.judgement.rows]
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
                    len(level.machines) // points.guests_of(level)
                    for one in self.repetitions
                    for level in one.conditions
                ),
                default=1,
            )
            or 1
        )

    @property
    def most_guests(self) -> int:
        """How many guests took part in the largest level."""
        levels = [x for one in self.repetitions for x in one.conditions]
        return max((len(one.machines) for one in levels), default=0)

    def fairness_at(
        self, metric: sample.Metric, guests: int
    ) -> list[tuple[str, str]]:
        """Return what was judged of a level's fairness, with the verdict."""
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
        """The same, guest by guest."""
        return [cells.strip(one, self.repetitions) for one in self.series]

    def named(self) -> str:
        """Return a title of what ran."""
        levels = points.numbers(self.repetitions)
        if not levels:
            return f"{self.size}, no guests"
        most = units.number_of("guest", levels[-1])
        if len(levels) == 1:
            return f"{self.size}, {most}"
        return f"{self.size}, {levels[0]} to {most}"
