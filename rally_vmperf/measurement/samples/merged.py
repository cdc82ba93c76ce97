"""Merged distributions and time series of several machines."""

import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf.measurement.samples import histogram as histograms
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series

PartT = t.TypeVar("PartT")

#: Machines and their reports.
Readings = collections.abc.Iterable[
    tuple[str, sample.Distribution | sample.Series]
]
#: In the order of ``sample.PERCENTILES``; None if there are too few values.
Percentiles = tuple[float | None, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distribution:
    """The merged distribution of a metric of several machines.

    :param machines: The number of machines that reported it.
    :param percentiles: The percentiles of one repetition; empty for several
        repetitions together.
    :raises ValueError: If a percentile is not valid as a sample.
    """

    metric: sample.Metric
    machines: int
    histogram: histograms.Histogram
    percentiles: Percentiles = ()

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
    machines: int
    means: series.MeanSeries


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


def distributions(readings: Readings) -> tuple[Distribution, ...]:
    """Return the distributions of one repetition, merged over machines."""
    merged = []
    by_metric = _group_by_metric(
        (reading.metric, (name, reading))
        for name, reading in readings
        if isinstance(reading, sample.Distribution)
    )
    for metric, named_distributions in by_metric.items():
        whole = histograms.merge(
            reading.histogram for _, reading in named_distributions
        )
        merged.append(
            Distribution(
                metric=metric,
                machines=len({name for name, _ in named_distributions}),
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
    by_metric = _group_by_metric(
        (reading.metric, (name, reading.points))
        for name, reading in readings
        if isinstance(reading, sample.Series)
    )
    return tuple(
        TimeSeries(
            metric=metric,
            machines=len({name for name, _ in named_points}),
            means=series.merge_machines(
                [points for _, points in named_points]
            ),
        )
        for metric, named_points in by_metric.items()
    )


def merge_distributions(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[Distribution]
    ],
) -> tuple[Distribution, ...]:
    """Return the merged distributions of several repetitions."""
    distributions = itertools.chain.from_iterable(repetitions)
    by_metric = _group_by_metric(
        (distribution.metric, distribution) for distribution in distributions
    )
    return tuple(
        Distribution(
            metric=metric,
            machines=max(distribution.machines for distribution in group),
            histogram=histograms.merge(
                distribution.histogram for distribution in group
            ),
        )
        for metric, group in by_metric.items()
    )


def merge_time_series(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[TimeSeries]
    ],
) -> tuple[TimeSeries, ...]:
    """Return the mean time series of several repetitions."""
    all_series = itertools.chain.from_iterable(repetitions)
    by_metric = _group_by_metric(
        (time_series.metric, time_series) for time_series in all_series
    )
    return tuple(
        TimeSeries(
            metric=metric,
            machines=max(time_series.machines for time_series in group),
            means=series.merge_repetitions(
                [time_series.means for time_series in group]
            ),
        )
        for metric, group in by_metric.items()
    )


def _group_by_metric(
    pairs: collections.abc.Iterable[tuple[sample.Metric, PartT]],
) -> dict[sample.Metric, list[PartT]]:
    """Return the second elements of pairs as a list for each metric."""
    groups: dict[sample.Metric, list[PartT]] = {}
    for metric, grouped in pairs:
        groups.setdefault(metric, []).append(grouped)
    return groups


def list_percentiles(
    distributions: collections.abc.Iterable[Distribution],
) -> dict[sample.Metric, tuple[float, int]]:
    """Return each percentile's value and number of machines by metric."""
    return {
        metric: (percentile, distribution.machines)
        for distribution in distributions
        for metric, percentile in distribution.values().items()
    }
