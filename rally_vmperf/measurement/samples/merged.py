"""Distributions and series of several machines, as one."""

import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf.measurement.samples import histogram as histograms
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series

PartT = t.TypeVar("PartT")

#: Machine and what it reported.
Readings = collections.abc.Iterable[
    tuple[str, sample.Distribution | sample.Series]
]
#: In the order of ``sample.PERCENTILES``; None for one that too few values
#: support.
Percentiles = tuple[float | None, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distribution:
    """All values that some machines had of a metric, counted together.

    :param machines: how many reported it
    :param percentiles: of one repetition; empty for several together
    :raises ValueError: for one that no sample may be
    """

    metric: sample.Metric
    machines: int
    histogram: histograms.Histogram
    percentiles: Percentiles = ()

    def __post_init__(self) -> None:
        self.values()

    def values(self) -> dict[sample.Metric, float]:
        """Return metric -> value of each percentile that is supported."""
        return percentile_values(self.metric, self.percentiles)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimeSeries:
    """A metric over time, the mean of some machines.

    :param machines: how many reported it
    """

    metric: sample.Metric
    machines: int
    line: series.Line


def percentile_values(
    metric: sample.Metric, percentiles: Percentiles
) -> dict[sample.Metric, float]:
    """Return metric -> value of each percentile that is supported.

    :param metric: of the distribution
    :raises ValueError: for one that no sample may be
    """
    names = sample.percentiles(metric)
    return {
        name: sample.Sample(metric=name, value=value).value
        for name, value in zip(names, percentiles, strict=False)
        if value is not None
    }


def distributions(readings: Readings) -> tuple[Distribution, ...]:
    """Return the distributions of one repetition, machines merged."""
    found = []
    by_metric = _grouped(
        (one.metric, (name, one))
        for name, one in readings
        if isinstance(one, sample.Distribution)
    )
    for metric, parts in by_metric.items():
        whole = histograms.merge(one.histogram for _, one in parts)
        found.append(
            Distribution(
                metric=metric,
                machines=len({name for name, _ in parts}),
                histogram=whole,
                percentiles=tuple(
                    whole.percentile(one) if whole.supports(one) else None
                    for one in sample.PERCENTILES
                ),
            )
        )
    return tuple(found)


def lines(readings: Readings) -> tuple[TimeSeries, ...]:
    """Return the series of one repetition, machines merged."""
    by_metric = _grouped(
        (one.metric, (name, one.points))
        for name, one in readings
        if isinstance(one, sample.Series)
    )
    return tuple(
        TimeSeries(
            metric=metric,
            machines=len({name for name, _ in parts}),
            line=series.merge([points for _, points in parts]),
        )
        for metric, parts in by_metric.items()
    )


def merge_distributions(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[Distribution]
    ],
) -> tuple[Distribution, ...]:
    """Return the distributions of several repetitions, counted together."""
    every = itertools.chain.from_iterable(repetitions)
    found = _grouped((one.metric, one) for one in every)
    return tuple(
        Distribution(
            metric=metric,
            machines=max(one.machines for one in parts),
            histogram=histograms.merge(one.histogram for one in parts),
        )
        for metric, parts in found.items()
    )


def merge_lines(
    repetitions: collections.abc.Iterable[
        collections.abc.Iterable[TimeSeries]
    ],
) -> tuple[TimeSeries, ...]:
    """Return the lines of several repetitions, each as their mean."""
    every = itertools.chain.from_iterable(repetitions)
    found = _grouped((one.metric, one) for one in every)
    return tuple(
        TimeSeries(
            metric=metric,
            machines=max(one.machines for one in parts),
            line=series.merge_lines([one.line for one in parts]),
        )
        for metric, parts in found.items()
    )


def _grouped(
    parts: collections.abc.Iterable[tuple[sample.Metric, PartT]],
) -> dict[sample.Metric, list[PartT]]:
    found: dict[sample.Metric, list[PartT]] = {}
    for metric, part in parts:
        found.setdefault(metric, []).append(part)
    return found
