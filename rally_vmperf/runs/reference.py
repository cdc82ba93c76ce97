"""The bare-metal samples for the comparison with guests."""

import collections.abc
import contextlib
import dataclasses
import datetime
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec

#: Age at which a baseline should be recorded again.
OLD_AFTER = datetime.timedelta(days=90)


def find_entries(
    baseline: document.Json,
    assignments: collections.abc.Iterable[assignment.Assignment],
    shape: matching.Shape,
) -> list[document.Json]:
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
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[matching.Shape],
) -> tuple[dict[str, t.Any], dict[str, dict[str, t.Any]]]:
    """Return a record's ``reference`` as a dict, and metrics by name.

    :param shapes: The shapes, which differ in the number of copies.
    :raises BaselineError: If the baseline does not cover an assignment.
    """
    metrics: dict[str, dict[str, t.Any]] = {}
    copies = []
    for shape in shapes:
        repetitions: list[dict[str, t.Any]] = []
        commands: dict[str, list[codec.Row]] = {}
        merged: dict[str, dict[str, t.Any]] = {
            key: {} for key in ("percentiles", "distributions", "time_series")
        }
        chosen = find_entries(baseline, assignments, shape)
        for assigned, baseline_entry in zip(assignments, chosen, strict=True):
            recorded_metrics = codec.decode_metrics(baseline_entry["metrics"])
            _check_definitions(baseline["name"], assigned, recorded_metrics)
            named = [
                assigned.relabel(metric)
                for metric in recorded_metrics.values()
            ]
            metrics.update(codec.encode_metrics(named))
            commands[assigned.title] = baseline_entry.get("command_usage", [])
            for key, merged_documents in merged.items():
                for name, document_ in baseline_entry.get(key, {}).items():
                    merged_documents[assigned.rename(name)] = document_
            # Only the percentiles of all copies together are compared.
            percentile_names = {
                each.name
                for name in baseline_entry.get("percentiles", {})
                for each in sample.percentiles(recorded_metrics[name])
            }
            for index, samples in enumerate(baseline_entry["repetitions"]):
                if index == len(repetitions):
                    repetitions.append({})
                repetitions[index] |= {
                    assigned.rename(name): values
                    for name, values in samples.items()
                    if name not in percentile_names
                }
        copies.append(
            {
                "copies": shape.copies,
                "repetitions": repetitions,
                "command_usage": commands,
                **merged,
            }
        )
    machine = baseline["machine"]
    return {
        "name": baseline["name"],
        "machine": machine["name"],
        "recorded_at": baseline["recorded_at"],
        "digest": document.digest(baseline),
        "session": baseline["session"],
        "fingerprint": machine["fingerprint"],
        "tools": machine.get("tools", {}),
        "copies": copies,
    }, metrics


def find_covered_shapes(
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shapes: collections.abc.Iterable[matching.Shape],
) -> list[matching.Shape]:
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
    recorded_metrics: collections.abc.Mapping[str, sample.Metric],
) -> None:
    """Reject a baseline whose metrics have different definitions."""
    for metric in assignment.workload.metrics(assignment.arguments):
        recorded = recorded_metrics.get(metric.name, metric)
        if recorded != metric:
            raise document.BaselineError(
                f"baseline {name!r} has {metric.name} in {recorded.unit} "
                f"({recorded.better} is better, {recorded.scale}), this "
                f"version measures {metric.unit} ({metric.better}, "
                f"{metric.scale}); record the baseline again"
            )


def find_baseline_findings(
    baseline: document.Json,
    assignments: collections.abc.Sequence[assignment.Assignment],
    shape: matching.Shape,
    now: datetime.datetime,
) -> list[finding.Finding]:
    """Return findings on the baseline itself."""
    chosen = find_entries(baseline, assignments, shape)
    findings = [
        _restrict_to_assignment(assigned, finding.Finding(**document_))
        for assigned, baseline_entry in zip(assignments, chosen, strict=True)
        for document_ in baseline_entry["findings"]
    ]
    recorded = datetime.datetime.fromisoformat(baseline["recorded_at"])
    if now - recorded > OLD_AFTER:
        findings.append(
            finding.Finding(
                kind="baseline_old",
                subject="baseline",
                detail=f"baseline {baseline['name']} was recorded "
                f"{(now - recorded).days} days ago",
            )
        )
    return list(dict.fromkeys(findings))


def _restrict_to_assignment(
    assigned: assignment.Assignment, finding_: finding.Finding
) -> finding.Finding:
    """Return a finding, limited to the metrics of an assignment.

    Additional CPUs and memory have less effect on disks and networks.
    """
    if finding_.kind != "shape_not_enforced":
        return finding_
    if assigned.workload.part in ("disk", "network"):
        finding_ = dataclasses.replace(finding_, kind="io_shape_not_enforced")
    metrics = tuple(metric.name for metric in assigned.metrics())
    return dataclasses.replace(finding_, metrics=metrics)
