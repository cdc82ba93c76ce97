"""The baseline document of a recording of bare metal."""

import collections
import collections.abc
import dataclasses
import json
import re
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import flows
from rally_vmperf.records import merged as merged_
from rally_vmperf.runs import recording

Json = collections.abc.Mapping[str, t.Any]
MergedT = t.TypeVar("MergedT", merged.Distribution, merged.TimeSeries)


def build_baseline(
    parts: collections.abc.Sequence[recording.ShapeRecording],
) -> dict[str, t.Any]:
    """Return the baseline document (a dict) of a complete recording."""
    first = parts[0]
    peers = [peer for assigned in parts if (peer := _describe_peer(assigned))]
    return {
        "version": 3,
        "name": first.plan.baseline,
        "session": first.plan.session,
        "recorded_at": first.records[0]["started_at"],
        "software": build.software(),
        "machine": _merge_descriptions(
            [_describe_bare_metal(assigned) for assigned in parts]
        ),
        **({"peer": _merge_descriptions(peers)} if peers else {}),
        "entries": [
            _build_entry(shape_recording, assigned)
            for shape_recording in parts
            for assigned in shape_recording.plan.assignments
        ],
    }


def _describe_bare_metal(
    shape_recording: recording.ShapeRecording,
) -> dict[str, t.Any]:
    """Return a dict with name, fingerprint and tools of bare metal."""
    first = shape_recording.records[0]["machines"][0]
    return _describe(shape_recording, first["host"], first["name"])


def _describe_peer(
    shape_recording: recording.ShapeRecording,
) -> dict[str, t.Any] | None:
    """Return a dict with name, fingerprint and tools of the peer, or None."""
    for machine_document in shape_recording.records[0]["machines"]:
        if machine_document["role"] == "peer":
            return _describe(
                shape_recording,
                machine_document["name"],
                machine_document["name"],
            )
    return None


def _describe(
    shape_recording: recording.ShapeRecording, name: str, machine: str
) -> dict[str, t.Any]:
    """Return name, fingerprint and tools of a machine as a dict."""
    details = shape_recording.details[machine]
    return {
        "name": name,
        **{key: details[key] for key in ("fingerprint", "tools")},
    }


#: The limits of the machine that a baseline contains, if journals have them.
_LIMIT_KEYS = ("limited_by", "cpus", "numa_nodes")


def _build_entry(
    shape_recording: recording.ShapeRecording,
    assignment: assignment.Assignment,
) -> dict[str, t.Any]:
    """Return the baseline entry of a workload in one shape as a dict."""
    records = shape_recording.find_complete(assignment)
    copies = [
        machine["name"]
        for machine in records[0]["machines"]
        if machine["role"] == "copy"
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
        for condition in record["conditions"]
        for flow in flows.decode(condition, ends)
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
            _find_samples(record, assignment) for record in records
        ],
        "command_usage": codec.encode_commands(
            _find_usages(records, assignment)
        ).get(assignment.workload.name, []),
        **_merge_samples(records, assignment),
        "findings": list(_merge_findings(records)),
        **({"flows": [*map(dataclasses.asdict, kinds)]} if kinds else {}),
    }


#: The share of processors that other processes used.
_SHARE = re.compile(r"used (\d{1,9}(?:\.\d{1,9})?)%")


def _merge_findings(
    records: collections.abc.Sequence[Json],
) -> collections.abc.Iterator[Json]:
    """Yield the findings of all repetitions, grouped by kind.

    A finding that not all repetitions have in the same words is reported once,
    with the number of repetitions and the text of the one with the highest
    background load.
    """
    alike: dict[str, list[tuple[int, Json]]] = collections.defaultdict(list)
    for number, record in enumerate(records):
        for place in (record, *record["conditions"]):
            for finding_document in place["findings"]:
                key = json.dumps({**finding_document, "detail": ""})
                alike[key].append((number, finding_document))
    for several in alike.values():
        where: dict[str, set[int]] = collections.defaultdict(set)
        for number, finding_document in several:
            where[finding_document["detail"]].add(number)
        partial = [
            detail
            for detail, numbers in where.items()
            if len(numbers) < len(records)
        ]
        for detail in [detail for detail in where if detail not in partial]:
            yield {**several[0][1], "detail": detail}
        if partial:
            shown = len(set().union(*(where[detail] for detail in partial)))
            most = max(partial, key=_parse_percent)
            summary = f"in {shown} of {len(records)} repetitions"
            if len(partial) > 1:
                summary += (
                    ", at worst" if _parse_percent(most) else ", such as"
                )
            yield {**several[0][1], "detail": f"{summary}: {most}"}


def _parse_percent(text: str) -> float:
    """Return the percentage in a text; 0 without one."""
    match = _SHARE.search(text)
    return float(match[1]) if match else 0.0


def _merge_samples(
    records: collections.abc.Sequence[Json], assignment: assignment.Assignment
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
    parts = [
        (
            assignment["conditions"][0],
            codec.decode_metrics(assignment["metrics"]),
        )
        for assignment in records
    ]
    distributions = [
        _rename_metrics(
            merged_.decode_distributions(*shape_recording), labelled
        )
        for shape_recording in parts
    ]
    whole = merged.merge_distributions(distributions)
    over_time = merged.merge_time_series(
        _rename_metrics(merged_.decode_time_series(*shape_recording), labelled)
        for shape_recording in parts
    )
    percentiles = [
        {
            metric.metric: list(metric.percentiles)
            for metric in repetition_distributions
        }
        for repetition_distributions in distributions
    ]
    return {
        "metrics": codec.encode_metrics(
            [
                *assignment.workload.metrics(assignment.arguments),
                *(metric.metric for metric in whole),
                *(metric.metric for metric in over_time),
            ]
        ),
        "percentiles": {
            metric.metric.name: [
                rows.get(metric.metric, []) for rows in percentiles
            ]
            for metric in whole
        },
        "distributions": merged_.encode_distributions(whole),
        "time_series": merged_.encode_time_series(over_time),
    }


def _rename_metrics(
    parts: collections.abc.Iterable[MergedT],
    names: collections.abc.Mapping[str, str],
) -> list[MergedT]:
    """Return the samples of these metrics, under other names."""
    return [
        dataclasses.replace(
            shape_recording,
            metric=dataclasses.replace(
                shape_recording.metric, name=names[shape_recording.metric.name]
            ),
        )
        for shape_recording in parts
        if shape_recording.metric.name in names
    ]


def _find_usages(
    records: collections.abc.Iterable[Json], assignment: assignment.Assignment
) -> collections.abc.Iterable[cpu_seconds.Usage]:
    """Return the CPU usage of a workload's commands, without its label."""
    return (
        dataclasses.replace(usage, workload=assignment.workload.name)
        for record in records
        for usage in codec.decode_commands(
            record["conditions"][0].get("command_usage", {})
        )
        if usage.workload == assignment.title
    )


def _find_samples(
    record: Json, assignment: assignment.Assignment
) -> dict[str, t.Any]:
    """Return a workload's samples by metric, without its label."""
    samples = record["conditions"][0]["samples"]
    return {
        metric.name: [
            codec.encode_values(
                codec.decode_values(machine_values, record["metrics"][name])
            )
            for machine_values in samples[name]
        ]
        for metric in assignment.workload.metrics(assignment.arguments)
        if (name := assignment.rename(metric.name)) in samples
    }


def _merge_descriptions(machines: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return one description of a machine, with the tools of all parts."""
    tools: dict[str, t.Any] = {}
    for machine in machines:
        tools.update(machine["tools"])
    return {**machines[0], "tools": tools}
