"""Everything as a rate, so that guests can be added up and compared.

Half of the work in the same time is a loss of 50 %, and so is the same work
in twice the time: a time of ``x`` seconds counts as ``1/x`` per second.
"""

import collections
import collections.abc

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics

Several = collections.abc.Iterable[gathering.Gathered]


def of_metric(metric: sample.Metric) -> sample.Metric:
    """Return the metric as a rate, of which more is better.

    :raises ValueError: for a count, which can be zero and has no rate
    """
    if metric.scale != "ratio":
        raise ValueError(
            f"{metric.name} is a count and does not degrade, "
            "hold it to an absolute limit"
        )
    if metric.better == "higher":
        return metric
    return sample.Metric(
        name=metric.name,
        unit=f"1/{metric.unit}",
        better="higher",
        adds_up=metric.adds_up,
    )


def convert(metric: sample.Metric, value: float) -> float:
    """Return a value as a rate, or a rate as a value: its own inverse."""
    return value if metric.better == "higher" else 1 / value


def by_guest(
    metric: sample.Metric, entry: gathering.Gathered
) -> dict[str, float]:
    """Return guest -> its rate in one repetition.

    Of a guest that reported several values it is their geometric mean.
    """
    values: dict[str, list[float]] = collections.defaultdict(list)
    for one in entry.observations:
        values[one.source].append(convert(metric, one.sample.value))
    return {
        source: statistics.geometric_mean(found)
        for source, found in values.items()
    }


def means(metric: sample.Metric, entries: Several) -> tuple[float, ...]:
    """Return the rate of the mean guest, for each repetition."""
    return tuple(
        statistics.geometric_mean(list(by_guest(metric, entry).values()))
        for entry in entries
    )


def totals(metric: sample.Metric, entries: Several) -> tuple[float, ...]:
    """Return the sum over all guests, for each repetition.

    Nothing for what does not add up, as its workload says: latencies,
    percentiles and jitter describe single operations.
    """
    if not metric.adds_up:
        return ()
    return tuple(sum(by_guest(metric, entry).values()) for entry in entries)


def of_guests(
    metric: sample.Metric, entries: Several
) -> dict[str, tuple[float, ...]]:
    """Return guest -> its rate in each repetition that has it."""
    found: dict[str, list[float]] = collections.defaultdict(list)
    for entry in entries:
        for guest, rate in by_guest(metric, entry).items():
            found[guest].append(rate)
    return {guest: tuple(values) for guest, values in found.items()}


def compare(
    metric: sample.Metric,
    bare: statistics.Values,
    guest: statistics.Values,
    confidence: float,
) -> loss.Comparison | None:
    """Compare two sides, each one rate a repetition; None without a side.

    The loss of the rate, by the same arithmetic as overhead.
    """
    if not bare or not guest:
        return None
    return loss.compare(
        of_metric(metric),
        [[value] for value in bare],
        [[value] for value in guest],
        confidence,
    )
