"""The baseline document of a recording of bare metal."""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import assignment
from rally_vmperf.machines import background_load
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import merged as merged_
from rally_vmperf.records import model
from rally_vmperf.records import parts
from rally_vmperf.runs import recording

Records = collections.abc.Sequence[model.Record]
MergedT = t.TypeVar("MergedT", merged.Distribution, merged.TimeSeries)


def build_baseline(
    shape_recordings: collections.abc.Sequence[recording.ShapeRecording],
) -> dict[str, t.Any]:
    """Return the baseline document (a dict) of a complete recording."""
    first = shape_recordings[0]
    peer = _describe(shape_recordings, "peer")
    return {
        "version": 3,
        "name": first.plan.baseline,
        "session": first.plan.session,
        "recorded_at": first.records[0].started_at,
        "software": parts.software(),
        "machine": _describe(shape_recordings, "copy"),
        **({"peer": peer} if peer else {}),
        "entries": [
            _build_entry(shape_recording, assigned)
            for shape_recording in shape_recordings
            for assigned in shape_recording.plan.assignments
        ],
    }


def _describe(
    shape_recordings: collections.abc.Iterable[recording.ShapeRecording],
    role: t.Literal["copy", "peer"],
) -> documents.Facts:
    """Return bare metal's or the peer's name, fingerprint and all tools.

    :returns: The description; empty without a machine of this role.
    """
    description: documents.Facts = {}
    tools: documents.Facts = {}
    for shape_recording in shape_recordings:
        for machine in shape_recording.records[0].machines:
            if machine.role != role:
                continue
            details = shape_recording.details[machine.name]
            tools = {**tools, **details["tools"]}
            description = description or {
                "name": machine.host or machine.name,
                "fingerprint": details["fingerprint"],
            }
            break
    return {**description, "tools": tools} if description else {}


#: The limits of the machine that a baseline contains, if journals have them.
_LIMIT_KEYS = ("limited_by", "cpus", "numa_nodes")


def _build_entry(
    shape_recording: recording.ShapeRecording,
    assignment: assignment.Assignment,
) -> dict[str, t.Any]:
    """Return the baseline entry of a workload in one shape as a dict."""
    records = shape_recording.find_complete(assignment)
    copies = [
        machine.name
        for machine in records[0].machines
        if machine.role == "copy"
    ]
    details = shape_recording.details[copies[0]]
    facts: dict[str, str] = {}
    for name in copies:
        facts.update(
            shape_recording.details[name]["facts"].get(assignment.title, {})
        )
    ends = assignment.workload.needs(assignment.arguments)
    kinds = dict.fromkeys(
        flow
        for record in records
        for flow in record.flows
        if flow.target in ends
    )
    return {
        "workload": assignment.workload.name,
        "arguments": assignment.arguments,
        **assignment.protocol(),
        "shape": dataclasses.asdict(shape_recording.plan.shape),
        **{
            key: setting
            for key, setting in details.items()
            if key in _LIMIT_KEYS
        },
        "facts": facts,
        "repetitions": [
            _find_samples(record.repetition.conditions[0], assignment)
            for record in records
        ],
        "command_usage": parts.encode_commands(
            _find_usages(records, assignment)
        ).get(assignment.workload.name, []),
        **_merge_samples(records, assignment),
        "findings": parts.encode_findings(
            finding_
            for finding_ in _merge_findings(records)
            if finding_.kind != "bare_metal_busy"
            or background_load.concerns(
                finding_.subject, assignment.workload.part
            )
        ),
        **parts.encode_any("flows", tuple(kinds)),
    }


#: The share of processors that other processes used.
_SHARE = re.compile(r"used (\d{1,9}(?:\.\d{1,9})?)%")


