# SPDX-License-Identifier: Apache-2.0
"""The bare-metal samples for the comparison with guests."""

import collections.abc
import contextlib
import dataclasses
import datetime
import functools
import itertools
import operator
import typing as t

from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.machines import background_load
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model

#: Age at which a baseline should be recorded again.
OLD_AFTER = datetime.timedelta(days=90)


def find_entries(
    baseline: document.Baseline,
    assignments: collections.abc.Iterable[assignment.Assignment],
    shape: document.Shape,
) -> list[document.BaselineEntry]:
    """Return the baseline's entry for each assignment, in their order.

    :raises BaselineError: If the baseline does not cover an assignment.
    """
    return [
        matching.find(
            baseline, assignment.workload.name, assignment.conditions(), shape
        )
        for assignment in assignments
    ]


def build_reference(
    baseline: document.Baseline,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[document.Shape],
) -> tuple[model.BareMetal, tuple[sample.Metric, ...]]:
    """Return the baseline of a record, and all metrics of its entries.

    :param shapes: The shapes, which differ in the number of copies.
    :raises BaselineError: If the baseline does not cover an assignment.
    """
    metrics: list[sample.Metric] = []
    references = {}
    for shape in shapes:
        chosen = find_entries(baseline, assignments, shape)
        entry_references = []
        for assigned, baseline_entry in zip(assignments, chosen, strict=True):
            _check_definitions(baseline.name, assigned, baseline_entry.metrics)
            metrics += map(assigned.relabel, baseline_entry.metrics)
            entry_references.append(
                _relabel(baseline_entry.reference, assigned)
            )
        references[shape.copies] = _merge_references(entry_references)
    return model.BareMetal(
        name=baseline.name,
        machine=baseline.machine.name,
        recorded_at=baseline.recorded_at,
        digest=baseline.digest,
        session=baseline.session,
        fingerprint=baseline.machine.fingerprint,
        tools=baseline.machine.tools,
        references=references,
    ), tuple(metrics)


def _relabel(
    reference: repetition.Reference, assigned: assignment.Assignment
) -> repetition.Reference:
    """Return the samples of an entry, as a task names their metrics.

    Of percentiles, only those of all copies together are compared.
    """
    relabel = functools.cache(assigned.relabel)
    percentiles = {
        percentile
        for distribution in reference.distributions
        for percentile in sample.percentiles(distribution.metric)
    }
    return repetition.Reference(
        repetitions=tuple(
            tuple(
                dataclasses.replace(
                    observation,
                    sample=dataclasses.replace(
                        observation.sample,
                        metric=relabel(observation.sample.metric),
                    ),
                )
                for observation in observations
                if observation.sample.metric not in percentiles
            )
            for observations in reference.repetitions
        ),
        boots=reference.boots,
        command_usage=tuple(
            dataclasses.replace(usage, workload=assigned.title)
            for usage in reference.command_usage
        ),
        percentiles=tuple(
            {relabel(metric): value for metric, value in row.items()}
            for row in reference.percentiles
        ),
        distributions=tuple(
            dataclasses.replace(
                distribution, metric=relabel(distribution.metric)
            )
            for distribution in reference.distributions
        ),
        time_series=tuple(
            dataclasses.replace(
                time_series, metric=relabel(time_series.metric)
            )
            for time_series in reference.time_series
        ),
    )


def _merge_references(
    references: collections.abc.Sequence[repetition.Reference],
) -> repetition.Reference:
    """Return the samples of all workloads in one shape."""

    def merge(field: str) -> tuple[t.Any, ...]:
        """Return the elements of a field of all references."""
        fields = map(operator.attrgetter(field), references)
        return tuple(itertools.chain.from_iterable(fields))

    repetitions = itertools.zip_longest(
        *(reference.repetitions for reference in references), fillvalue=()
    )
    percentiles = itertools.zip_longest(
        *(reference.percentiles for reference in references), fillvalue={}
    )
    return repetition.Reference(
        repetitions=tuple(
            tuple(itertools.chain.from_iterable(observations))
            for observations in repetitions
        ),
        boots=_merge_boots([reference.boots for reference in references]),
        percentiles=tuple(
            functools.reduce(operator.or_, by_workload, {})
            for by_workload in percentiles
        ),
        command_usage=merge("command_usage"),
        distributions=merge("distributions"),
        time_series=merge("time_series"),
    )


