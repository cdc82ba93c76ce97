"""The verdict on a run, with everything that it rests on."""

import dataclasses

from rally_vmperf.measurement import counts
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import summary

AnyRow = rows.Row | counts.CountRow


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary.Summary[AnyRow]):
    """The verdict on overhead.

    :param rows: metrics that are compared with bare metal
    :param counts: metrics that are held to absolute limits
    :param reference: what the guests were compared with, None if unknown
    """

    rows: tuple[rows.Row, ...]
    counts: tuple[counts.CountRow, ...]
    reference: repetition.Reference | None

    @property
    def every(self) -> tuple[AnyRow, ...]:
        """All rows, with and without a limit."""
        return (*self.rows, *self.counts)

    def lines(self, row: AnyRow) -> list[str]:
        """Return the row's sentence."""
        return [row.sentence()]
