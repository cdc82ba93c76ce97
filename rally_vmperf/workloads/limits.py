"""Ranges of plausible values.

The bounds are wide: they detect broken output, such as a shifted column or a
clock that jumped, and not an unusual machine.  A rate above the limit of the
measured machine is a finding of another module.
"""

import collections.abc

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base

#: Smallest and largest plausible value of each unit.
BOUNDS = {
    "B/s": (0.0, 10e12),
    "bit/s": (0.0, 10e12),
    "events/s": (0.0, 1e9),
    "ops/s": (0.0, 1e9),
    "s": (1e-9, 7 * 86400.0),
    "1": (0.0, 1e12),
    "%": (0.0, 100.0),
}


def find_bounds(metric: sample.Metric) -> tuple[float, float]:
    """Return the smallest and the largest plausible value of a metric.

    :raises base.WorkloadError: If neither has bounds.
    """
    limits = metric.bounds or BOUNDS.get(metric.unit)
    if limits is None:
        raise base.WorkloadError(
            f"metric {metric.name}: unit {metric.unit} has no bounds (units "
            f"with bounds: {', '.join(BOUNDS)}); define bounds of the metric"
        )
    return limits


def create_sample(metric: sample.Metric, value: float) -> sample.Sample:
    """Return a Sample of a value; reject implausible values.

    :param value: The value in the unit of the metric.
    :raises base.WorkloadError: If the value is outside the bounds.
    """
    smallest, largest = find_bounds(metric)
    if metric.scale == "count":
        smallest = 0.0
    if not smallest <= value <= largest:
        raise base.WorkloadError(
            f"{metric.name} is {value:g} {metric.unit}, which is not "
            f"plausible (range: {smallest:g} to {largest:g}); look at the "
            "raw output"
        )
    try:
        return sample.Sample(metric=metric, value=value)
    except ValueError as error:
        raise base.WorkloadError(f"{error}; look at the raw output") from None


def create_samples(
    metrics: collections.abc.Iterable[sample.Metric],
    figures: collections.abc.Iterable[float | None],
) -> list[sample.Sample]:
    """Return the samples of several metrics as a list.

    :param figures: The values in the order of the metrics; None for an
        optional metric without one.
    :raises base.WorkloadError: If a value is not plausible.
    """
    return [
        create_sample(metric, figure)
        for metric, figure in zip(metrics, figures, strict=True)
        if figure is not None
    ]
