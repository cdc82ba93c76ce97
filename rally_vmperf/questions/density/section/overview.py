"""The comparison of several density runs on one host."""

import collections.abc
import dataclasses

from rally_vmperf.judging.results import curve
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density.section import density_report
from rally_vmperf.report import groups


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverviewCell:
    """One metric of one run at one number of guests.

    :param of_host: The total of a host's guests as a share of bare metal; None
        if one of them is not known.
    :param status: The verdict on the degradation; None without a limit.
    """

    point: points.Point
    of_host: float | None
    status: verdict.Status | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricRows:
    """One metric over all runs.

    :param host: The largest total on bare metal, as a rate; None without
        bare metal or for metrics that are not additive.
    :param copies: The number of copies with that total, and the title of the
        run with their shape.
    :param rows: The position and the cells of each run with the metric; a
        cell is None if the run does not have that number of guests.
    """

    metric: sample.Metric
    host: float | None
    copies: tuple[int, str] | None
    rows: tuple[tuple[int, tuple[OverviewCell | None, ...]], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverviewTable:
    """All metrics, by run and number of guests."""

    levels: tuple[int, ...]
    metrics: tuple[MetricRows, ...]


def table(
    shown: collections.abc.Sequence[density_report.DensityReport],
) -> OverviewTable:
    """Return a table of the metrics of all runs at each level."""
    rows = [
        {row.metric: row for row in run.judgement.curves if row.measured}
        for run in shown
    ]
    levels = sorted(
        {
            point.guests
            for run_rows in rows
            for row in run_rows.values()
            for point in row.points
        }
    )
    metrics = sorted(
        dict.fromkeys(metric for run_rows in rows for metric in run_rows),
        key=lambda metric: groups.position(metric.name),
    )
    return OverviewTable(
        levels=tuple(levels),
        metrics=tuple(
            _create_metric_rows(metric, rows, shown, levels)
            for metric in metrics
        ),
    )


def _create_metric_rows(
    metric: sample.Metric,
    rows: list[dict[sample.Metric, curve.Curve]],
    shown: collections.abc.Sequence[density_report.DensityReport],
    levels: list[int],
) -> MetricRows:
    """Return the row of one metric for each run that measured it."""
    measured = [
        (position, run_rows[metric])
        for position, run_rows in enumerate(rows)
        if metric in run_rows
    ]
    wholes = [
        (point.bare_total, point.guests, shown[position].title)
        for position, row in measured
        for point in row.points
        if point.bare_total is not None
    ]
    best = max(wholes, default=None)
    host = best[0] if best else None
    return MetricRows(
        metric=metric,
        host=host,
        copies=best[1:] if best else None,
        rows=tuple(
            (
                position,
                tuple(
                    _create_cell(row, guests, host, shown[position].hosts)
                    for guests in levels
                ),
            )
            for position, row in measured
        ),
    )


def _create_cell(
    row: curve.Curve,
    guests: int,
    host: float | None,
    hosts: int,
) -> OverviewCell | None:
    """Return the table cell of a metric at a level, or None if not run."""
    point = row.point(guests)
    if point is None:
        return None
    of_host = None
    if host is not None and point.total is not None:
        of_host = point.total / hosts / host
    return OverviewCell(
        point=point,
        of_host=of_host,
        status=row.statuses.get(guests),
    )
