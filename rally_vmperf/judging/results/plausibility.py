# SPDX-License-Identifier: Apache-2.0
"""Findings on the figures themselves: implausible, unstable, conditional."""

import collections.abc
import dataclasses
import itertools
import operator

from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import promises
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: A guest that is better than bare metal by more than this, in percent and
#: over the whole interval, did not do the same work on a comparable machine.
#: Two boots of the same machine differ by less.
GUEST_FASTER_PERCENT = 5.0
#: The findings on values that are not normal. They make a verdict doubtful,
#: so that they are notes about a metric without one.
_SHAPES = ("skewed", "bimodal", "baseline_irregular")
#: Spread between repetitions, in percent, above which a side is unstable.
UNSTABLE_PERCENT = 10.0
#: The spread of a side that is not unstable, in percent, and the share of runs
#: in which any of several such sides may seem to be.
_STEADY_PERCENT = 5.0
_UNSTABLE_ERROR = 0.01


def of_comparison(
    comparison: loss.Comparison,
    drifts: loss.Drifts = (),
    bottleneck: str = "",
    metrics: int = 1,
    is_limited: bool = True,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield the findings on a comparison of guest and bare metal.

    A guest that is compared with a limit cannot be faster than bare metal.

    :param drifts: The drifts across the limit of the loss.
    :param bottleneck: The bottleneck outside the guest, or "".
    :param metrics: The number of metrics that are compared.
    :param is_limited: False if only other metrics have a limit.
    """
    if not comparison.exact:
        for found in guest_faster(comparison, metrics):
            if is_limited:
                yield found
            elif found.severity == "void":
                yield dataclasses.replace(found, severity_override="warning")
    if bottleneck:
        yield _create_finding(
            "bottleneck_outside_guest", comparison, bottleneck
        )
    yield from _find_too_few(comparison)
    for found in of_values(comparison, drifts):
        if found.kind in _SHAPES and not is_limited:
            found = dataclasses.replace(found, severity_override="note")
        yield found


def of_values(
    comparison: loss.Comparison, drifts: loss.Drifts, where: str = ""
) -> collections.abc.Iterator[finding.Finding]:
    """Yield the findings on quantised, non-normal or drifting values.

    :param drifts: The drifts across the limit of the loss.
    :param where: A prefix of the detail, with a colon and a space at its end.
    """
    if comparison.quantised:
        yield _create_finding(
            "values_quantised", comparison, where + comparison.quantised
        )
    for side, kind, detail in comparison.departures:
        yield _create_finding(kind, comparison, f"{where}{side}: {detail}")
    for side, detail in drifts:
        yield _create_finding(
            "drifting", comparison, f"{where}{side}: {detail}"
        )


def of_pairs(
    comparison: loss.Comparison, limit: float | None, where: str
) -> collections.abc.Iterator[finding.Finding]:
    """Yield the findings on two conditions of the same repetitions.

    :param limit: The limit of the loss in percent; None without one, which
        leaves the question which condition is better.
    :param where: A prefix of the detail, as for ``of_values``.
    """
    if comparison.low is None:
        number = units.number_of("pair", comparison.guest_repetitions)
        yield _create_finding(
            "too_few_repetitions", comparison, where + number
        )
    drifts = verdict.list_drifts_across(comparison, limit or 0.0)
    yield from of_values(comparison, drifts, where)


def find_uncounted(
    metrics: collections.abc.Iterable[sample.Metric],
    conditions: gathering.Conditions,
    caps: collections.abc.Iterable[rate_caps.Cap],
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding on each limit whose operations are not known.

    Whether it limits a metric is not judged.

    :param metrics: The metrics whose loss is judged.
    """
    listed = [*caps]
    capped = capped_metrics.CappedMetrics(
        gathering.metrics(conditions), conditions
    )
    names: dict[str, dict[str, None]] = {}
    for metric in metrics:
        for cap in capped.list_uncounted(metric, listed):
            names.setdefault(cap.name, {})[metric.name] = None
    for name, limited in names.items():
        yield promises.create_not_checked_finding(
            name,
            f"whether it limits {', '.join(limited)} is not judged: "
            f"{capped_metrics.UNKNOWN_SIZE}",
        )


def fixed_rate_metrics(
    findings: collections.abc.Iterable[finding.Finding],
) -> set[str]:
    """Return the names of the metrics that have a fixed rate, as a set.

    They are limited by the task, not by a bottleneck.
    """
    return {
        name
        for reported_finding in findings
        if reported_finding.kind == "fixed_rate"
        for name in reported_finding.metrics
    }


def guest_faster(
    comparison: loss.Comparison, metrics: int = 1
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding if the guest is faster than bare metal.

    :param metrics: The number of metrics, for which the confidence is
        corrected.
    """
    percent = comparison.overhead_percent
    detail = (
        f"the guest is {units.show_percent(-percent)} % better than bare metal"
    )
    corrected = verdict.correct_confidence(comparison.confidence, metrics)
    highest = comparison.find_upper_end(corrected)
    if highest is not None and highest < -GUEST_FASTER_PERCENT:
        yield _create_finding("guest_faster", comparison, detail)
    elif percent < -GUEST_FASTER_PERCENT if highest is None else highest < 0:
        yield _create_finding("guest_slightly_faster", comparison, detail)


def _find_too_few(
    comparison: loss.Comparison,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding if too few repetitions give no interval."""
    if comparison.low is None:
        detail = f"{comparison.guest_repetitions} of the guest"
        if not comparison.exact:
            detail = f"{comparison.bare_repetitions} of bare metal, {detail}"
        yield _create_finding("too_few_repetitions", comparison, detail)


def find_unstable(
    undecided: collections.abc.Iterable[loss.Comparison], number: int
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding for each side that varies too much.

    :param undecided: The comparisons whose limit is undecided.
    :param number: The number of all comparisons with a limit; those that vary
        most by chance are undecided.
    """
    for side, figures in (
        ("bare metal", operator.attrgetter("bare_values")),
        ("guest", operator.attrgetter("guest_values")),
    ):
        spreads = {
            comparison.metric.name: spread
            for comparison in undecided
            if (spread := find_instability(figures(comparison), 2 * number))
        }
        if spreads:
            worst = max(spreads, key=lambda name: spreads[name])
            yield finding.Finding(
                "unstable",
                side,
                f"{side} varies in {units.number_of('metric', len(spreads))} "
                f"without a decision, by {units.show_percent(spreads[worst])} "
                f"% in {worst}",
                metrics=tuple(spreads),
            )


def find_instability(
    side_values: statistics.Values, number: int
) -> float | None:
    """Return the spread of an unstable side in percent, or None.

    A few repetitions of a steady side can differ as much by chance.

    :param number: The number of sides that are checked together.
    """
    spread = statistics.spread_percent(side_values)
    if spread is None or spread <= UNSTABLE_PERCENT:
        return None
    chance = statistics.chance_of_spread(side_values, _STEADY_PERCENT)
    return spread if chance <= _UNSTABLE_ERROR / number else None


def _create_finding(
    kind: str, comparison: loss.Comparison, detail: str
) -> finding.Finding:
    """Return a finding on the metric of a comparison."""
    return finding.Finding(kind, comparison.metric.name, detail)


def above_physical_limit(
    repetitions: collections.abc.Iterable[repetition.Repetition],
    bounds: verdict.Limits,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding per metric and side above its physical limit.

    :param repetitions: The repetitions that are judged.
    :param bounds: The largest possible values, in base units.
    """
    largest: dict[tuple[str, str], sample.Sample] = {}
    for run_repetition in repetitions:
        for condition in run_repetition.conditions:
            bare_metal = condition.reference.repetitions
            for side, observations in (
                ("the guest", condition.observations),
                ("bare metal", itertools.chain(*bare_metal)),
            ):
                for observation in observations:
                    reading = observation.sample
                    key = (reading.metric.name, side)
                    if reading.value > largest.setdefault(key, reading).value:
                        largest[key] = reading
    names = {name for name, _ in largest}
    for (name, side), largest_sample in largest.items():
        limit = bounds.for_metric(name, names)
        if limit and largest_sample.value > limit[0]:
            unit = largest_sample.metric.unit
            yield finding.Finding(
                "above_physical_limit",
                name,
                f"{side} shows {units.show(largest_sample.value, unit)}, "
                f"the machine can do {units.show(limit[0], unit)}",
            )


def one_session(
    repetitions: collections.abc.Iterable[repetition.Repetition],
    reference: repetition.Reference,
) -> finding.Occurrences:
    """Yield a finding on the sides with fewer boots than an interval needs."""
    sides = []
    if not all(run_repetition.rebooted for run_repetition in repetitions):
        sides.append("guests: no reboot between repetitions")
    boots = reference.boot_count
    if reference.name and boots < statistics.FEWEST:
        sides.append(
            f"bare metal: {units.number_of('session', boots)}, recorded "
            f"{reference.recorded_at} on {reference.machine}"
        )
    if sides:
        subject = reference.name or "guests"
        yield (
            finding.Finding("interval_one_session", subject, "; ".join(sides)),
            None,
        )


def baseline_changed(
    conditions: collections.abc.Iterable[repetition.Condition],
) -> finding.Occurrences:
    """Yield a finding for each repetition with another baseline.

    Repetitions without samples are ignored.
    """
    first: repetition.Reference | None = None
    for condition in conditions:
        if not condition.observations:
            continue
        first = first or condition.reference
        if condition.reference != first:
            yield (
                finding.Finding(
                    "baseline_changed",
                    first.name,
                    f"{_describe_reference(first)}, "
                    f"later {_describe_reference(condition.reference)}",
                ),
                condition.number,
            )


def _describe_reference(reference: repetition.Reference) -> str:
    """Return the name and the date of a baseline as text."""
    return f"{reference.name!r} recorded {reference.recorded_at}"
