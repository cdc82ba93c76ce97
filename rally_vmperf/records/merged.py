"""Distributions and lines of several machines, as records hold them.

They are for drawings only, because percentiles are stored beside them: few
digits and buckets five times as wide are enough.
"""

import collections.abc
import typing as t

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series

Json = collections.abc.Mapping[str, t.Any]
Metrics = collections.abc.Mapping[str, sample.Metric]

_WIDE = 5
#: Significant digits of percentiles, which are exact to 1 %.
_DIGITS = 4


def encode_distributions(
    distributions: collections.abc.Iterable[merged.Distribution],
) -> dict[str, dict[str, t.Any]]:
    """Return metric -> machines, histogram and percentiles."""
    return {
        one.metric.name: {
            "machines": one.machines,
            **one.histogram.plain(_WIDE),
            "percentiles": [
                None if value is None else float(f"{value:.{_DIGITS}g}")
                for value in one.percentiles
            ],
        }
        for one in distributions
    }


def encode_time_series(
    time_series: collections.abc.Iterable[merged.TimeSeries],
) -> dict[str, dict[str, t.Any]]:
    """Return metric -> machines, and their values over time."""
    return {
        one.metric.name: {"machines": one.machines, **one.line.plain()}
        for one in time_series
    }


def distributions(
    part: Json, known: Metrics
) -> tuple[merged.Distribution, ...]:
    """Return the distributions of a part of a record, if it has any.

    :param known: metrics by their names
    :raises ValueError: for what is not a distribution
    """
    return tuple(
        merged.Distribution(
            metric=known[name],
            machines=one["machines"],
            histogram=histogram.Histogram.from_plain(one),
            percentiles=tuple(one["percentiles"]),
        )
        for name, one in part.get("distributions", {}).items()
    )


def time_series(part: Json, known: Metrics) -> tuple[merged.TimeSeries, ...]:
    """Return the lines of a part of a record, if it has any.

    :param known: metrics by their names
    :raises ValueError: for what is not a line
    """
    return tuple(
        merged.TimeSeries(
            metric=known[name],
            machines=one["machines"],
            line=series.Line.from_plain(one),
        )
        for name, one in part.get("time_series", {}).items()
    )


def percentiles(
    part: Json, known: Metrics
) -> tuple[dict[sample.Metric, float], ...]:
    """Return those of each repetition of bare metal, all copies together.

    :param known: metrics by their names
    """
    found: list[dict[sample.Metric, float]] = [{} for _ in part["repetitions"]]
    for name, rows in part.get("percentiles", {}).items():
        for values, row in zip(found, rows, strict=False):
            values |= merged.percentile_values(known[name], tuple(row))
    return tuple(found)
