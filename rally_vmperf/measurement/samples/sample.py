"""What is measured: values, distributions and series of metrics."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.samples import histogram as histograms
from rally_vmperf.measurement.samples import series

Better = t.Literal["higher", "lower"]
Scale = t.Literal["ratio", "count"]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A metric: its name, unit, direction and scale.

    A ``ratio`` is above zero and can be judged as overhead; a ``count``
    (retransmits, errors) can be zero and is held to absolute limits only.

    :param additive: whether the sum over several machines means something;
        unless said, it does for ratios of which more is better.  Of times it
        does where each is that of a fixed amount of work: the sum is that of
        their inverses, work per second.
    :param resolution: half of what lies between neighbouring values, as a
        share of them, such as of the buckets of a histogram; None where the
        tool's rounding is not known
    :param step: likewise, in the unit, of a tool that writes few digits
    :param optional: whether a complete run may lack it, such as a percentile
        that too few values support
    :param bounds: smallest and largest value that any machine reaches, where
        those of the unit are not the metric's
    """

    name: str
    unit: str
    better: Better
    _: dataclasses.KW_ONLY
    scale: Scale = "ratio"
    additive: bool | None = dataclasses.field(default=None, compare=False)
    resolution: float | None = dataclasses.field(default=None, compare=False)
    step: float | None = dataclasses.field(default=None, compare=False)
    # Records and baselines do not keep these.
    optional: bool = dataclasses.field(default=False, compare=False)
    bounds: tuple[float, float] | None = dataclasses.field(
        default=None, compare=False
    )

    def __post_init__(self) -> None:
        if self.additive is None:
            rate = self.scale == "ratio" and self.better == "higher"
            object.__setattr__(self, "additive", rate)

    def error(self, value: float) -> float | None:
        """Return the relative error of a value; None where unknown."""
        if self.resolution is None and self.step is None:
            return None
        return max(self.resolution or 0, (self.step or 0) / value)


#: Smallest and largest value above zero that is computed with, in any unit:
#: wider than what machines reach, and no figure made of them overflows.
LOWEST, HIGHEST = 1e-12, 1e18


@dataclasses.dataclass(frozen=True)
class Sample:
    """A value of one metric, in base units, as one machine reported it.

    :raises ValueError: for a value that no measurement can give: not between
        ``LOWEST`` and ``HIGHEST``, where zero is one only of a count
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


#: Percentiles that are metrics of their own, where a distribution is known.
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
#: Those that each machine has samples of. The others are of all machines
#: together: a record of many guests has no room for more.
_OWN = (50.0, 99.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distribution:
    """How often each value of a metric came, as one machine reported it.

    Its percentiles are samples of the metrics that ``percentiles`` returns;
    a workload names these among its metrics, and the distribution's not.

    :raises ValueError: for a histogram of no values
    """

    metric: Metric
    histogram: histograms.Histogram

    def __post_init__(self) -> None:
        if not self.histogram.counts:
            raise ValueError(f"{self.metric.name} has no values")

    def samples(self) -> list[Sample]:
        """Return the machine's own p50 and p99, if values support them."""
        return [
            Sample(metric, self.histogram.percentile(percent))
            for percent, metric in zip(
                PERCENTILES, percentiles(self.metric), strict=True
            )
            if percent in _OWN and self.histogram.supports(percent)
        ]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Series:
    """A metric over time, as one machine reported it.

    Of more than ``series.LONGEST`` points several are drawn together.

    :param points: the end of each interval, in seconds since the beginning
        of what was measured, and the value in it
    :raises ValueError: as ``series.check`` does
    """

    metric: Metric
    points: series.Points

    def __post_init__(self) -> None:
        series.check(self.points)
        short = series.shortened(self.points)
        object.__setattr__(self, "points", short)


#: What a workload finds in the output of a command.
Reading = Sample | Distribution | Series


def percentiles(metric: Metric) -> tuple[Metric, ...]:
    """Return the metrics that the percentiles of a distribution are.

    They are named after it: ``latency_p99_9`` is that of 99.9 %.
    """
    return tuple(
        dataclasses.replace(
            metric,
            name=percentile_name(metric.name, one),
            additive=False,
            resolution=histograms.ACCURACY,
            optional=True,
        )
        for one in PERCENTILES
    )


def percentile_name(name: str, percent: float) -> str:
    """Return the name of a percentile of a distribution."""
    digits = f"{percent:g}".replace(".", "_")
    return f"{name}_p{digits}"


def distribution_names(
    names: collections.abc.Iterable[str],
) -> list[str]:
    """Return the distributions that some of these are the median of."""
    median = percentile_name("", PERCENTILES[0])
    return [
        name.removesuffix(median) for name in names if name.endswith(median)
    ]


@dataclasses.dataclass(frozen=True)
class Observation:
    """A sample with its source: a guest or a bare-metal copy."""

    source: str
    sample: Sample
