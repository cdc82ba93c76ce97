"""The figures of several runs side by side: metric by flavor."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import rows
from rally_vmperf.report import groups
from rally_vmperf.report import run as runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """One metric over all runs; None where a run does not have it.

    Where it is compared with bare metal the cell is the overhead.
    """

    metric: str
    cells: tuple[rows.Row | None, ...]


def lines(shown: collections.abc.Sequence[runs.Run]) -> list[Line]:
    """Return a line per metric, grouped as in the tables of the runs."""
    tables = [
        {row.metric.name: row for row in reversed(run.judgement.rows)}
        for run in shown
    ]
    names = dict.fromkeys(
        row.metric.name for run in shown for row in run.judgement.rows
    )
    return [
        Line(metric=name, cells=tuple(table.get(name) for table in tables))
        for name in sorted(names, key=groups.place)
    ]
