"""Distributions and time series of several machines in records.

They are for charts only, because percentiles are stored separately: few digits
and buckets of five times the width are sufficient.
"""

import collections.abc
import typing as t

from rally_vmperf.measurement import repetition
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
    """Return machines, histogram and percentiles by metric name."""
    return {
        distribution.metric.name: {
            "machines": distribution.machines,
            **distribution.histogram.plain(_WIDE),
            "percentiles": [
                None
                if percentile is None
                else float(f"{percentile:.{_DIGITS}g}")
                for percentile in distribution.percentiles
            ],
        }
        for distribution in distributions
    }


def encode_time_series(
    time_series: collections.abc.Iterable[merged.TimeSeries],
) -> dict[str, dict[str, t.Any]]:
    """Return machines and values over time by metric name."""
    return {
        series_.metric.name: {
            "machines": series_.machines,
            **series_.means.plain(),
        }
        for series_ in time_series
    }


def encode_percentiles(
    reference: repetition.Reference,
) -> dict[str, list[list[float | None]]]:
    """Return percentiles over all copies, one row per repetition, by name."""
    rows_by_name = {
        distribution.metric.name: [
            [
                percentiles.get(metric)
                for metric in sample.percentiles(distribution.metric)
            ]
            for percentiles in reference.percentiles
        ]
        for distribution in reference.distributions
    }
    return {
        name: rows
        for name, rows in rows_by_name.items()
        if any(value is not None for row in rows for value in row)
    }


def decode_distributions(
    document: Json, metrics: Metrics
) -> tuple[merged.Distribution, ...]:
    """Return the distributions in a part of a record, as a tuple.

    :param metrics: The metrics by name.
    :raises ValueError: If the document is not valid.
    """
    return tuple(
        merged.Distribution(
            metric=metrics[name],
            machines=encoded["machines"],
            histogram=histogram.Histogram.from_plain(encoded),
            percentiles=tuple(encoded["percentiles"]),
        )
        for name, encoded in document.get("distributions", {}).items()
    )


def decode_time_series(
    document: Json, metrics: Metrics
) -> tuple[merged.TimeSeries, ...]:
    """Return the time series in a part of a record, as a tuple.

    :param metrics: The metrics by name.
    :raises ValueError: If the document is not valid.
    """
    return tuple(
        merged.TimeSeries(
            metric=metrics[name],
            machines=encoded["machines"],
            means=series.MeanSeries.from_plain(encoded),
        )
        for name, encoded in document.get("time_series", {}).items()
    )


def decode_percentiles(
    document: Json, metrics: Metrics
) -> tuple[dict[sample.Metric, float], ...]:
    """Return percentiles over all copies per baseline repetition.

    :param metrics: The metrics by name.
    """
    by_repetition: list[dict[sample.Metric, float]] = [
        {} for _ in document["repetitions"]
    ]
    for name, rows in document.get("percentiles", {}).items():
        for values, row in zip(by_repetition, rows, strict=False):
            values |= merged.percentile_values(metrics[name], tuple(row))
    return tuple(by_repetition)
