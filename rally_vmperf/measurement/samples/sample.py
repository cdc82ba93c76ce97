# SPDX-License-Identifier: Apache-2.0
"""Metrics, and their samples, distributions and time series."""

import collections
import collections.abc
import dataclasses
import functools
import statistics
import types
import typing as t

import annotated_types

from rally_vmperf import formats
from rally_vmperf.measurement.samples import histogram as histograms
from rally_vmperf.measurement.samples import series

Better = t.Literal["higher", "lower"]
Scale = t.Literal["ratio", "count"]
Resolution = t.Annotated[
    float,
    formats.number(
        "from 0 to less than 1", annotated_types.Ge(0), annotated_types.Lt(1)
    ),
]


def find_metric(
    name: str, metrics: collections.abc.Mapping[str, "Metric"]
) -> "Metric":
    """Return a metric by its name.

    :raises ValueError: If the document does not define it.
    """
    if name not in metrics:
        raise ValueError(f"{name!r:.80} is not among the metrics")
    return metrics[name]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A metric: its name, unit, direction and scale.

    A ``ratio`` is above zero and can be judged as overhead; a ``count``
    (retransmits, errors) can be zero and only has absolute limits.

    :param additive: True if the sum over several machines is meaningful; by
        default True for ratios of which more is better. Times are additive
        if each is the time of a fixed amount of work: their inverses, work
        per second, are added up.
    :param resolution: The half distance between adjacent values, as a
        share of the value, such as of the buckets of a histogram; None if the
        rounding of the tool is unknown.
    :param step: The half distance between adjacent values in the unit,
        for a tool that writes few digits, or the error of an estimated count;
        None if unknown.
    :param optional: True if a complete run may lack it, such as a percentile
        of too few values.
    :param bounds: The smallest and largest value that a machine can reach;
        None for those of the unit.
    """

    name: str = dataclasses.field(metadata=formats.DERIVED)
    unit: str
    better: Better
    _: dataclasses.KW_ONLY
    scale: Scale = "ratio"
    additive: bool | None = dataclasses.field(default=None, compare=False)
    resolution: Resolution | None = dataclasses.field(
        default=None, compare=False
    )
    step: formats.Amount | None = dataclasses.field(
        default=None, compare=False
    )
    # Records and baselines do not keep these.
    optional: bool = dataclasses.field(
        default=False, compare=False, metadata=formats.DERIVED
    )
    bounds: tuple[float, float] | None = dataclasses.field(
        default=None, compare=False, metadata=formats.DERIVED
    )

    # A document has its name, and defines it once.
    __get_pydantic_core_schema__ = formats.form(
        str, find_metric, lambda metric: metric.name
    ).__get_pydantic_core_schema__

    def __post_init__(self) -> None:
        if self.additive is None:
            rate = self.scale == "ratio" and self.better == "higher"
            object.__setattr__(self, "additive", rate)

    def error(self, value: float) -> float | None:
        """Return the relative error of a value; None if unknown."""
        if self.resolution is None and self.step is None:
            return None
        return max(self.resolution or 0, (self.step or 0) / value)


#: Smallest and largest value above zero, in any unit: wider than the values of
#: real machines, and no figure that is computed from them overflows.
LOWEST, HIGHEST = 1e-12, 1e18


@dataclasses.dataclass(frozen=True)
class Sample:
    """A value of one metric of one machine, in base units.

    :raises ValueError: If the value is not between ``LOWEST`` and ``HIGHEST``,
        and not the zero of a count.
    """

    metric: Metric
    value: float

    def __post_init__(self) -> None:
        may_be_zero = self.metric.scale == "count"
        in_range = LOWEST <= self.value <= HIGHEST
        if not (in_range or (self.value == 0 and may_be_zero)):
            zero = "0 or " if may_be_zero else ""
            raise ValueError(
                f"{self.metric.name} is {self.value} {self.metric.unit}, "
                f"but must be {zero}from {LOWEST:g} to {HIGHEST:g}"
            )


#: Percentiles of a distribution that are metrics.
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
#: Percentiles for which each machine has a sample. The others are of all
#: machines together, to limit the size of a record of many guests.
_OWN = (50.0, 99.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distribution:
    """The distribution of a metric, as reported by one machine.

    Its percentiles are samples of the metrics that ``percentiles`` returns;
    a workload lists these among its metrics, but not that of the distribution.

    :raises ValueError: If the histogram is empty.
    """

    metric: Metric
    histogram: histograms.Histogram

    def __post_init__(self) -> None:
        if not self.histogram.counts:
            raise ValueError(f"{self.metric.name} has no values")

    def samples(self) -> list[Sample]:
        """Return the machine's p50 and p99 as a list, if supported."""
        return [
            Sample(metric, self.histogram.percentile(percent))
            for percent, metric in zip(
                PERCENTILES, percentiles(self.metric), strict=True
            )
            if percent in _OWN and self.histogram.supports(percent)
        ]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Series:
    """A metric over time, as reported by one machine.

    If there are more than ``series.MAX_POINTS`` points, they are averaged.

    :param points: The end of each interval, in seconds since the start of the
        measurement, and its value.
    :raises ValueError: If ``series.check`` rejects the points.
    """

    metric: Metric
    points: series.Points

    def __post_init__(self) -> None:
        series.check(self.points)
        short = series.shorten(self.points)
        object.__setattr__(self, "points", short)