def _merge_findings(
    records: Records,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield the findings of all repetitions, grouped by kind.

    A finding that not all repetitions have in the same words is reported once,
    with the number of repetitions and the text of the one with the highest
    background load.
    """
    alike: dict[finding.Finding, dict[str, set[int]]] = {}
    for number, record in enumerate(records):
        measured = record.repetition
        of_conditions = [each.findings for each in measured.conditions]
        for findings in (measured.findings, *of_conditions):
            for recorded in findings:
                kind = dataclasses.replace(recorded, detail="")
                numbers_by_detail = alike.setdefault(kind, {})
                numbers_by_detail.setdefault(recorded.detail, set()).add(
                    number
                )
    for kind, where in alike.items():
        partial = [
            detail
            for detail, numbers in where.items()
            if len(numbers) < len(records)
        ]
        for detail in [detail for detail in where if detail not in partial]:
            yield dataclasses.replace(kind, detail=detail)
        if partial:
            shown = len(set().union(*(where[detail] for detail in partial)))
            most = max(partial, key=_parse_percent)
            summary = f"in {shown} of {len(records)} repetitions"
            if len(partial) > 1:
                summary += (
                    ", at worst" if _parse_percent(most) else ", such as"
                )
            yield dataclasses.replace(kind, detail=f"{summary}: {most}")


def _parse_percent(text: str) -> float:
    """Return the percentage in a text; 0 without one."""
    match = _SHARE.search(text)
    return float(match[1]) if match else 0.0


def _merge_samples(
    records: Records, assignment: assignment.Assignment
) -> dict[str, t.Any]:
    """Return a dict of the values and percentiles of all copies.

    :returns: The metrics, the percentiles of each repetition, and the
        distributions and time series of all repetitions.
    """
    names = [
        metric.name
        for metric in assignment.workload.metrics(assignment.arguments)
    ]
    names += sample.distribution_names(names)
    labelled = {assignment.rename(name): name for name in names}
    conditions = [record.repetition.conditions[0] for record in records]
    distributions = [
        _rename_metrics(condition.distributions, labelled)
        for condition in conditions
    ]
    whole = merged.merge_distributions(distributions)
    over_time = merged.merge_time_series(
        _rename_metrics(condition.time_series, labelled)
        for condition in conditions
    )
    percentiles = [
        {
            distribution.metric: list(distribution.percentiles)
            for distribution in repetition_distributions
        }
        for repetition_distributions in distributions
    ]
    return {
        "metrics": parts.encode_metrics(
            [
                *assignment.workload.metrics(assignment.arguments),
                *(merged_result.metric for merged_result in whole),
                *(merged_result.metric for merged_result in over_time),
            ]
        ),
        "percentiles": {
            distribution.metric.name: [
                rows.get(distribution.metric, []) for rows in percentiles
            ]
            for distribution in whole
        },
        "distributions": merged_.encode_distributions(whole),
        "time_series": merged_.encode_time_series(over_time),
    }


def _rename_metrics(
    results: collections.abc.Iterable[MergedT],
    names: collections.abc.Mapping[str, str],
) -> list[MergedT]:
    """Return the results of these metrics, under other names."""
    return [
        dataclasses.replace(
            result,
            metric=dataclasses.replace(
                result.metric, name=names[result.metric.name]
            ),
        )
        for result in results
        if result.metric.name in names
    ]


def _find_usages(
    records: Records, assignment: assignment.Assignment
) -> collections.abc.Iterable[cpu_seconds.Usage]:
    """Return the CPU usage of a workload's commands, without its label."""
    return (
        dataclasses.replace(usage, workload=assignment.workload.name)
        for record in records
        for usage in record.repetition.conditions[0].command_usage
        if usage.workload == assignment.title
    )


def _find_samples(
    condition: repetition.Condition, assignment: assignment.Assignment
) -> parts.Samples:
    """Return a workload's samples by metric, without its label."""
    samples = parts.encode_samples(condition.observations, condition.machines)
    return {
        metric.name: samples[name]
        for metric in assignment.workload.metrics(assignment.arguments)
        if (name := assignment.rename(metric.name)) in samples
    }
