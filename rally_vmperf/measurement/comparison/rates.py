# SPDX-License-Identifier: Apache-2.0
"""The rates of guests: conversion of values, sums and comparisons.

Half of the work in the same time is a loss of 50 %, as is the same work in
twice the time: a time of ``x`` seconds counts as ``1/x`` per second.
"""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

RepetitionSamples = collections.abc.Iterable[sample.MetricSamples]
#: The rates of the guests in one repetition.
Rates = tuple[float, ...]


def of_metric(metric: sample.Metric) -> sample.Metric:
    """Return the metric as a rate, for which higher is better.

    :raises ValueError: If the metric is a count, which can be zero.
    """
    if metric.scale != "ratio":
        raise ValueError(
            f"{metric.name}: a count has no rate; use an absolute limit"
        )
    if metric.better == "higher":
        return metric
    return sample.Metric(
        metric.name, f"1/{metric.unit}", "higher", additive=metric.additive
    )


def convert(metric: sample.Metric, value: float) -> float:
    """Return the rate of a value of a metric, or the value of a rate."""
    return value if metric.better == "higher" else 1 / value


def by_guest(
    metric: sample.Metric, samples: sample.MetricSamples
) -> dict[str, float]:
    """Return the rates in one repetition as a dict by guest.

    Several values of a guest give their geometric mean.
    """
    means = samples.means_by_source
    if metric.better == "higher":
        return means
    return {source: convert(metric, mean) for source, mean in means.items()}


def of_repetition(
    metric: sample.Metric, samples: sample.MetricSamples
) -> Rates:
    """Return the rates of all guests in one repetition, a tuple.

    A percentile is that of the merged values of all guests.
    """
    if samples.merged is not None:
        return (convert(metric, samples.merged),)
    return tuple(by_guest(metric, samples).values())


def of_repetitions(
    metric: sample.Metric, repetitions: RepetitionSamples
) -> tuple[Rates, ...]:
    """Return the rates of all guests in each repetition, a tuple."""
    return tuple(of_repetition(metric, samples) for samples in repetitions)


def by_number(
    metric: sample.Metric, repetitions: RepetitionSamples
) -> dict[int, dict[str, float]]:
    """Return the rates by guest for each number of a repetition, a dict."""
    return {
        samples.number: by_guest(metric, samples) for samples in repetitions
    }


def means(
    metric: sample.Metric, repetitions: RepetitionSamples
) -> tuple[float, ...]:
    """Return the rate of the mean guest in each repetition, a tuple."""
    return tuple(
        map(statistics.geometric_mean, of_repetitions(metric, repetitions))
    )


def totals(
    metric: sample.Metric, repetitions: RepetitionSamples, groups: int = 1
) -> tuple[float, ...]:
    """Return the sum over concurrent guests per repetition, a tuple.

    Empty for metrics that are not additive: latencies, percentiles and
    jitter describe single operations.

    :param groups: The number of groups that ran one after another.
    """
    if not metric.additive:
        return ()
    return tuple(
        sum(by_guest(metric, samples).values()) / groups
        for samples in repetitions
    )


def of_guests(
    metric: sample.Metric, repetitions: RepetitionSamples
) -> dict[str, tuple[float, ...]]:
    """Return the rates of each guest in its repetitions, a dict."""
    rates: dict[str, list[float]] = collections.defaultdict(list)
    for samples in repetitions:
        for guest, rate in by_guest(metric, samples).items():
            rates[guest].append(rate)
    return {guest: tuple(guest_rates) for guest, guest_rates in rates.items()}


def find_slowest(
    metric: sample.Metric, repetitions: RepetitionSamples
) -> tuple[str, Rates] | None:
    """Return the guest with the lowest mean rate, and its rates, or None."""
    by_guest = of_guests(metric, repetitions)
    if not by_guest:
        return None
    means = {
        guest: statistics.geometric_mean(rates)
        for guest, rates in by_guest.items()
    }
    slowest = min(sorted(means), key=means.__getitem__)
    return slowest, by_guest[slowest]


def pairs(
    metric: sample.Metric,
    solo: RepetitionSamples,
    concurrent: RepetitionSamples,
    hosts: collections.abc.Mapping[str, str],
    guest: str,
) -> list[tuple[Rates, Rates]]:
    """Return solo and guest rates of each repetition with both, as pairs.

    A guest is compared with its own solo run, or else with the solo guest
    of its host.

    :param hosts: The hosts of the guests, as far as they are known.
    :param guest: The name of the guest; empty for the mean of all.
    """
    if not guest:
        solo_means = {
            samples.number: of_repetition(metric, samples) for samples in solo
        }
        return [
            (solo_means[samples.number], of_repetition(metric, samples))
            for samples in concurrent
            if samples.number in solo_means
        ]
    solo_rates = by_number(metric, solo)
    return [
        ((solo_rate,), (guest_rates[guest],))
        for number, guest_rates in by_number(metric, concurrent).items()
        if guest in guest_rates
        if (solo_rate := _solo_rate(solo_rates.get(number, {}), guest, hosts))
    ]


def _solo_rate(
    solo_rates: dict[str, float],
    guest: str,
    hosts: collections.abc.Mapping[str, str],
) -> float | None:
    """Return the solo rate to compare a guest with; None without any."""
    if len(solo_rates) == 1:
        return next(iter(solo_rates.values()))
    host = hosts.get(guest)
    same_host_rates = [
        rate for name, rate in solo_rates.items() if hosts.get(name) == host
    ]
    rates = same_host_rates or [*solo_rates.values()]
    if guest in solo_rates:
        rates = [solo_rates[guest]]
    return statistics.geometric_mean(rates) if rates else None


def select_solo(
    solo_rates: dict[str, float],
    guests: collections.abc.Iterable[str],
    hosts: collections.abc.Mapping[str, str],
) -> dict[str, float]:
    """Return the solo rate to compare each guest with, if there is one.

    :param solo_rates: The rates of the solo guests of a repetition.
    :param hosts: The hosts of the guests, as far as they are known.
    """
    return {
        guest: solo_rate
        for guest in guests
        if (solo_rate := _solo_rate(solo_rates, guest, hosts))
    }


def compare(
    metric: sample.Metric,
    bare: loss.Repetitions,
    guest: loss.Repetitions,
    confidence: float,
    **options: t.Any,
) -> loss.Comparison:
    """Return the comparison of two sides' rates.

    The loss of a rate is computed like overhead.

    :param options: The options of ``loss.compare``.
    """
    means = map(statistics.mean_of_repetitions, (bare, guest))
    errors = [metric.error(convert(metric, mean)) for mean in means]
    resolution = max(
        (error for error in errors if error is not None), default=None
    )
    rate = dataclasses.replace(
        of_metric(metric), resolution=resolution, step=None
    )
    return loss.compare(rate, bare, guest, confidence, **options)