def _merge_boots(
    by_workload: collections.abc.Sequence[tuple[str, ...]],
) -> tuple[str, ...]:
    """Return the boots of the repetitions of all workloads.

    :returns: The boots; empty if workloads were measured in different ones.
    """
    longest = max(by_workload, key=len, default=())
    if any(boots != longest[: len(boots)] for boots in by_workload):
        return ()
    return longest if all(by_workload) else ()


def find_covered_shapes(
    baseline: document.Baseline,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[document.Shape],
) -> list[document.Shape]:
    """Return the shapes for which the baseline has all assignments."""
    covered_shapes = []
    for shape in shapes:
        with contextlib.suppress(document.BaselineError):
            build_reference(baseline, assignments, [shape])
            covered_shapes.append(shape)
    return covered_shapes


def _check_definitions(
    name: str,
    assignment: assignment.Assignment,
    recorded_metrics: collections.abc.Iterable[sample.Metric],
) -> None:
    """Reject a baseline whose metrics have different definitions."""
    by_name = {metric.name: metric for metric in recorded_metrics}
    for metric in assignment.workload.metrics(assignment.arguments):
        recorded = by_name.get(metric.name, metric)
        if recorded != metric:
            raise document.BaselineError(
                f"baseline {name!r} has {metric.name} in {recorded.unit} "
                f"({recorded.better} is better, {recorded.scale}), this "
                f"version measures {metric.unit} ({metric.better}, "
                f"{metric.scale}); record the baseline again"
            )


def find_baseline_findings(
    baseline: document.Baseline,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shape: document.Shape,
    now: datetime.datetime,
) -> list[finding.Finding]:
    """Return findings on the baseline itself."""
    chosen = find_entries(baseline, assignments, shape)
    findings = [
        restrict_to_assignment(assigned, recorded_finding)
        for assigned, baseline_entry in zip(assignments, chosen, strict=True)
        for recorded_finding in baseline_entry.findings
    ]
    age = now - baseline.recording_time
    if age > OLD_AFTER:
        findings.append(
            finding.Finding(
                kind="baseline_old",
                subject="baseline",
                detail=f"baseline {baseline.name} was recorded "
                f"{age.days} days ago",
            )
        )
    return list(dict.fromkeys(findings))


def find_voiding_findings(
    baseline: document.Baseline,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shape: document.Shape,
) -> list[finding.Finding]:
    """Return the findings on the baseline alone that void comparisons.

    :raises BaselineError: If the baseline does not cover an assignment.
    """
    now = baseline.recording_time
    findings = [
        *find_baseline_findings(baseline, assignments, shape, now),
        *comparability.nested(baseline.machine.fingerprint),
    ]
    return [found for found in findings if found.severity == "void"]


def describe_voiding(
    baseline: document.Baseline,
    findings: collections.abc.Iterable[finding.Finding],
) -> str:
    """Return why a baseline voids each run, and the remedies, in one line."""
    run_findings = [finding.RunFinding(finding=found) for found in findings]
    kinds = dict.fromkeys(
        run_finding.finding.kind for run_finding in run_findings
    )
    return (
        f"baseline {baseline.name!r} voids each run: "
        f"{'; '.join(finding.sentences(run_findings))}; record it again on "
        "an empty host (rally-vmperf baseline record ... --replace), or set "
        f"tolerate: [{', '.join(kinds)}] in vmperf.yaml or in the SLA"
    )


def restrict_to_assignment(
    assigned: assignment.Assignment, found: finding.Finding
) -> finding.Finding:
    """Return a finding, limited to the metrics of an assignment.

    Additional CPUs and memory have less effect on disks and networks. A
    baseline has the background load of a part of the machine only with the
    workloads that it concerns.
    """
    is_shape = found.kind == "shape_not_enforced"
    is_load = (
        found.kind == "bare_metal_busy"
        and found.subject != background_load.WHOLE
    )
    if not is_shape and not is_load:
        return found
    if is_shape and assigned.workload.part in ("disk", "network"):
        found = dataclasses.replace(found, kind="io_shape_not_enforced")
    metrics = tuple(metric.name for metric in assigned.metrics())
    return dataclasses.replace(found, metrics=metrics)
