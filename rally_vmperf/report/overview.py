"""The figures of several runs side by side: metric by flavor."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import judgement
from rally_vmperf.report import groups
from rally_vmperf.report import run as runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """One metric over all runs; None where a run does not have it."""

    metric: str
    cells: tuple[judgement.AnyRow | None, ...]


def lines(shown: collections.abc.Sequence[runs.Run]) -> list[Line]:
    """Return a line per metric, grouped as in the tables of the runs."""
    tables = [
        {row.metric.name: row for row in run.judgement.every} for run in shown
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    return [
        Line(metric=name, cells=tuple(table.get(name) for table in tables))
        for name in sorted(names, key=groups.place)
    ]
