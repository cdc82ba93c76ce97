"""The verdict on a density run, with everything that it rests on."""

import dataclasses

from rally_vmperf.measurement import summary
from rally_vmperf.measurement.density import most
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import wording


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary.Summary[points.Row]):
    """What an SLA of density answers and a report shows.

    :param rows: one for each metric and limited figure; counts have none
    """

    rows: tuple[points.Row, ...]

    @property
    def every(self) -> tuple[points.Row, ...]:
        """All rows, with and without a limit."""
        return self.rows

    def lines(self, row: points.Row) -> list[str]:
        """Return a line for each level that made the verdict what it is."""
        return wording.lines(row)

    def sentences(self) -> list[str]:
        """Return the verdict, and how many guests fit where all passed."""
        passed = [row for row in self.judged if row.status == "passed"]
        return [
            *super().sentences(),
            *(f"{line}." for row in passed for line in most.sentences(row)),
        ]
