# SPDX-License-Identifier: Apache-2.0
"""Merged distributions and time series of several machines."""

import collections.abc
import dataclasses
import itertools
import typing as t

import annotated_types

from rally_vmperf import formats
from rally_vmperf.measurement.samples import histogram as histograms
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series

ReportT = t.TypeVar("ReportT", sample.Distribution, sample.Series)

#: Machines and their reports.
Readings = collections.abc.Iterable[
    tuple[str, sample.Distribution | sample.Series]
]
#: In the order of ``sample.PERCENTILES``; None if there are too few values.
Percentiles = tuple[
    t.Annotated[float, formats.number("> 0", annotated_types.Gt(0), digits=4)]
    | None,
    ...,
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MergedDistribution:
    """The merged distribution of a metric of several machines.

    :param machines: The number of machines that reported it.
    :param percentiles: The percentiles of one repetition; empty for several
        repetitions together.
    :raises ValueError: If a percentile is not valid as a sample.
    """

    metric: sample.Metric
    machines: formats.Positive
    histogram: histograms.Histogram
    percentiles: t.Annotated[
        Percentiles, annotated_types.MaxLen(len(sample.PERCENTILES))
    ] = ()

    def __post_init__(self) -> None:
        self.values()

    def values(self) -> dict[sample.Metric, float]:
        """Return the value of each supported percentile by metric."""
        return percentile_values(self.metric, self.percentiles)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimeSeries:
    """The mean of a metric over time, of several machines.

    :param machines: The number of machines that reported it.
    """

    metric: sample.Metric
    machines: formats.Positive
    means: series.MeanSeries


MergedT = t.TypeVar("MergedT", MergedDistribution, TimeSeries)


def percentile_values(
    metric: sample.Metric, percentiles: Percentiles
) -> dict[sample.Metric, float]:
    """Return the value of each supported percentile by metric.

    :param metric: The metric of the distribution.
    :raises ValueError: If a percentile is not valid as a sample.
    """
    names = sample.percentiles(metric)
    return {
        name: sample.Sample(metric=name, value=value).value
        for name, value in zip(names, percentiles, strict=False)
        if value is not None
    }


def distributions(readings: Readings) -> tuple[MergedDistribution, ...]:
    """Return the distributions of one repetition, merged over machines."""
    merged = []
    for metric, reports in _group_reports(
        readings, sample.Distribution
    ).items():
        whole = histograms.merge(report.histogram for _, report in reports)
        merged.append(
            MergedDistribution(
                metric=metric,
                machines=len({machine for machine, _ in reports}),
                histogram=whole,
                percentiles=tuple(
                    whole.percentile(percent)
                    if whole.supports(percent)
                    else None
                    for percent in sample.PERCENTILES
                ),
            )
        )
    return tuple(merged)


def time_series(readings: Readings) -> tuple[TimeSeries, ...]:
    """Return the time series of one repetition, merged over machines."""
    return tuple(
        TimeSeries(
            metric=metric,
            machines=len({machine for machine, _ in reports}),
            means=series.merge_machines(
                [report.points for _, report in reports]
            ),
        )
        for metric, reports in _group_reports(readings, sample.Series).items()
    )


def _group_reports(
    readings: Readings, kind: type[ReportT]
) -> dict[sample.Metric, list[tuple[str, ReportT]]]:
    """Return the machines and their reports of a kind for each metric."""
    groups: dict[sample.Metric, list[tuple[str, ReportT]]] = {}
    for machine, report in readings:
        if isinstance(report, kind):
            groups.setdefault(report.metric, []).append((machine, report))
    return groups


def merge_distributions(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[MergedDistribution]
    ],
) -> tuple[MergedDistribution, ...]:
    """Return the merged distributions of several repetitions."""
    return tuple(
        MergedDistribution(
            metric=metric,
            machines=max(distribution.machines for distribution in group),
            histogram=histograms.merge(
                distribution.histogram for distribution in group
            ),
        )
        for metric, group in _group_by_metric(repetitions).items()
    )


def merge_time_series(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[TimeSeries]
    ],
) -> tuple[TimeSeries, ...]:
    """Return the mean time series of several repetitions."""
    return tuple(
        TimeSeries(
            metric=metric,
            machines=max(time_series.machines for time_series in group),
            means=series.merge_repetitions(
                [time_series.means for time_series in group]
            ),
        )
        for metric, group in _group_by_metric(repetitions).items()
    )


def _group_by_metric(
    repetitions: collections.abc.Iterable[collections.abc.Iterable[MergedT]],
) -> dict[sample.Metric, list[MergedT]]:
    """Return the parts of several repetitions as a list for each metric."""
    groups: dict[sample.Metric, list[MergedT]] = {}
    for part in itertools.chain.from_iterable(repetitions):
        groups.setdefault(part.metric, []).append(part)
    return groups


def list_percentiles(
    distributions: collections.abc.Iterable[MergedDistribution],
) -> dict[sample.Metric, tuple[float, int]]:
    """Return each percentile's value and number of machines by metric."""
    return {
        metric: (percentile, distribution.machines)
        for distribution in distributions
        for metric, percentile in distribution.values().items()
    }
