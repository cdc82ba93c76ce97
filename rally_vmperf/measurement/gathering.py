# SPDX-License-Identifier: Apache-2.0
"""Gather the repetitions and samples that are judged."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

#: The reason why a metric has no samples of guests.
NO_COMPLETE_SAMPLES = "no counted repetition has it for every guest"

Conditions = collections.abc.Sequence[repetition.Condition]
Repetitions = collections.abc.Sequence[repetition.Repetition]
Samples = tuple[sample.MetricSamples, ...]
#: A condition as text, empty if a run has only one, and a metric.
Key = tuple[str, sample.Metric]
#: A finding with the number of its repetition; None for the whole run.
Occurrence = tuple[finding.Finding, int | None]


def guest_samples(
    metric: sample.Metric, conditions: Conditions
) -> tuple[sample.MetricSamples, ...]:
    """Return a metric's samples per counted repetition, as a tuple.

    A repetition that is not complete counts only if every guest reported the
    metric: a mean over the guests that finished would look too good.
    """
    measured = _list_measured(metric, conditions)
    usual_sources = _find_usual_sources(samples for _, samples in measured)
    most_machines = max(
        (samples.merged_machines for _, samples in measured), default=0
    )
    return tuple(
        samples
        for condition, samples in measured
        if (
            _is_reported_by_all(metric, condition, samples, usual_sources)
            if samples.merged is None
            else condition.state == "complete"
            or samples.merged_machines >= most_machines
        )
    )


def _list_measured(
    metric: sample.Metric, conditions: Conditions
) -> list[tuple[repetition.Condition, sample.MetricSamples]]:
    """Return the counted conditions that have a metric, with its samples."""
    return [
        (condition, samples)
        for condition in conditions
        if condition.counted and (samples := condition.by_metric.get(metric))
    ]


def _find_usual_sources(
    measured: collections.abc.Iterable[sample.MetricSamples],
) -> collections.Counter[str]:
    """Return the largest number of observations of each guest, a counter."""
    usual_sources: collections.Counter[str] = collections.Counter()
    for samples in measured:
        if samples.sources != usual_sources:
            usual_sources |= samples.sources
    return usual_sources


def list_silent(
    repetitions: Repetitions,
) -> dict[int, list[repetition.Missing]]:
    """Return the values that complete records lack, by repetition.

    A guest that was planned and that reports a metric in other repetitions
    has none in this one, and the record does not say why.
    """
    by_title: dict[str, list[repetition.Condition]] = {}
    for condition in repetition.list_conditions(repetitions):
        by_title.setdefault(condition.title, []).append(condition)
    silent: dict[int, list[repetition.Missing]] = {}
    for conditions in by_title.values():
        for metric in metrics(conditions):
            measured = _list_measured(metric, conditions)
            usual = _find_usual_sources(samples for _, samples in measured)
            for condition, samples in measured:
                if (
                    samples.merged is not None
                    or metric.optional
                    or condition.state != "complete"
                    or condition.omits(metric.name)
                    or _is_reported_by_all(metric, condition, samples, usual)
                ):
                    continue
                silent.setdefault(condition.number, []).extend(
                    repetition.Missing(
                        name=metric.name,
                        machine=guest,
                        reason="no value in a complete record",
                    )
                    for guest in usual - samples.sources
                    if guest in condition.machines or not condition.machines
                )
    return silent


def pair_samples(
    metric: sample.Metric, first: Conditions, second: Conditions
) -> tuple[tuple[sample.MetricSamples, ...], tuple[sample.MetricSamples, ...]]:
    """Return a metric's samples under two conditions, as two tuples.

    Both are from the counted repetitions that measured both, in order.

    :param first: One condition of each repetition.
    :param second: The other condition.
    """
    sides = [guest_samples(metric, side) for side in (first, second)]
    numbers = set.intersection(
        *({samples.number for samples in side} for side in sides)
    )
    bare, guest = (
        tuple(samples for samples in side if samples.number in numbers)
        for side in sides
    )
    return bare, guest


def name_alike(
    metric: sample.Metric, reference: Samples, other: Samples
) -> Samples:
    """Return a reference whose guests have the names of those of another side.

    Guests of the same names keep them. Otherwise each has the name of the
    guest with its rank on the other side: the worst guests of both sides are
    the worst by the same chance. Sides with other numbers of guests are not
    changed.
    """
    ranked, names = (_rank(metric, side) for side in (reference, other))
    if {*ranked} == {*names} or len(ranked) != len(names):
        return reference
    by_rank = dict(zip(ranked, names, strict=True))
    return tuple(
        dataclasses.replace(
            samples,
            observations=tuple(
                dataclasses.replace(
                    observation, source=by_rank[observation.source]
                )
                for observation in samples.observations
            ),
        )
        for samples in reference
    )


def list_means_by_source(side: Samples) -> dict[str, list[float]]:
    """Return the mean in each repetition, a list, by guest or copy."""
    values: dict[str, list[float]] = {}
    for samples in side:
        for source, mean in samples.means_by_source.items():
            values.setdefault(source, []).append(mean)
    return values


def _rank(metric: sample.Metric, side: Samples) -> list[str]:
    """Return the names of guests by their means, the best one first."""
    values = list_means_by_source(side)
    return sorted(
        values,
        key=lambda source: statistics.geometric_mean(values[source]),
        reverse=metric.better == "higher",
    )


def list_values(
    repetitions: collections.abc.Iterable[repetition.Repetition],
    axis: str,
) -> list[str]:
    """Return the values of an axis in the order of the task, as a list.

    The first one is the reference of the others. An interrupted repetition
    can lack it, so that the order is that of the longest repetition.
    """
    longest_first = sorted(
        repetitions,
        key=lambda measured: (-len(measured.conditions), measured.number),
    )
    names = [
        str(condition.axes[axis])
        for condition in repetition.list_conditions(longest_first)
        if axis in condition.axes
    ]
    return [*dict.fromkeys(names)]


def list_variants(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> list[str]:
    """Return the names of variants; empty if the conditions are not some."""
    return list_values(repetitions, repetition.VARIANT)


def isolate(
    measured: repetition.Repetition, conditions: Conditions
) -> repetition.Repetition:
    """Return a copy of a repetition as if it had some conditions only.

    It is complete if these are, whatever the others lack.
    """
    state = measured.state
    if conditions and not measured.missing:
        is_complete = all(condition.complete for condition in conditions)
        state = "complete" if is_complete else "incomplete"
    return dataclasses.replace(
        measured, state=state, conditions=tuple(conditions), unselected=()
    )


def bare_metal_samples(
    metric: sample.Metric, reference: repetition.Reference
) -> tuple[sample.MetricSamples, ...]:
    """Return a metric's samples per baseline repetition, as a tuple.

    From three boots or recording sessions on, they are the unit: their
    repetitions are merged, because repetitions of one boot are alike.
    """
    if reference.boot_count < statistics.FEWEST:
        return tuple(
            samples
            for by_metric in reference.by_metric
            if (samples := by_metric.get(metric))
        )
    by_boot: dict[str, list[sample.MetricSamples]] = {}
    for boot, by_metric in zip(
        reference.boots, reference.by_metric, strict=False
    ):
        if samples := by_metric.get(metric):
            by_boot.setdefault(boot, []).append(samples)
    return tuple(map(_merge_repetitions, by_boot.values()))


def _merge_repetitions(
    repetitions: collections.abc.Sequence[sample.MetricSamples],
) -> sample.MetricSamples:
    """Return the samples of several repetitions as those of one."""
    first, *others = repetitions
    if not others:
        return first
    percentiles = [
        samples.merged for samples in repetitions if samples.merged is not None
    ]
    return dataclasses.replace(
        first,
        observations=tuple(
            observation
            for samples in repetitions
            for observation in samples.observations
        ),
        merged=statistics.geometric_mean(percentiles) if percentiles else None,
    )


def _is_reported_by_all(
    metric: sample.Metric,
    condition: repetition.Condition,
    samples: sample.MetricSamples,
    usual_sources: collections.Counter[str],
) -> bool:
    """Return whether every guest reported a metric in a condition.

    Missing guests are derived from the missing measurements of the condition,
    and from the reports of the metric in other repetitions. In a record that
    is marked complete, all guests that participated count.
    """
    if condition.state == "complete":
        if samples.sources == usual_sources:
            return True
        expected_sources = {
            source: number
            for source, number in usual_sources.items()
            if source in condition.machines or not condition.machines
        }
        return (
            metric not in condition.expected_metrics
            or samples.sources >= collections.Counter(expected_sources)
        )
    if any(gap.name == metric.name for gap in condition.missing):
        return False
    expected_names = {expected.name for expected in condition.expected_metrics}
    silent = {
        gap.machine
        for gap in condition.missing
        if gap.name not in expected_names
    }
    return samples.sources >= usual_sources and silent <= set(samples.sources)


def metrics(conditions: Conditions) -> list[sample.Metric]:
    """Return each metric of conditions once, as a list in display order.

    A warm-up can have others, at full speed, which nothing judges.
    """
    counted = [condition for condition in conditions if condition.counted]
    conditions = counted or [*conditions]
    expected = [
        metric
        for condition in conditions
        for metric in condition.expected_metrics
    ]
    measured = [
        (metric, samples)
        for condition in conditions
        for metric, samples in condition.by_metric.items()
    ]
    observed = [metric for metric, samples in measured if samples.observations]
    percentiles = [metric for metric, _ in measured]
    return list(dict.fromkeys(expected + observed + percentiles))


def metric_names(repetitions: Repetitions) -> set[str]:
    """Return the names of all metrics of repetitions, as a set."""
    return {
        metric.name
        for metric in metrics(repetition.list_conditions(repetitions))
    }


def lacks_bare_metal(repetitions: Repetitions) -> bool:
    """Return whether guests were measured, and none has a reference."""
    measured = [
        condition
        for condition in repetition.list_conditions(repetitions)
        if condition.observations
    ]
    return bool(measured) and all(
        condition.reference == repetition.NO_REFERENCE
        for condition in measured
    )


def list_rate_limits(repetitions: Repetitions) -> tuple[rate_caps.Cap, ...]:
    """Return the rate limits of all repetitions, a tuple, each once."""
    return tuple(
        dict.fromkeys(
            cap for measured in repetitions for cap in measured.rate_limits
        )
    )


def merge_duplicates(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> tuple[list[repetition.Repetition], list[Occurrence]]:
    """Return each repetition once, and the findings on repeated ones.

    :returns: The repetitions, and findings about repetitions that were
        recorded more than once and about mixed runs.
    """
    groups: dict[tuple[str, int], list[repetition.Repetition]] = {}
    for measured in repetitions:
        groups.setdefault((measured.run, measured.number), []).append(measured)
    distinct = []
    occurrences: list[Occurrence] = []
    for (_, number), alike in sorted(
        groups.items(), key=lambda group: group[0][::-1]
    ):
        is_identical = all(copy == alike[0] for copy in alike)
        # The verdict must not depend on the order of records.
        distinct.append(alike[0] if is_identical else min(alike, key=repr))
        if len(alike) > 1:
            kind = "repetition_duplicated"
            detail = f"recorded {len(alike)} times, counted once"
            if not is_identical:
                kind = "records_contradict"
                detail += "; the records differ"
            duplicate = finding.Finding(kind, f"repetition {number}", detail)
            occurrences.append((duplicate, number))
    runs = sorted({run for run, _ in groups})
    if len(runs) > 1:
        detail = f"repetitions of runs {', '.join(runs)}"
        mixed = finding.Finding("records_contradict", "run", detail)
        occurrences.append((mixed, None))
    return distinct, occurrences


def find_differences(repetitions: Repetitions) -> list[Occurrence]:
    """Return findings on repetitions that are not of one run.

    They have other arguments, another shape, or guests on other hosts. A
    migration moves guests, and each variant has guests of its own. A warm-up
    can run other workloads, at full speed.
    """
    occurrences: list[Occurrence] = []
    is_differing = False
    hosts: dict[str, str] = {}
    # The hosts of counted repetitions are the usual ones.
    ordered = sorted(repetitions, key=lambda each: not each.counted)
    for measured in ordered:
        first = ordered[0]
        for key in dict.fromkeys((*first.setting, *measured.setting)):
            values = first.setting.get(key), measured.setting.get(key)
            if None in values and not measured.counted:
                continue
            if values[0] != values[1] and not is_differing:
                detail = (
                    f"{key} is {values[0]!r:.80} in repetition {first.number} "
                    f"and {values[1]!r:.80} in repetition {measured.number}"
                )
                is_differing = True
                differing = finding.Finding(
                    "records_contradict", "run", detail
                )
                occurrences.append((differing, None))
        is_moved = any(
            condition.phase or repetition.VARIANT in condition.axes
            for condition in measured.conditions
        )
        reported = {
            found.subject
            for found in measured.findings
            if found.kind == "guest_host_changed"
        }
        for guest, host in {} if is_moved else measured.hosts.items():
            before = hosts.setdefault(guest, host)
            if host != before and guest not in reported:
                detail = f"{guest} is on {host}; it was on {before}"
                moved = finding.Finding("guest_host_changed", guest, detail)
                occurrences.append((moved, measured.number))
    return occurrences


def without_void_samples(
    measured: repetition.Repetition,
    tolerate: collections.abc.Collection[str],
) -> repetition.Repetition:
    """Return a copy of a repetition without the void samples.

    A command that did not run on all guests at once does not affect other
    commands or other repetitions. If this is tolerated, its samples are taken
    as they are: without an overlap, losses are not corrected for it.

    :param tolerate: The kinds of findings that do not void.
    """
    kinds = {*finding.ABOUT_SAMPLES} - {*tolerate}
    conditions = []
    for condition in measured.conditions:
        findings = (*measured.findings, *condition.findings)
        void = {found.subject for found in findings if found.kind in kinds}
        if void:
            condition = _without_samples(condition, void, kinds)
        elif not kinds:
            condition = dataclasses.replace(condition, synchronisation=())
        conditions.append(condition)
    if conditions == [*measured.conditions]:
        return measured
    return dataclasses.replace(
        measured,
        findings=_omit_kinds(measured.findings, kinds),
        conditions=tuple(conditions),
    )


def _omit_kinds(
    findings: tuple[finding.Finding, ...], kinds: set[str]
) -> tuple[finding.Finding, ...]:
    """Return the findings of other kinds, as a tuple."""
    return tuple(found for found in findings if found.kind not in kinds)


def _without_samples(
    condition: repetition.Condition, metrics: set[str], kinds: set[str]
) -> repetition.Condition:
    """Return a copy of a condition without some metrics' samples.

    A distribution is omitted with any of its percentiles.

    :param kinds: The kinds of findings that are omitted, too.
    """
    return dataclasses.replace(
        condition,
        findings=_omit_kinds(condition.findings, kinds),
        observations=tuple(
            observation
            for observation in condition.observations
            if observation.sample.metric.name not in metrics
        ),
        distributions=tuple(
            distribution
            for distribution in condition.distributions
            if metrics.isdisjoint(
                metric.name for metric in distribution.values()
            )
        ),
        time_series=tuple(
            time_series
            for time_series in condition.time_series
            if time_series.metric.name not in metrics
        ),
    )


def geometric_means(
    repetitions: collections.abc.Iterable[sample.MetricSamples],
) -> tuple[float, ...]:
    """Return the mean over guests or copies of each repetition, a tuple."""
    return tuple(
        statistics.geometric_mean(samples.values) for samples in repetitions
    )


def explain_missing(
    reference: repetition.Reference, metric: sample.Metric
) -> str:
    """Return why bare metal does not have a metric, as text."""
    if reference == repetition.NO_REFERENCE:
        return "the guests have no baseline to compare with"
    metrics_by_name = {
        observation.sample.metric.name: observation.sample.metric
        for observations in reference.repetitions
        for observation in observations
    }
    if reference_metric := metrics_by_name.get(metric.name):
        return (
            f"baseline {reference.name!r} has it as "
            f"{_describe_metric(reference_metric)}, "
            f"the guests as {_describe_metric(metric)}, "
            "record the baseline again"
        )
    for distribution in reference.distributions:
        if metric in sample.percentiles(distribution.metric):
            return (
                f"baseline {reference.name!r} has too few values for it in "
                "some or all repetitions, record it with a longer run"
            )
    # A tool is shown as ``component.tool.*``.
    names = {*metrics_by_name, *reference.others}
    tool = _get_tool(metric.name)
    same_tool = [name for name in names if _get_tool(name) == tool]
    related = sorted(same_tool or {f"{_get_tool(name)}.*" for name in names})
    return (
        f"baseline {reference.name!r} has no such metric (it has: "
        f"{', '.join(related) or 'nothing'}), "
        "measure it on bare metal, too"
    )


def _describe_metric(metric: sample.Metric) -> str:
    """Return the scale, the unit and the better side of a metric as text."""
    return f"{metric.scale} in {metric.unit!r}, {metric.better} is better"


def _get_tool(metric: str) -> str:
    """Return the component and tool in a metric's name, as text."""
    return ".".join(metric.split(".")[:2])