#: A result that a workload parses from the output of a command.
Reading = Sample | Distribution | Series


def percentiles(metric: Metric) -> tuple[Metric, ...]:
    """Return the metrics of a distribution's percentiles, a tuple.

    They are named after it: ``latency_p99_9`` is the percentile of 99.9 %.
    """
    return tuple(
        dataclasses.replace(
            metric,
            name=percentile_name(metric.name, percent),
            additive=False,
            resolution=histograms.ACCURACY,
            optional=True,
        )
        for percent in PERCENTILES
    )


def percentile_name(name: str, percent: float) -> str:
    """Return the metric name of a percentile of a distribution."""
    digits = f"{percent:g}".replace(".", "_")
    return f"{name}_p{digits}"


def is_tail(name: str) -> bool:
    """Return whether a metric is a percentile above the median."""
    return any(
        name.endswith(percentile_name("", percent))
        for percent in PERCENTILES[1:]
    )


def distribution_names(
    names: collections.abc.Iterable[str],
) -> list[str]:
    """Return names of distributions whose medians are among names."""
    median = percentile_name("", PERCENTILES[0])
    return [
        name.removesuffix(median) for name in names if name.endswith(median)
    ]


@dataclasses.dataclass(frozen=True)
class Observation:
    """A sample with its source: a guest or a bare-metal copy."""

    source: str
    sample: Sample


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricSamples:
    """The samples of one metric in one repetition.

    :param number: The number of the repetition.
    :param observations: The observations of this metric, one or more for each
        guest or copy.
    :param merged: The percentile of the values of all machines together; None
        for a metric that is not a percentile.
    :param merged_machines: The number of these machines.
    :param overlap: The share of the run in which all machines worked.
    """

    number: int
    observations: tuple[Observation, ...]
    merged: float | None = None
    merged_machines: int = 0
    overlap: float = 1.0

    @functools.cached_property
    def values(self) -> tuple[float, ...]:
        """The values in the order of the observations, a tuple.

        A percentile has one value, of all machines together, because a mean
        of percentiles is not a percentile.
        """
        if self.merged is not None:
            return (self.merged,)
        return tuple(
            observation.sample.value for observation in self.observations
        )

    @functools.cached_property
    def by_source(self) -> dict[str, list[float]]:
        """The values of each guest or copy, a dict by name."""
        values: dict[str, list[float]] = {}
        for observation in self.observations:
            values.setdefault(observation.source, []).append(
                observation.sample.value
            )
        return values

    @functools.cached_property
    def means_by_source(self) -> dict[str, float]:
        """The geometric mean of each guest or copy, a dict by name.

        :raises ValueError: If one of several values is zero.
        """
        return {
            source: values[0]
            if len(values) == 1
            else statistics.geometric_mean(values)
            for source, values in self.by_source.items()
        }

    @functools.cached_property
    def sources(self) -> collections.Counter[str]:
        """The number of observations by guest or copy, a counter."""
        return collections.Counter(
            observation.source for observation in self.observations
        )


def create_samples(
    metric: Metric,
    repetitions: collections.abc.Iterable[collections.abc.Iterable[float]],
) -> tuple[MetricSamples, ...]:
    """Return the values of each repetition as samples without a source."""
    return tuple(
        MetricSamples(
            number=number,
            observations=tuple(
                Observation("", Sample(metric, value)) for value in values
            ),
        )
        for number, values in enumerate(repetitions, start=1)
    )


def mean_overlap(
    repetitions: collections.abc.Collection[MetricSamples],
) -> float:
    """Return the overlap by which the mean loss of repetitions is divided."""
    overlaps = [samples.overlap for samples in repetitions]
    if all(overlap == 1.0 for overlap in overlaps):
        return 1.0
    return statistics.harmonic_mean(overlaps)


#: The percentiles of all machines together in one repetition.
Percentiles = collections.abc.Mapping[Metric, float]
#: The samples of each metric in one repetition.
ByMetric = collections.abc.Mapping[Metric, MetricSamples]


def group_by_metric(
    number: int,
    observations: collections.abc.Iterable[Observation],
    percentiles: collections.abc.Mapping[Metric, tuple[float, int]],
    overlaps: collections.abc.Mapping[str, float] = types.MappingProxyType({}),
) -> ByMetric:
    """Return the samples as a dict by metric, percentiles last.

    :param number: The number of the repetition.
    :param percentiles: The percentiles of all machines together, with the
        number of machines.
    :param overlaps: The share of the run in which all machines worked, by
        name of metric; by default all of it.
    """
    groups: dict[Metric, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(observation.sample.metric, []).append(observation)
    return {
        metric: MetricSamples(
            number=number,
            observations=tuple(groups.get(metric, ())),
            merged=merged,
            merged_machines=machines,
            overlap=overlaps.get(metric.name, 1.0),
        )
        for metric in {**groups, **percentiles}
        for merged, machines in [percentiles.get(metric, (None, 0))]
    }
