# SPDX-License-Identifier: Apache-2.0
"""The baseline document of a recording, and of a further session."""

import collections.abc
import dataclasses
import itertools
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.execution import assignment
from rally_vmperf.machines import background_load
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model
from rally_vmperf.runs import recording

Records = collections.abc.Sequence[model.Record]
MergedT = t.TypeVar("MergedT", merged.MergedDistribution, merged.TimeSeries)
#: A workload, its arguments and options of the protocol, and its shape.
Measurement = tuple[str, documents.Arguments, document.Shape | None]


def build_baseline(
    shape_recordings: collections.abc.Sequence[recording.ShapeRecording],
    machine_class: str = "",
) -> document.Baseline:
    """Return the baseline of a complete recording.

    :param machine_class: The class of machines that it represents, or "".
    """
    first = shape_recordings[0]
    return document.Baseline(
        name=first.plan.baseline,
        machine_class=machine_class,
        session=first.plan.session,
        recorded_at=first.records[0].started_at,
        software=model.software(),
        machine=t.cast(
            document.BaselineMachine, _describe(shape_recordings, "copy")
        ),
        peer=_describe(shape_recordings, "peer"),
        entries=tuple(
            _build_entry(shape_recording, assigned)
            for shape_recording in shape_recordings
            for assigned in shape_recording.plan.assignments
        ),
    )


def _describe(
    shape_recordings: collections.abc.Iterable[recording.ShapeRecording],
    role: t.Literal["copy", "peer"],
) -> document.BaselineMachine | None:
    """Return bare metal or the peer with all tools; None without one."""
    described: document.BaselineMachine | None = None
    tools: documents.Facts = {}
    for shape_recording in shape_recordings:
        for machine in shape_recording.records[0].machines:
            if machine.role != role:
                continue
            details = shape_recording.details[machine.name]
            tools = {**tools, **details["tools"]}
            described = described or document.BaselineMachine(
                name=machine.host or machine.name,
                fingerprint=details["fingerprint"],
            )
            break
    return described and dataclasses.replace(described, tools=tools)


def _build_entry(
    shape_recording: recording.ShapeRecording,
    assignment: assignment.Assignment,
) -> document.BaselineEntry:
    """Return the baseline entry of a workload in one shape."""
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
    flows = dict.fromkeys(
        flow
        for record in records
        for flow in record.flows
        if flow.target in ends
    )
    return document.BaselineEntry(
        workload=assignment.workload.name,
        arguments=assignment.arguments,
        cooldown=assignment.cooldown,
        drop_caches=assignment.drop_caches,
        shape=shape_recording.plan.shape,
        limited_by=details["limited_by"],
        cpus=tuple(details.get("cpus", ())),
        numa_nodes=tuple(details.get("numa_nodes", ())),
        flows=tuple(flows),
        facts=facts,
        metrics=assignment.workload.metrics(assignment.arguments),
        reference=dataclasses.replace(
            _merge_samples(records, assignment),
            boots=_list_boots(shape_recording.plan, len(records)),
        ),
        findings=tuple(
            dict.fromkeys(
                found
                for found in _merge_findings(records)
                if found.kind != "bare_metal_busy"
                or background_load.concerns(
                    found.subject, assignment.workload.part
                )
            )
        ),
    )


def _list_boots(
    plan: recording.RecordingPlan, repetitions: int
) -> tuple[str, ...]:
    """Return the boot or the session of each repetition, as a tuple."""
    if plan.reboot == "never":
        return (plan.session,) * repetitions
    return tuple(
        f"{plan.session}-{number}" for number in range(1, repetitions + 1)
    )


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
    records: Records, assigned: assignment.Assignment
) -> repetition.Reference:
    """Return the samples of all copies, without the label of the workload."""
    metrics = assigned.workload.metrics(assigned.arguments)
    names = [metric.name for metric in metrics]
    names += sample.distribution_names(names)
    labelled = {assigned.rename(name): name for name in names}
    by_name = {metric.name: metric for metric in metrics}
    conditions = [record.repetition.conditions[0] for record in records]
    distributions = [
        _rename_metrics(condition.distributions, labelled)
        for condition in conditions
    ]
    return repetition.Reference(
        repetitions=tuple(
            tuple(
                sample.Observation(
                    observation.source,
                    sample.Sample(
                        by_name[labelled[observation.sample.metric.name]],
                        observation.sample.value,
                    ),
                )
                for observation in condition.observations
                if labelled.get(observation.sample.metric.name) in by_name
            )
            for condition in conditions
        ),
        command_usage=cpu_seconds.total(_find_usages(records, assigned)),
        percentiles=tuple(
            {
                metric: value
                for distribution in repetition_distributions
                for metric, value in distribution.values().items()
            }
            for repetition_distributions in distributions
        ),
        distributions=merged.merge_distributions(distributions),
        time_series=merged.merge_time_series(
            _rename_metrics(condition.time_series, labelled)
            for condition in conditions
        ),
    )


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
    records: Records, assigned: assignment.Assignment
) -> collections.abc.Iterable[cpu_seconds.Usage]:
    """Return the CPU usage of a workload's commands, without its label."""
    return (
        dataclasses.replace(usage, workload=assigned.workload.name)
        for record in records
        for usage in record.repetition.conditions[0].command_usage
        if usage.workload == assigned.title
    )


