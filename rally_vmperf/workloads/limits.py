"""The range of values that a machine can reach.

The bounds are generous, for they are to catch broken output (a shifted
column, a clock that jumped), not a surprising machine.  Whether a rate is
more than *this* machine can do is a finding, and judged elsewhere.
"""

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base

#: Smallest and largest believable value for each unit.
BOUNDS = {
    "B/s": (0.0, 10e12),
    "bit/s": (0.0, 10e12),
    "events/s": (0.0, 1e9),
    "ops/s": (0.0, 1e9),
    "s": (1e-9, 7 * 86400.0),
    "1": (0.0, 1e12),
    "%": (0.0, 100.0),
}


def bounds(metric: sample.Metric) -> tuple[float, float]:
    """Return the bounds of a metric, its own or those of its unit.

    :raises base.WorkloadError: when there are neither
    """
    found = metric.bounds or BOUNDS.get(metric.unit)
    if found is None:
        raise base.WorkloadError(
            f"{metric.name} is in {metric.unit}, which has no bounds (units "
            f"that have: {', '.join(BOUNDS)}); give the metric bounds"
        )
    return found


def measured(metric: sample.Metric, value: float) -> sample.Sample:
    """Return the sample of a value, if a machine can reach it.

    :param value: in the unit of the metric
    :raises base.WorkloadError: for one that it cannot
    """
    smallest, largest = bounds(metric)
    if metric.scale == "count":
        smallest = 0.0
    if not smallest <= value <= largest:
        raise base.WorkloadError(
            f"{metric.name} is {value:g} {metric.unit}, which no machine "
            f"reaches (believed: {smallest:g} to {largest:g}); look at the "
            "raw output"
        )
    try:
        return sample.Sample(metric=metric, value=value)
    except ValueError as error:
        raise base.WorkloadError(f"{error}; look at the raw output") from None
