"""Several density runs side by side: one host, divided in several ways."""

import collections.abc
import dataclasses

from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import run as runs
from rally_vmperf.report import groups


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One metric of one run at one number of guests.

    :param of_host: the total of a host's guests as a share of what bare metal
        gives
    :param status: of the degradation; None without a limit
    """

    point: points.Point
    of_host: float | None
    status: verdict.Status | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """One metric over all runs.

    :param host: the largest total of bare metal, as a rate; None without
        bare metal, or for what cannot be added up
    :param copies: in how many copies that was, and of which run's shape
    :param lines: for each run that has the metric its place and its cells,
        None where it does not have that number of guests
    """

    metric: sample.Metric
    host: float | None
    copies: tuple[int, str] | None
    lines: tuple[tuple[int, tuple[Cell | None, ...]], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """All metrics, by run and number of guests."""

    levels: tuple[int, ...]
    parts: tuple[Part, ...]


def table(shown: collections.abc.Sequence[runs.DensityReport]) -> Table:
    """Return a part per metric, in the order of the tables of the runs."""
    rows = [
        {row.metric: row for row in run.judgement.curves if row.measured}
        for run in shown
    ]
    levels = sorted(
        {x.guests for own in rows for row in own.values() for x in row.points}
    )
    metrics = sorted(
        dict.fromkeys(metric for own in rows for metric in own),
        key=lambda metric: groups.position(metric.name),
    )
    return Table(
        levels=tuple(levels),
        parts=tuple(_part(one, rows, shown, levels) for one in metrics),
    )


def _part(
    metric: sample.Metric,
    rows: list[dict[sample.Metric, rows.Row]],
    shown: collections.abc.Sequence[runs.DensityReport],
    levels: list[int],
) -> Part:
    there = [(n, own[metric]) for n, own in enumerate(rows) if metric in own]
    wholes = [
        (point.bare_total, point.guests, shown[n].title)
        for n, row in there
        for point in row.points
        if point.bare_total is not None
    ]
    best = max(wholes, default=None)
    host = best[0] if best else None
    return Part(
        metric=metric,
        host=host,
        copies=best[1:] if best else None,
        lines=tuple(
            (
                n,
                tuple(
                    _cell(row, guests, host, shown[n].hosts)
                    for guests in levels
                ),
            )
            for n, row in there
        ),
    )


def _cell(
    row: rows.Row, guests: int, host: float | None, hosts: int
) -> Cell | None:
    point = row.point(guests)
    if point is None:
        return None
    of_host = None
    if host is not None and point.total is not None:
        of_host = point.total / hosts / host
    return Cell(
        point=point,
        of_host=of_host,
        status=row.statuses.get(guests),
    )