def append_session(
    baseline: document.Baseline, session: document.Baseline
) -> document.Baseline:
    """Return a baseline with the repetitions of a further session.

    The machine and the time are those of the further session.

    :param session: A recording of the same workloads, arguments and shapes.
    :raises BaselineError: If the machines differ, or the workloads.
    """
    _check_same_machine(baseline.machine, session.machine)
    if baseline.peer and session.peer:
        _check_same_machine(baseline.peer, session.peer)
    entries = find_entries(
        baseline,
        [
            (added.workload, added.conditions, added.shape)
            for added in session.entries
        ],
    )
    return dataclasses.replace(
        session,
        name=baseline.name,
        machine_class=session.machine_class or baseline.machine_class,
        entries=tuple(
            _merge_entries(entry, added, baseline.session)
            for entry, added in zip(entries, session.entries, strict=True)
        ),
    )


def find_entries(
    baseline: document.Baseline,
    measurements: collections.abc.Iterable[Measurement],
) -> list[document.BaselineEntry]:
    """Return the entry of each measurement of a further session.

    :raises BaselineError: If a session has other measurements.
    """
    entries = [
        matching.find(baseline, workload, conditions, shape)
        for workload, conditions, shape in measurements
    ]
    others = [
        entry
        for entry in baseline.entries
        if entry.imported or entry not in entries
    ]
    if others:
        names = dict.fromkeys(
            f"{entry.workload} for {entry.describe_shape()}"
            for entry in others
        )
        raise document.BaselineError(
            f"--append: the session would have no {', '.join(names)} of "
            f"baseline {baseline.name!r}; use the task and the options of the "
            "first session"
        )
    return entries


def _check_same_machine(
    recorded: document.BaselineMachine, machine: document.BaselineMachine
) -> None:
    """Reject another machine, or one that has changed.

    :raises BaselineError: If a property or a tool differs.
    """
    findings = (
        comparability.same_peer(recorded.fingerprint, machine.fingerprint)
        + comparability.compare_machines(
            recorded.fingerprint, machine.fingerprint, "now"
        )
        + tool_comparison.compare_tools(recorded.tools, machine.tools, "now")
    )
    if findings:
        raise document.BaselineError(
            f"--append: {machine.name} is not the machine of the earlier "
            f"sessions, or has changed ({findings[0].kind}): "
            f"{findings[0].detail}; record another baseline"
        )


def _merge_entries(
    entry: document.BaselineEntry, added: document.BaselineEntry, session: str
) -> document.BaselineEntry:
    """Return an entry with the samples of both sessions.

    :param session: The identifier of the first session, for repetitions
        without a boot.
    """
    first, second = entry.reference, added.reference
    distributions = (first.distributions, second.distributions)
    time_series = (first.time_series, second.time_series)
    number = len(first.repetitions)
    percentiles = tuple(
        itertools.islice(
            itertools.chain(first.percentiles, itertools.repeat({})), number
        )
    )
    return dataclasses.replace(
        added,
        flows=tuple(dict.fromkeys((*entry.flows, *added.flows))),
        facts={**entry.facts, **added.facts},
        findings=tuple(dict.fromkeys((*entry.findings, *added.findings))),
        reference=repetition.Reference(
            repetitions=(*first.repetitions, *second.repetitions),
            boots=(*(first.boots or (session,) * number), *second.boots),
            percentiles=(*percentiles, *second.percentiles),
            command_usage=cpu_seconds.total(
                (*first.command_usage, *second.command_usage)
            ),
            distributions=merged.merge_distributions(distributions),
            time_series=merged.merge_time_series(time_series),
        ),
    )
